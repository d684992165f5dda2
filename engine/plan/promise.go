package plan

// This file says what a policy promises before anything is run: how long a run
// can take, and which outage it outlives.

import (
	"slices"
	"time"

	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/backoff"
)

// Unlimited stands for a duration that has no limit.
const Unlimited = backoff.Longest

// Promise is what a policy promises, whatever the command does. A run outlives
// an outage of D when it still begins an attempt D or more after attempt 1, if
// every attempt fails at once.
type Promise struct {
	// Longest is how long all can take: every attempt up to Policy.Timeout, the
	// waits before and between them at their greatest, or Policy.Deadline where
	// that is less. Unlimited where nothing limits it.
	Longest time.Duration
	// OutlivesHalf and OutlivesMost are the outages that half and 99 of 100
	// runs outlive: the median and the first percentile of the sum of the
	// waits. Unlimited where a run goes on for ever.
	OutlivesHalf, OutlivesMost time.Duration
}

// most is the share of runs that do not outlive Promise.OutlivesMost.
const most = 0.01

// Promises works out what p promises. The outages are those of simulated runs;
// draw returns their random numbers, uniform in [0, 1).
func Promises(p engine.Policy, draw func() float64) Promise {
	untilFailure := p.UntilFailure
	p = waitsOf(p)
	promise := Promise{Longest: longest(&p)}
	switch {
	case untilFailure: // its first failure is the end
	case p.Attempts == 0 && p.Deadline == 0:
		promise.OutlivesHalf, promise.OutlivesMost = Unlimited, Unlimited
	default:
		all := outlived(&p, draw)
		low, high := all[(len(all)-1)/2], all[len(all)/2]
		promise.OutlivesHalf = low + (high-low)/2
		promise.OutlivesMost = all[int(most*float64(len(all)))]
	}
	return promise
}

// longest adds up all that is limited.
func longest(p *engine.Policy) time.Duration {
	limit := Unlimited
	if p.Deadline > 0 {
		limit = p.Deadline
	}
	if p.Attempts == 0 || p.Timeout == 0 {
		return limit
	}
	all := backoff.Add(p.InitialDelay, p.Splay)
	wait := p.Schedule.First()
	for n := 1; n <= p.Attempts; n++ {
		all = backoff.Add(all, p.Timeout)
		if n < p.Attempts {
			wait = p.Schedule.Wait(n, wait, 1)
			all = backoff.Add(all, wait)
		}
	}
	return min(all, limit)
}

// Runs are simulated until they have taken mostDecisions together, but at least
// fewestRuns and at most mostRuns: the first percentile of mostRuns is within
// 0.0007 of probability (two standard errors of a binomial share). A run under a
// deadline that is not over after MostAttempts counts as one that reaches it.
const (
	mostDecisions = 500_000
	mostRuns      = 100_000
	fewestRuns    = 100
)

// MostAttempts is the greatest number of attempts that a plan is made for.
const MostAttempts = 10_000

// outlived is what many runs outlive, in order, each decided on as a run decides.
// Runs come in pairs, of which the second draws 1-u where the first drew u: the
// median of waits that are spread evenly around their mean is exact then.
func outlived(p *engine.Policy, draw func() float64) (all []time.Duration) {
	if p.Schedule.Jitter.Kind == backoff.None && p.Splay == 0 { // one run is like another
		d, _ := outlives(p, draw)
		return []time.Duration{d}
	}
	var drawn []float64
	for decisions := 0; len(all) < fewestRuns || len(all) < mostRuns && decisions < mostDecisions; {
		drawn = drawn[:0]
		first, n := outlives(p, func() float64 {
			u := draw()
			drawn = append(drawn, u)
			return u
		})
		second, m := outlives(p, func() float64 {
			if len(drawn) == 0 {
				return draw()
			}
			u := 1 - drawn[0]
			drawn = drawn[1:]
			return u
		})
		all = append(all, first, second)
		decisions += n + m
	}
	slices.Sort(all)
	return all
}

// outlives follows one run whose attempts fail at once, and returns the sum of
// its waits and how many decisions it took.
func outlives(p *engine.Policy, draw func() float64) (sum time.Duration, decisions int) {
	start, room := time.Unix(0, 0), Unlimited // what the deadline leaves after attempt 1
	s := engine.State{Attempt: 1, Step: 1, Previous: p.Schedule.First()}
	if p.Deadline > 0 {
		before := backoff.Add(p.InitialDelay, backoff.FromFloat(float64(p.Splay)*draw()))
		if before > p.Deadline {
			return 0, 1 // it begins no attempt at all
		}
		room = p.Deadline - before
		s.Deadline = start.Add(room)
	}
	for n := 1; n <= MostAttempts; n++ {
		d := engine.DecideRetry(p, s, start.Add(sum), draw())
		if !d.Retry {
			return sum, n
		}
		s, sum = d.Next, backoff.Add(sum, d.Wait)
	}
	return room, MostAttempts
}
