package plan

// This file computes how long a run can take, which outages it survives, and what it needs
// to survive one.

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/backoff"
	"github.com/retrysh/retry/engine/text"
)

// Unlimited stands for a duration without limit.
const Unlimited = math.MaxInt64

// Limit is a duration, in JSON in milliseconds, or null if it is Unlimited.
type Limit time.Duration

// MarshalJSON writes l.
func (l Limit) MarshalJSON() ([]byte, error) {
	if l == Unlimited {
		return []byte("null"), nil
	}
	return text.MS(l).MarshalJSON()
}

// Promise is what a policy guarantees for any command, with the names of --plan in JSON. A
// run survives an outage of D if, with attempts that fail at once, it begins an attempt D or
// more after attempt 1.
type Promise struct {
	// Longest is the longest possible run: every attempt takes Policy.Timeout, all waits
	// are at their greatest; or Policy.Deadline if that is less.
	Longest Limit `json:"longest_ms"`
	// OutlivesHalf and OutlivesMost are the outages that half and 99 of 100 runs
	// survive: the median and the first percentile of the sum of the waits.
	OutlivesHalf Limit `json:"outlives_half_ms"`
	OutlivesMost Limit `json:"outlives_99_of_100_ms"`
}

// most is the share of runs that do not survive Promise.OutlivesMost.
const most = 0.01

// Promises computes the promise of p. The outages are those of simulated runs; draw
// returns their random numbers, uniform in [0, 1).
func Promises(p engine.Policy, draw func() float64) Promise {
	untilFailure := p.UntilFailure
	p = waitsOf(p)
	promise := Promise{Longest: Limit(longest(&p))}
	switch {
	case untilFailure: // its first failure is the end
	case p.Attempts == 0 && p.Deadline == 0:
		promise.OutlivesHalf, promise.OutlivesMost = Unlimited, Unlimited
	default:
		all := outlived(&p, draw)
		low, high := all[(len(all)-1)/2], all[len(all)/2]
		promise.OutlivesHalf = Limit(low + (high-low)/2)
		promise.OutlivesMost = Limit(all[int(most*float64(len(all)))])
	}
	return promise
}

// longest is the sum of everything that is limited.
func longest(p *engine.Policy) time.Duration {
	limit := cmp.Or(p.Deadline, Unlimited)
	if p.Attempts == 0 || p.Timeout == 0 {
		return limit
	}
	all := backoff.Add(backoff.Add(p.InitialDelay, p.Splay), p.Timeout)
	wait := p.Schedule.Base
	for n := 1; n < p.Attempts; n++ {
		wait = p.Schedule.Wait(n, wait, 1)
		all = backoff.Add(backoff.Add(all, wait), p.Timeout)
	}
	return min(all, limit)
}

// Runs are simulated until they have taken mostDecisions together, but at least
// fewestRuns and at most mostRuns: the first percentile of mostRuns is within 0.0007 of
// probability (two standard errors of a binomial share). A run under a deadline that is
// not over after MostAttempts counts as one that reaches it.
const (
	mostDecisions = 500_000
	mostRuns      = 100_000
	fewestRuns    = 100
)

// MostAttempts is the greatest number of attempts that a plan is made for.
const MostAttempts = 10_000

// deterministic reports whether all runs are alike.
func deterministic(p *engine.Policy) bool {
	return p.Schedule.Jitter.Kind == backoff.None && p.Splay == 0
}

// outlived is what many runs survive, in order. Runs come in pairs, of which the second
// draws 1-u where the first drew u: the median of waits that are spread evenly around
// their mean is exact then.
func outlived(p *engine.Policy, draw func() float64) (all []time.Duration) {
	if deterministic(p) {
		return []time.Duration{follow(p, Unlimited, draw).waited}
	}
	var drawn []float64
	for decisions := 0; len(all) < fewestRuns || len(all) < mostRuns && decisions < mostDecisions; {
		drawn = drawn[:0]
		first := follow(p, Unlimited, func() float64 {
			u := draw()
			drawn = append(drawn, u)
			return u
		})
		second := follow(p, Unlimited, func() float64 {
			if len(drawn) == 0 {
				return draw()
			}
			u := 1 - drawn[0]
			drawn = drawn[1:]
			return u
		})
		all = append(all, first.waited, second.waited)
		decisions += first.attempts + second.attempts
	}
	slices.Sort(all)
	return all
}

// run is a run whose attempts fail at once: what it has waited between them, how many it
// has begun, and what it waits before the first under a deadline.
type run struct {
	waited   time.Duration
	attempts int
	before   time.Duration
}

// follow follows a run until it ends or has waited as long as the outage, or for more than
// MostAttempts.
func follow(p *engine.Policy, outage time.Duration, draw func() float64) (r run) {
	start := time.Unix(0, 0)
	left := time.Duration(Unlimited) // of the deadline after attempt 1
	s := p.First()
	if p.Deadline > 0 {
		r.before = backoff.Add(p.InitialDelay, backoff.FromFloat(float64(p.Splay)*draw()))
		if r.before > p.Deadline {
			return run{attempts: 1} // it begins no attempt at all
		}
		left = p.Deadline - r.before
		if p.Deadline < Unlimited {
			s.Deadline = start.Add(left)
		}
	}
	for r.attempts = 1; r.waited < outage; r.attempts++ {
		if r.attempts > MostAttempts {
			r.waited = left
			break
		}
		d := engine.DecideRetry(p, s, start.Add(r.waited), draw())
		if !d.Retry {
			break
		}
		s = d.Next
		r.waited = backoff.Add(r.waited, d.Jittered)
	}
	return r
}

// Need is the least that lets 99 of 100 runs survive an outage, with the names of --plan in
// JSON.
type Need struct {
	// Attempts is the least number with the rest of the policy as it is, nil if no
	// number is enough.
	Attempts *int `json:"needed_attempts"`
	// Deadline is the least one with unlimited attempts, Unlimited if none is enough.
	Deadline Limit `json:"needed_deadline_ms"`
}

// Needs computes what p needs to survive an outage. Each call of draw begins the same
// random numbers again.
func Needs(p engine.Policy, outage time.Duration, draw func() func() float64) *Need {
	need := &Need{Deadline: Unlimited}
	if p.UntilFailure { // its first failure is the end
		return need
	}
	p = waitsOf(p)
	enough := func(n int) bool {
		limited := p
		limited.Attempts = n
		return time.Duration(Promises(limited, draw()).OutlivesMost) >= outage
	}
	free := p
	free.Attempts = 0
	free.Deadline = Unlimited
	random := draw()
	var attempts []int
	var ends []time.Duration
	for total := 0; len(ends) < fewestRuns || len(ends) < mostRuns && total < mostDecisions; {
		r := follow(&free, outage, random)
		if r.attempts > MostAttempts || r.waited < outage {
			return need
		}
		attempts = append(attempts, r.attempts)
		ends = append(ends, backoff.Add(r.before, r.waited))
		total += r.attempts
		if deterministic(&p) {
			break
		}
	}
	if end := percentile(ends, 1-most); end < Unlimited-time.Second { // it can be rounded up
		need.Deadline = Limit((end + time.Millisecond - 1).Truncate(time.Millisecond))
	}
	const unlimited = 0
	if enough(unlimited) {
		if n := least(percentile(attempts, 1-most), enough); n > 0 {
			need.Attempts = &n
		}
	}
	return need
}

// percentile is the value that the share of all does not exceed.
func percentile[T int | time.Duration](all []T, share float64) T {
	slices.Sort(all)
	return all[min(int(math.Ceil(share*float64(len(all))))-1, len(all)-1)]
}

// least is the least number of attempts that is enough, searched from a guess; 0 if
// none is. More attempts are never worse.
func least(guess int, enough func(n int) bool) int {
	if enough(guess) {
		for guess > 1 && enough(guess-1) {
			guess--
		}
		return guess
	}
	for low, step := guess, 1; low < MostAttempts; low, step = low+step, 2*step {
		if high := min(low+step, MostAttempts); enough(high) {
			return low + 1 + sort.Search(high-low-1, func(i int) bool { return enough(low + 1 + i) })
		}
	}
	return 0
}
