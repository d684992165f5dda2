package simulate

// This file searches what a policy lacks: with which attempts or deadline nearly all clients
// would finish.

import (
	"time"

	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/guard"
)

// Need is what lets enoughFinish of 100 clients finish: the least attempts or, if the deadline
// ended most of those that gave up, the least deadline in whole seconds. Both are 0 if none is
// enough.
type Need struct {
	ByDeadline bool
	Attempts   int
	Deadline   time.Duration
}

// Limits of a search. It ends without an answer after searchCalls calls of all its
// simulations: a call takes about 1.5 us.
const (
	enoughFinish = 99
	mostAttempts = 1000
	searchCalls  = 2_000_000
)

// enough reports whether nearly all clients finish.
func (h *Herd) enough() bool { return 100*h.Finished >= enoughFinish*h.Clients }

// Needs searches what the policy of a herd lacks. It returns nil if it lacks nothing, if no
// client has given up, or if the search takes too long. draw returns the numbers of a run from
// its beginning.
func (h *Herd) Needs(p engine.Policy, g guard.Guards, draw func() func() float64) *Need {
	if h.enough() || h.GaveUp == 0 {
		return nil
	}
	need := &Need{ByDeadline: 2*h.OutOfTime > h.GaveUp}
	left := searchCalls
	// suffices simulates the policy with n attempts, or with a deadline of n seconds.
	suffices := func(n int) bool {
		if need.ByDeadline {
			p.Deadline = time.Duration(n) * time.Second
		} else {
			p.Attempts = n
		}
		result := h.Outage.Run(p, g, draw())
		left -= result.Calls
		return result.enough()
	}
	from, most := p.Attempts, mostAttempts
	if need.ByDeadline {
		from, most = int(p.Deadline/time.Second), int(Horizon/time.Second)
	}
	least := leastOf(from, most, func(n int) bool { return left > 0 && suffices(n) })
	switch {
	case left <= 0:
		return nil
	case need.ByDeadline:
		need.Deadline = time.Duration(least) * time.Second
	default:
		need.Attempts = least
	}
	return need
}

// leastOf returns the least number above from, and up to most, that suffices; 0 for none. What
// suffices for a number is taken to suffice for all above it.
func leastOf(from, most int, suffices func(int) bool) int {
	low, high := from, max(from+1, 2*from)
	for ; !suffices(min(high, most)); high *= 2 {
		if high >= most {
			return 0
		}
		low = high
	}
	high = min(high, most)
	for low+1 < high {
		if middle := (low + high) / 2; suffices(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}
