package option

// This file resolves what runs around attempts and in their place: targets
// (docs/targets.md), copies (docs/hedging.md), values that rotate (docs/rotation.md),
// rehearsals (docs/rehearsal.md) and guards (docs/guards.md).

import (
	"math"
	"slices"
	"time"

	"github.com/retrysh/retry/engine/guard"
)

// Target is one that is waited for before attempt 1.
type Target struct {
	*WaitTarget
	Gone bool // until it is no longer ready
}

// The base and the cap of the waits between two tries of a target.
const (
	targetBase = 100 * time.Millisecond
	targetCap  = time.Second
)

// waiting resolves the section on waiting.
func (r *resolver) waiting() {
	for _, t := range r.WaitFor {
		r.Targets = append(r.Targets, Target{t, false})
	}
	for _, t := range r.WaitGone {
		r.Targets = append(r.Targets, Target{t, true})
	}
	r.refuse("wait-while", len(r.Targets) == 0 && r.typed("wait-while"), "is valid with --wait-for or --wait-gone only, whose wait it ends")
	r.refuse("wait-for", len(r.Targets)+len(r.WaitWhile) > mostTargets, "%d targets are more than %d, the most that one run waits for", len(r.Targets), mostTargets)
	r.Tries = r.Policy.Schedule
	if !r.Given("base") && !r.Given("delays") {
		r.Tries.Base, r.Tries.Curve = targetBase, r.curve()
	}
	if !r.Given("cap") {
		r.Tries.Cap = targetCap
		if len(r.Command) == 0 { // then the waits are the user's own
			r.Tries.Cap = slices.Max(append([]time.Duration{targetCap, r.Tries.Base}, r.Delays...))
		}
	}
}

// hedging resolves --hedge, --hedge-max and --rotate.
func (r *resolver) hedging() {
	if r.Given("hedge") {
		r.Policy.HedgeDelay, r.Policy.HedgeMax = time.Duration(r.Hedge), 1+int(r.HedgeMax)
		r.refuse("hedge-max", r.HedgeMax == math.MaxInt32, "%q is more than %d", r.last("hedge-max").Value, math.MaxInt32-1)
	}
	r.refuse("hedge-max", !r.Given("hedge") && r.typed("hedge-max"), "is valid with --hedge only, which says when a copy starts")
	r.rotation()
}

// rotation checks the lists of values, each of which the command or a hook must use.
func (r *resolver) rotation() {
	r.Policy.Rotate = r.Rotate
	byVariable := map[string]string{}
	scripts := append([]string{r.Hooks.RetryWith, r.Hooks.AfterSuccess, r.Hooks.AfterGiveUp, r.Hooks.Fallback}, r.Hooks.BeforeRetry...)
	for _, l := range r.Rotate {
		other, twice := byVariable[l.Variable()]
		r.refuse("rotate", twice && other == l.Name, "%q is declared twice; give all its values at once, as in %[1]s=a,b", l.Name)
		r.refuse("rotate", twice, "%q and %q are both %s; give one of them another name", other, l.Name, l.Variable())
		byVariable[l.Variable()] = l.Name
		if len(r.Command) > 0 {
			r.fail("rotate", l.CheckUsed(r.Command, scripts...))
		}
	}
}

// rehearsal checks what attempts pretend.
func (r *resolver) rehearsal() {
	for _, flag := range []string{"rehearse-stdout", "rehearse-stderr"} {
		r.refuse(flag, r.Rehearse == nil && r.typed(flag), "is valid with --rehearse only, whose attempts write it")
	}
	r.refuse("rehearse", r.Rehearse != nil && r.typed("rehearse") && r.Plan, "cannot be used with --plan, which runs nothing; leave out --plan, as in: retry --base 0 --rehearse 75,0 -- COMMAND")
	r.refuse("rehearse", r.Rehearse != nil && r.Exec, "cannot be used with --exec, which becomes the command")
	r.refuse("rehearse", r.Rehearse != nil && r.Given("hedge"), "cannot be used with --hedge: pretended copies would all end alike")
}

// guards resolves the section on guards. The runs of a simulation share them without a
// key.
func (r *resolver) guards() {
	for _, s := range r.Settings {
		asked := s.Flag.Tag("guard") == "yes" && !Last(r.Settings, s.Flag.name).Off()
		r.refuse(s.Flag.name, asked && r.Key == "" && r.Simulate == "" && !r.partial, "needs --key NAME, which says what is protected, such as --key npm")
	}
	r.Guards = guard.Guards{
		Breaker: r.Breaker, Budget: r.Budget, Tokens: r.Tokens, Slots: r.MaxConcurrent, RateLimit: r.RateLimit,
		Adaptive: r.Adaptive, Priority: r.Priority, Attempts: int64(r.Attempts),
	}
	r.Closed = r.StoreFail == "closed" || r.StoreFail == "" && r.Guards.Slots.N > 0
}
