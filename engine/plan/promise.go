package plan

// This file says what a policy promises before anything is run: how long a run
// can take, and which outage it outlives.

import (
	"math"
	"slices"
	"time"

	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/attempt"
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

// Promises works out what p promises. Where there is no closed form, as for
// decorrelated jitter, the outages are those of runs that draw says the random
// numbers of, uniform in [0, 1).
func Promises(p engine.Policy, draw func() float64) Promise {
	hunts := p.UntilFailure
	p = waitsOf(p)
	promise := Promise{Longest: longest(&p)}
	if hunts { // its first failure is the end
		return promise
	}
	if exact, ok := sumOf(&p); ok {
		promise.OutlivesHalf, promise.OutlivesMost = exact.median(), exact.percentile(most)
		return promise
	}
	sums := drawn(&p, decisions, draw)
	promise.OutlivesHalf, promise.OutlivesMost = sums[len(sums)/2], sums[int(most*float64(len(sums)))]
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
	all := backoff.FromFloat(float64(p.Attempts) * float64(p.Timeout))
	if all < Unlimited {
		all = p.Timeout * time.Duration(p.Attempts)
	}
	for _, more := range []time.Duration{p.InitialDelay, p.Splay, greatestWaits(p)} {
		all = backoff.Add(all, more)
	}
	return min(all, limit)
}

// greatestWaits is the sum of the waits of a run that draws the longest each
// time; attempts are limited.
func greatestWaits(p *engine.Policy) time.Duration {
	if p.Schedule.Jitter.Kind != backoff.Decorrelated {
		return total(p, 1, p.Attempts-1, func(n int) time.Duration { return p.Schedule.Wait(n, 0, 1) })
	}
	sum, previous := time.Duration(0), p.Schedule.First()
	for n := 1; n < p.Attempts; n++ {
		wait := p.Schedule.Wait(n, previous, 1)
		if wait == previous { // it has reached cap, or is 0 for ever
			rest := func(int) time.Duration { return wait }
			return backoff.Add(sum, total(p, n, p.Attempts-1, rest))
		}
		sum, previous = backoff.Add(sum, wait), wait
	}
	return sum
}

// total adds up wait(first) to wait(last). Beyond a list of delays a wait never
// is shorter than the one before, so that a stretch between two that are nearly
// equal is added up as a trapezoid: that is exact for linear delays, and within
// 1e-8 for all.
func total(p *engine.Policy, first, last int, wait func(n int) time.Duration) time.Duration {
	sum := time.Duration(0)
	list, _ := p.Schedule.Curve.(backoff.List)
	for ; first <= min(last, len(list)); first++ {
		sum = backoff.Add(sum, wait(first))
	}
	if first <= last {
		sum = backoff.Add(sum, stretch(first, last, wait(first), wait(last), wait))
	}
	return sum
}

// nearly is how much of a wait the ends of a trapezoid may differ by.
const nearly = 1e-4

// stretch is total for waits that never fall, from a wait of low to one of high.
func stretch(first, last int, low, high time.Duration, wait func(n int) time.Duration) time.Duration {
	count := float64(last - first + 1)
	switch {
	case first == last:
		return low
	case last-first == 1:
		return backoff.Add(low, high)
	case float64(high-low) <= nearly*float64(high):
		return backoff.FromFloat(count * (float64(low) + float64(high-low)/2))
	}
	middle := first + (last-first)/2
	return backoff.Add(stretch(first, middle, low, wait(middle), wait),
		stretch(middle+1, last, wait(middle+1), high, wait))
}

// The draw takes at most decisions decisions, in walks of at most longestWalk
// waits each, which are at most mostWalks and at least fewestWalks: the first
// percentile of 200,000 is within 0.0005 of probability (two standard errors of
// a binomial share).
const (
	decisions   = 1_000_000
	mostWalks   = 200_000
	fewestWalks = 1_000
	longestWalk = 1_000
)

// drawn is what many runs outlive, in order, each decided on as a run decides.
// What comes after longestWalk waits is added by its mean and spread.
func drawn(p *engine.Policy, decisions int, draw func() float64) []time.Duration {
	steps := longestWalk
	if p.Attempts > 0 {
		steps = min(steps, p.Attempts-1)
	}
	walks := min(mostWalks, max(fewestWalks, decisions/max(steps, 1)))
	if p.Schedule.Jitter.Kind == backoff.None && p.Splay == 0 {
		walks = 1 // one is like another
	}
	sums := make([]time.Duration, walks)
	open := make([]bool, len(sums))
	room := make([]time.Duration, len(sums)) // what the deadline leaves after attempt 1
	for i := range sums {
		sums[i], room[i], open[i] = walk(p, steps, draw)
	}
	extend(p, steps, sums, open)
	for i, left := range room {
		sums[i] = min(sums[i], left)
	}
	slices.Sort(sums)
	return sums
}

// walk follows one run whose attempts fail at once for at most steps waits. It
// returns the sum of its waits, what the deadline leaves for them, and whether
// the run would go on.
func walk(p *engine.Policy, steps int, draw func() float64) (sum, room time.Duration, more bool) {
	start, deadline, room := time.Unix(0, 0), time.Time{}, Unlimited
	if p.Deadline > 0 {
		before := backoff.Add(p.InitialDelay, backoff.FromFloat(float64(p.Splay)*draw()))
		if before > p.Deadline {
			return 0, 0, false // it begins no attempt at all
		}
		room = p.Deadline - before
		deadline = start.Add(room)
	}
	s := engine.State{Attempt: 1, Step: 1, Previous: p.Schedule.First(), Deadline: deadline}
	for range steps {
		d := engine.Decide(p, s, attempt.Result{TimedOut: true}, engine.Evidence{}, start.Add(sum), draw())
		if !d.Retry {
			return sum, room, false
		}
		s, sum = d.Next, backoff.Add(sum, d.Wait)
	}
	return sum, room, p.Attempts == 0 || steps < p.Attempts-1
}

// extend takes the runs that would go on after steps waits to their end: a sum
// of many waits grows by their mean, and its distance from the mean by the root
// of their number (the central limit theorem).
func extend(p *engine.Policy, steps int, sums []time.Duration, open []bool) {
	mean, count := 0.0, 0
	for i, sum := range sums {
		if open[i] {
			mean += float64(sum)
			count++
		}
	}
	if count == 0 {
		return
	}
	mean /= float64(count)
	rest, spread := math.Inf(1), 1.0
	if p.Attempts > 0 {
		if rest = meanRest(p, steps, mean); rest >= float64(Unlimited) {
			rest = math.Inf(1)
		}
		spread = math.Sqrt(float64(p.Attempts-1) / float64(steps))
	}
	for i, sum := range sums {
		if open[i] {
			sums[i] = max(sum, backoff.FromFloat(mean+rest+(float64(sum)-mean)*spread))
		}
	}
}

// meanRest is the mean of the waits after the first steps, whose sum has the
// mean so far.
func meanRest(p *engine.Policy, steps int, sofar float64) float64 {
	if p.Schedule.Jitter.Kind == backoff.Decorrelated {
		return sofar / float64(steps) * float64(p.Attempts-1-steps)
	}
	return float64(total(p, steps+1, p.Attempts-1, func(n int) time.Duration {
		sum := 0.0
		for i := range draws {
			sum += float64(p.Schedule.Wait(n, 0, (float64(i)+0.5)/draws))
		}
		return backoff.FromFloat(sum / draws)
	}))
}
