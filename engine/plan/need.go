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

// Need is the least that lets 99 of 100 runs survive an outage.
type Need struct {
	// Attempts is the least number with the rest of the policy as it is, 0 where no
	// number is enough.
	Attempts int
	// Deadline is the least one with unlimited attempts, Unlimited where none is enough.
	Deadline time.Duration
}

// Needs computes what p needs to survive an outage. Each call of draw begins the same
// random numbers again.
func Needs(p engine.Policy, outage time.Duration, draw func() func() float64) Need {
	need := Need{Deadline: Unlimited}
	if p.UntilFailure { // its first failure is the end
		return need
	}
	p = waitsOf(p)
	enough := func(n int) bool {
		p.Attempts = n
		return Promises(p, draw()).OutlivesMost >= outage
	}
	free := p
	free.Attempts, free.Deadline = 0, 0
	attempts, ends := passages(&free, outage, draw())
	if attempts == nil {
		return need
	}
	need.Deadline = (percentile(ends, 1-most) + time.Millisecond - 1).Truncate(time.Millisecond)
	if unlimited := 0; enough(unlimited) {
		need.Attempts = least(percentile(attempts, 1-most), enough)
	}
	return need
}

// percentile is the value that the share of all does not exceed.
func percentile[T int | time.Duration](all []T, share float64) T {
	slices.Sort(all)
	return all[min(int(math.Ceil(share*float64(len(all))))-1, len(all)-1)]
}

// passages follows runs whose attempts fail at once until they have waited through the
// outage. It returns how many attempts each has begun by then, and when that was, from the
// start of the run; nothing where a run does not get there.
func passages(p *engine.Policy, outage time.Duration, draw func() float64) (attempts []int, ends []time.Duration) {
	start := time.Unix(0, 0)
	for total := 0; len(ends) < fewestRuns || len(ends) < mostRuns && total < mostDecisions; total++ {
		before := backoff.Add(p.InitialDelay, backoff.FromFloat(float64(p.Splay)*draw()))
		s, sum := p.First(), time.Duration(0)
		for ; sum < outage; total++ {
			if s.Attempt == MostAttempts {
				return nil, nil
			}
			d := engine.DecideRetry(p, s, start.Add(sum), draw())
			s, sum = d.Next, backoff.Add(sum, d.Jittered)
		}
		attempts, ends = append(attempts, s.Attempt), append(ends, backoff.Add(before, sum))
		if deterministic(p) {
			break
		}
	}
	return attempts, ends
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
	for n, step := guess, 1; n < MostAttempts; step *= 2 {
		low := n
		n = min(n+step, MostAttempts)
		if enough(n) {
			return low + 1 + sort.Search(n-low-1, func(i int) bool { return enough(low + 1 + i) })
		}
	}
	return 0
}
