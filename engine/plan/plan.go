// Package plan computes the waits of a policy, and the outages that they cover, without
// running anything.
//
// It decides by engine.DecideRetry over arithmetic time, so that the plan cannot differ
// from a run. Attempts count as instantaneous. The package does not format or print.
package plan

import (
	"math"
	"slices"
	"time"

	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/backoff"
	"github.com/retrysh/retry/engine/text"
)

// Row is one wait of the schedule, with the names of --plan in JSON.
type Row struct {
	// Number counts waits from 1; wait n follows attempt n.
	Number int `json:"wait"`
	// Plain is the delay before jitter; Least, Mean and Greatest are after jitter.
	Plain    text.MS `json:"delay_ms"`
	Least    text.MS `json:"least_ms"`
	Mean     text.MS `json:"mean_ms"`
	Greatest text.MS `json:"greatest_ms"`
	// WorstCase is the sum of the greatest waits so far.
	WorstCase text.MS `json:"worst_so_far_ms"`
	// PastDeadline says that WorstCase passes the deadline, so that the run may give up
	// before this wait.
	PastDeadline bool `json:"-"`
}

// UnlimitedRows is how many waits are shown if attempts are unlimited.
const UnlimitedRows = 10

// Rows are the waits of the schedule, until the run would end even with the least ones.
func Rows(p engine.Policy) []Row {
	rows := []Row{}
	p = waitsOf(p)
	start := time.Unix(0, 0)
	mean := means(&p.Schedule)
	least := p.First()
	greatest := least
	if p.Deadline > 0 {
		least.Deadline = start.Add(p.Deadline)
	}
	shortest, longest := p.InitialDelay, backoff.Add(p.InitialDelay, p.Splay)
	for n := 1; p.Attempts > 0 || n <= UnlimitedRows; n++ {
		low := engine.DecideRetry(&p, least, start.Add(shortest), 0)
		if !low.Retry {
			break
		}
		high := engine.DecideRetry(&p, greatest, start.Add(longest), 1)
		least, greatest = low.Next, high.Next
		shortest, longest = backoff.Add(shortest, low.Jittered), backoff.Add(longest, high.Jittered)
		rows = append(rows, Row{n, text.MS(high.Delay), text.MS(low.Jittered), text.MS(mean(n)), text.MS(high.Jittered),
			text.MS(longest), p.Deadline > 0 && longest > p.Deadline})
	}
	return rows
}

// waitsOf is the part of a policy that determines its waits if every attempt fails at
// once. A run that hunts a failure waits for exactly base after each success.
func waitsOf(p engine.Policy) engine.Policy {
	p.Rules = engine.Rules{}
	p.ResetAfter = 0
	if p.UntilFailure {
		base := p.Schedule.Base
		p.UntilFailure = false
		p.Schedule = backoff.Schedule{
			Curve: backoff.Constant, Base: base, Cap: base, Jitter: backoff.Jitter{Kind: backoff.None},
		}
	}
	return p
}

// draws is the number of random numbers that a mean is taken over, and of waits before
// if the jitter depends on those: by the midpoint rule, which is exact for all that is
// linear in the random number.
const draws = 64

// means returns a function for the mean of wait n. It is called for 1, 2, ... in order,
// since the distribution of a decorrelated wait depends on that of the wait before. That
// distribution converges; from then on the mean stays.
func means(s *backoff.Schedule) func(n int) time.Duration {
	var mean time.Duration
	before := []time.Duration{s.Base} // waits, equally likely
	converged := false
	return func(n int) time.Duration {
		if converged {
			return mean
		}
		var waits []time.Duration
		for _, previous := range before {
			for i := range draws {
				waits = append(waits, s.Wait(n, previous, (float64(i)+0.5)/draws))
			}
		}
		mean = backoff.FromFloat(math.Round(average(waits)))
		if s.Jitter.Kind != backoff.Decorrelated {
			return mean
		}
		slices.Sort(waits)
		var after []time.Duration // draws equally likely values
		for cell := range slices.Chunk(waits, len(before)) {
			after = append(after, backoff.FromFloat(average(cell)))
		}
		converged = slices.Equal(before, after)
		before = after
		return mean
	}
}

func average(all []time.Duration) float64 {
	sum := 0.0
	for _, d := range all {
		sum += float64(d)
	}
	return sum / float64(len(all))
}
