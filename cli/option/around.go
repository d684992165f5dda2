package option

// This file resolves what runs around attempts and in their place: targets
// (docs/targets.md), copies (docs/hedging.md), values that rotate (docs/rotation.md),
// hooks (docs/hooks.md), rehearsals (docs/rehearsal.md) and guards (docs/guards.md).

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/guard"
	"github.com/retrysh/retry/engine/rehearse"
	"github.com/retrysh/retry/engine/rotate"
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

// waiting resolves the section on waiting, then running, and --retry-when, which
// has the same targets.
func (r *resolver) waiting(o *Options) {
	g := r.g
	for _, t := range g.WaitFor {
		o.Targets = append(o.Targets, Target{t, false})
	}
	for _, t := range g.WaitGone {
		o.Targets = append(o.Targets, Target{t, true})
	}
	o.RetryWhen, o.WaitTimeout = g.RetryWhen, g.WaitTimeout
	o.Tries = o.Policy.Schedule
	if !r.given("base") && !r.given("delays") {
		o.Tries.Base, o.Tries.Curve = targetBase, r.curve()
	}
	if !r.given("cap") {
		o.Tries.Cap = targetCap
	}
}

// hedging resolves --hedge, --hedge-max and --rotate.
func (r *resolver) hedging(o *Options) {
	most := r.last("hedge-max")
	switch {
	case r.given("hedge"):
		o.Policy.Hedge = engine.Hedge{Delay: time.Duration(r.g.Hedge), Max: 1 + int(r.g.HedgeMax)}
		if r.g.HedgeMax == math.MaxInt32 {
			r.fail("hedge-max", fmt.Errorf("%q is more than %d", most.Value, math.MaxInt32-1))
		}
		// The streams of every copy pass through the program.
		o.Policy.Rules.Hints.HeldStdout, o.Policy.Rules.Hints.HeldStderr = true, true
	case most.Source == FromCommandLine:
		r.fail("hedge-max", errors.New("is valid with --hedge only, which says when a copy starts"))
	}
	o.Policy.Rotate = r.rotation(o.Command, o.Hooks)
}

// rotation reads the lists of values, each of which the command or a hook must use.
func (r *resolver) rotation(command []string, h engine.Hooks) []rotate.List {
	byVariable := map[string]string{}
	scripts := append([]string{h.RetryWith, h.AfterSuccess, h.AfterGiveUp, h.Fallback}, h.BeforeRetry...)
	for _, l := range r.g.Rotate {
		switch other, twice := byVariable[l.Variable()]; {
		case twice && other == l.Name:
			r.fail("rotate", fmt.Errorf("%q is declared twice; give all its values at once, as in %[1]s=a,b", l.Name))
		case twice:
			r.fail("rotate", fmt.Errorf("%q and %q are both %s; give one of them another name", other, l.Name, l.Variable()))
		}
		byVariable[l.Variable()] = l.Name
		if len(command) > 0 {
			r.fail("rotate", l.CheckUsed(command, scripts...))
		}
	}
	return r.g.Rotate
}

// hooks resolves the shell strings.
func (r *resolver) hooks() engine.Hooks {
	g := r.g
	h := engine.Hooks{
		AfterSuccess: string(g.AfterSuccess), AfterGiveUp: string(g.AfterGiveUp), RetryWith: string(g.RetryWith), Fallback: string(g.Fallback),
		Limit: g.HookTimeout,
	}
	for _, script := range g.BeforeRetry {
		h.BeforeRetry = append(h.BeforeRetry, string(script))
	}
	return h
}

// rehearsal is what attempts pretend.
type rehearsal struct {
	Steps          rehearse.Steps
	Stdout, Stderr string // files, "" for none
}

// rehearsal resolves the steps; nil is none.
func (r *resolver) rehearsal() *rehearsal {
	g := r.g
	for _, flag := range []string{"rehearse-stdout", "rehearse-stderr"} {
		if !r.given("rehearse") && r.last(flag).Source == FromCommandLine {
			r.fail(flag, errors.New("is valid with --rehearse only, whose attempts write it"))
		}
	}
	switch {
	case !r.given("rehearse"):
		return nil
	case g.Exec:
		r.fail("rehearse", errors.New("cannot be used with --exec, which becomes the command"))
	case r.given("hedge"):
		r.fail("rehearse", errors.New("cannot be used with --hedge: pretended copies would all end alike"))
	}
	return &rehearsal{Steps: g.Rehearse, Stdout: string(g.RehearseStdout), Stderr: string(g.RehearseStderr)}
}

// Guarding is the configuration of the guards of a run.
type Guarding struct {
	Key    string // "" for none
	Guards guard.Guards
	// Address is where the state is, nil for the host's own files.
	Address *storeAddress
	Timeout time.Duration
	Closed  bool
}

// guarding resolves the section on guards, which processes and machines share.
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
