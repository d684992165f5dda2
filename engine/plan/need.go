package plan

// This file computes what a run needs to survive an outage.

import (
	"math"
	"slices"
	"sort"
	"time"

	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/backoff"
)

// Need is the least that lets 99 of 100 runs survive an outage, with the names of --plan in
// JSON.
type Need struct {
	// Attempts is the least number with the rest of the policy as it is, nil where no
	// number is enough.
	Attempts *int `json:"needed_attempts"`
	// Deadline is the least one with unlimited attempts, Unlimited where none is enough.
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
		p.Attempts = n
		return time.Duration(Promises(p, draw()).OutlivesMost) >= outage
	}
	free, random := p, draw()
	free.Attempts, free.Deadline = 0, Unlimited
	var attempts []int
	var ends []time.Duration
	for total := 0; len(ends) < fewestRuns || len(ends) < mostRuns && total < mostDecisions; {
		r := follow(&free, outage, random)
		if r.attempts > MostAttempts || r.waited < outage {
			return need
		}
		attempts, ends = append(attempts, r.attempts), append(ends, backoff.Add(r.before, r.waited))
		total += r.attempts
		if deterministic(&p) {
			break
		}
	}
	if end := percentile(ends, 1-most); end < Unlimited-time.Second { // it can be rounded up
		need.Deadline = Limit((end + time.Millisecond - 1).Truncate(time.Millisecond))
	}
	if unlimited := 0; enough(unlimited) {
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

// least is the least number of attempts that is enough, searched from a guess; 0 where
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
