package guard

// This file limits the attempts of a run by the rate of successes that all runs
// on the key had lately.

const (
	// lookBack is how many outcomes are looked at, enough from how many on they
	// say anything.
	lookBack, enough = 100, 10
	// unlimitedAttempts stands for --attempts where that has no limit.
	unlimitedAttempts = 10
)

// AdaptiveLimit is how many attempts a run may make after so many successes in
// the last outcomes: 1 below half, all above nine tenths, between them 1 +
// floor((attempts - 1) x (rate - 0.5) / 0.4).
func AdaptiveLimit(attempts, succeeded, outcomes int64) int64 {
	if attempts == 0 {
		attempts = unlimitedAttempts
	}
	switch {
	case outcomes < enough || 10*succeeded > 9*outcomes:
		return attempts
	case 2*succeeded < outcomes:
		return 1
	}
	return 1 + (attempts-1)*(2*succeeded-outcomes)*5/(4*outcomes)
}

// adaptiveRefuses reports whether an attempt is one too many.
func adaptiveRefuses(g *Guards, recent []bool, attempt int64) (Refusal, bool) {
	if !g.Adaptive {
		return Refusal{}, false
	}
	succeeded := int64(0)
	for _, ok := range recent {
		if ok {
			succeeded++
		}
	}
	outcomes := int64(len(recent))
	limit := AdaptiveLimit(g.Attempts, succeeded, outcomes)
	return Refusal{Guard: KindAdaptive, RetryIn: -1, Figures: [3]int64{succeeded, outcomes, limit}}, attempt > limit
}

// remember adds an outcome to those looked at.
func (s *State) remember(success bool) {
	if s.Recent = append(s.Recent, success); len(s.Recent) > lookBack {
		s.Recent = s.Recent[1:]
	}
}
