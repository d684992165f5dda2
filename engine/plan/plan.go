// Package plan works out the waits of a policy, and what it promises, without
// running anything.
//
// It decides as the engine does (engine.DecideRetry), over arithmetic time, so that
// the plan cannot differ from what a run would do. It knows nothing of how long the
// attempts themselves take: they count as instantaneous. It will never format
// or print.
package plan

import (
	"math"
	"slices"
	"time"

	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/backoff"
)

// Row is one wait of the schedule.
type Row struct {
	// Number counts waits from 1; wait n follows attempt n.
	Number int
	// Plain is the delay before jitter; Least, Mean and Greatest are what
	// jitter can make of it.
	Plain, Least, Mean, Greatest time.Duration
	// WorstCase is the sum of the greatest waits up to here.
	WorstCase time.Duration
	// PastDeadline says that the worst case would pass the deadline, so that
	// the run may give up before this wait.
	PastDeadline bool
}

// UnlimitedRows is how many waits are shown where attempts are unlimited.
const UnlimitedRows = 10

// draws is how finely a mean is taken over the random number, and over the
// wait before where jitter depends on it: by the midpoint rule, which is exact
// for all that is linear in the random number.
const draws = 64

// Rows calls yield for each wait of the schedule, until yield returns false or
// the run would end even with the least waits.
func Rows(p engine.Policy, yield func(Row) bool) {
	p = waitsOf(p)
	start := time.Unix(0, 0)
	first := engine.State{Attempt: 1, Step: 1, Previous: p.Schedule.First()}
	deadline := time.Time{}
	if p.Deadline > 0 {
		deadline = start.Add(p.Deadline)
	}
	least, greatest := walker{first, 0}, walker{first, backoff.Add(p.InitialDelay, p.Splay)}
	least.elapsed = p.InitialDelay
	before := []time.Duration{first.Previous}
	for n := 1; p.Attempts > 0 || n <= UnlimitedRows; n++ {
		row := Row{Number: n}
		low := decide(&p, least.state, start.Add(least.elapsed), deadline, 0)
		if !low.Retry {
			return
		}
		high := decide(&p, greatest.state, start.Add(greatest.elapsed), time.Time{}, 1)
		row.Plain, row.Least, row.Greatest = high.Delay, low.Wait, high.Wait
		row.Mean, before = mean(&p, least.state, before)
		least.step(low)
		greatest.step(high)
		row.WorstCase = greatest.elapsed
		row.PastDeadline = p.Deadline > 0 && greatest.elapsed > p.Deadline
		if !yield(row) {
			return
		}
	}
}

// waitsOf is the policy with what matters to its waits alone, if every attempt
// fails at once. A run that hunts a failure waits for exactly base after each
// success.
func waitsOf(p engine.Policy) engine.Policy {
	p.Rules, p.ResetAfter = engine.Rules{}, 0
	if p.UntilFailure {
		base := p.Schedule.Base
		p.UntilFailure = false
		p.Schedule = backoff.Schedule{Curve: backoff.Constant{Base: base}, Base: base, Cap: base, Jitter: backoff.Jitter{Kind: backoff.None}}
	}
	return p
}

// walker follows one path through the schedule.
type walker struct {
	state   engine.State
	elapsed time.Duration
}

func (w *walker) step(d engine.Decision) {
	w.state, w.elapsed = d.Next, backoff.Add(w.elapsed, d.Wait)
}

// decide asks the engine about a failure that every policy retries.
func decide(p *engine.Policy, s engine.State, now, deadline time.Time, u float64) engine.Decision {
	s.Deadline = deadline
	return engine.DecideRetry(p, s, now, u)
}

// mean returns the mean wait and the distribution of this wait, given that of
// the wait before as equally likely values.
func mean(p *engine.Policy, s engine.State, before []time.Duration) (time.Duration, []time.Duration) {
	var waits []time.Duration
	total := 0.0
	for _, previous := range before {
		s.Previous = previous
		for i := range draws {
			d := decide(p, s, time.Unix(0, 0), time.Time{}, (float64(i)+0.5)/draws)
			waits = append(waits, d.Next.Previous)
			total += float64(d.Wait)
		}
	}
	average := backoff.FromFloat(math.Round(total / float64(len(waits))))
	if p.Schedule.Jitter.Kind != backoff.Decorrelated {
		return average, before
	}
	slices.Sort(waits)
	var after []time.Duration
	for cell := range slices.Chunk(waits, (len(waits)+draws-1)/draws) {
		sum := 0.0
		for _, w := range cell {
			sum += float64(w)
		}
		after = append(after, backoff.FromFloat(sum/float64(len(cell))))
	}
	return average, after
}
