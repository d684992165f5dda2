package option

// This file resolves the guards (docs/guards.md).

import "github.com/retrysh/retry/engine/guard"

// guards resolves the section on guards. The runs of a simulation share them without a
// key.
func (r *resolver) guards() {
	for _, s := range r.o.Settings {
		asked := s.Flag.Tag("guard") == "yes" && !Last(r.o.Settings, s.Flag.name).Off()
		r.refuse(s.Flag.name, asked && r.Key == "" && r.Simulate == "" && !r.partial,
			"needs --key NAME, which says what is protected, such as --key npm")
	}
	r.o.Guards = guard.Guards{
		Breaker: r.Breaker, Budget: r.Budget, Tokens: r.Tokens, Slots: r.MaxConcurrent, RateLimit: r.RateLimit,
		Adaptive: r.Adaptive, Priority: r.Priority, Attempts: int64(r.Attempts),
	}
	r.o.Closed = r.StoreFail == "closed" || r.StoreFail == "" && r.o.Guards.Slots.N > 0
}
