package guard

// This file limits the attempts of a run by the rate of successes that all runs
// on the key had lately.

import "cmp"

// lookBack is how many outcomes are looked at, enough from how many on they limit attempts.
const lookBack, enough = 100, 10

// adaptiveLimit is how many attempts a run may make after so many successes in
// the last outcomes: 1 below half, all above nine tenths, between them 1 +
// floor((attempts - 1) x (rate - 0.5) / 0.4).
func adaptiveLimit(attempts, succeeded, outcomes int64) int64 {
	attempts = cmp.Or(attempts, 10) // if --attempts has no limit
	switch {
	case outcomes < enough || 10*succeeded > 9*outcomes:
		return attempts
	case 2*succeeded < outcomes:
		return 1
	}
	return 1 + (attempts-1)*(2*succeeded-outcomes)*5/(4*outcomes)
}

func (s *State) succeeded() (n int64) {
	for _, success := range s.Recent {
		n += success
	}
	return n
}

func (t *transaction) checkAdaptive() *Refusal {
	succeeded, outcomes := t.s.succeeded(), int64(len(t.s.Recent))
	limit := adaptiveLimit(t.g.Attempts, succeeded, outcomes)
	if !t.g.Adaptive || t.r.Attempt <= limit {
		return nil
	}
	return &Refusal{Guard: KindAdaptive, RetryIn: -1, Successes: succeeded, Outcomes: outcomes, Attempts: limit}
}
