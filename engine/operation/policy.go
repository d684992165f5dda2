package operation

// This file is the policy of operations.

import (
	"fmt"
	"math"
	"time"

	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/backoff"
	"github.com/retrysh/retry/engine/classify"
)

// Policy says how often an operation is retried, and how long it waits. The wait before
// retry n (1, 2, ...) is
//
//	d' x uniform in [1 - Jitter, 1 + Jitter]
//	d' = min(InitialDelay x Multiplier^(n-1), MaxDelay / (1 + Jitter))
//
// so that no wait is longer than MaxDelay, and waits do not pile up there.
type Policy struct {
	// MaxRetries is how many attempts may follow the first: 3 is four attempts.
	MaxRetries int
	// InitialDelay and MaxDelay are 0 or more, MaxDelay at least InitialDelay.
	InitialDelay, MaxDelay time.Duration
	// Multiplier is at least 1. Jitter is from 0 to 1: 0.1 is 10 % around the delay.
	Multiplier, Jitter float64
}

// check panics if the policy is not valid. Without retries, the fields of the wait may be
// left out.
func (p *Policy) check() {
	switch {
	case p.MaxRetries < 0:
		refuse("MaxRetries", p.MaxRetries, "0 or more")
	case p.InitialDelay < 0:
		refuse("InitialDelay", p.InitialDelay, "0 or more")
	case p.MaxDelay < p.InitialDelay:
		refuse("MaxDelay", p.MaxDelay, fmt.Sprintf("InitialDelay (%v) or more", p.InitialDelay))
	case !(p.Multiplier >= 1 || p.Multiplier == 0 && p.MaxRetries == 0) || math.IsInf(p.Multiplier, 0):
		refuse("Multiplier", p.Multiplier, "1 or more, and finite")
	case !(p.Jitter >= 0 && p.Jitter <= 1):
		refuse("Jitter", p.Jitter, "from 0 to 1")
	}
}

func refuse(field string, value any, valid string) {
	panic(fmt.Sprintf("operation: Policy.%s is %v; it is %s", field, value, valid))
}

// everyFailure retries a failure without the rules for commands.
var everyFailure, _ = classify.ParseExits("any")

// engine is the policy for the engine.
func (p *Policy) engine() engine.Policy {
	return engine.Policy{
		Attempts: min(p.MaxRetries, math.MaxInt-1) + 1,
		Rules:    engine.Rules{OnExit: everyFailure},
		Schedule: backoff.Schedule{
			Curve:  backoff.Exponential(p.Multiplier),
			Base:   p.InitialDelay,
			Cap:    p.MaxDelay,
			Jitter: backoff.Jitter{Kind: backoff.Percent, P: 100 * p.Jitter},
		},
	}
}
