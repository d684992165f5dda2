package cli

// This file resolves the guards shared by processes and machines (SPEC section
// 12).

import (
	"errors"
	"time"

	"github.com/retrysh/retry/engine/guard"
)

// guarding is what a run needs to know of its guards.
type guarding struct {
	key    string // "" for none
	guards guard.Guards
	// address is where the state is, nil for the host's own files.
	address *storeAddress
	timeout time.Duration
	closed  bool
}

// guarding resolves the section on guards.
func (r *resolver) guarding() guarding {
	g := r.g
	w := guarding{key: string(g.Key), guards: r.guards(), address: g.Store.storeAddress, timeout: time.Duration(g.StoreTimeout)}
	w.closed = g.StoreFail == "closed" || g.StoreFail == "" && w.guards.Slots.N > 0
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
		Breaker: g.Breaker.Breaker, Budget: g.Budget.Budget, Tokens: g.Tokens.Tokens, Slots: g.MaxConcurrent.Slots,
		Adaptive: g.Adaptive, Priority: g.Priority.Priority, Attempts: int64(g.Attempts),
	}
}
