package option

// This file resolves the guards shared by processes and machines (docs/guards.md).

import (
	"errors"
	"time"

	"github.com/retrysh/retry/engine/guard"
)

// Guarding is the configuration of the guards of a run.
type Guarding struct {
	Key    string // "" for none
	Guards guard.Guards
	// Address is where the state is, nil for the host's own files.
	Address *storeAddress
	Timeout time.Duration
	Closed  bool
}

// guarding resolves the section on guards.
func (r *resolver) guarding() Guarding {
	g := r.g
	w := Guarding{Key: string(g.Key), Guards: r.guards(), Address: g.Store, Timeout: time.Duration(g.StoreTimeout)}
	w.Closed = g.StoreFail == "closed" || g.StoreFail == "" && w.Guards.Slots.N > 0
	return w
}

// guards resolves the guards themselves. The runs of a simulation share them
// without a key.
func (r *resolver) guards() guard.Guards {
	g := r.g
	for _, flag := range []string{"breaker", "budget", "tokens", "max-concurrent", "adaptive"} {
		if r.given(flag) && g.Key == "" && g.Simulate == "" && !r.partial && (flag != "adaptive" || g.Adaptive) {
			r.fail(flag, errors.New("needs --key NAME, which says what is protected, such as --key npm"))
		}
	}
	return guard.Guards{
		Breaker: g.Breaker, Budget: g.Budget, Tokens: g.Tokens, Slots: g.MaxConcurrent,
		Adaptive: g.Adaptive, Priority: g.Priority, Attempts: int64(g.Attempts),
	}
}
