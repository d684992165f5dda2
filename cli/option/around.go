package option

// This file resolves what runs around attempts and in their place: copies
// (docs/hedging.md), values that rotate (docs/rotation.md), hooks (docs/hooks.md)
// and rehearsals (docs/rehearsal.md).

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/retrysh/retry/engine/hedge"
	"github.com/retrysh/retry/engine/hook"
	"github.com/retrysh/retry/engine/rehearse"
	"github.com/retrysh/retry/engine/rotate"
)

// hedging resolves --hedge, --hedge-max and --rotate.
func (r *resolver) hedging(o *Options) {
	switch {
	case r.given("hedge"):
		o.Policy.Hedge = hedge.Policy{Delay: time.Duration(r.g.Hedge), Max: 1 + int(r.g.HedgeMax)}
		if r.g.HedgeMax == math.MaxInt32 {
			r.fail("hedge-max", fmt.Errorf("%q is more than %d", r.text("hedge-max"), math.MaxInt32-1))
		}
		// The streams of every copy pass through the program.
		o.Policy.Rules.Hints.HeldStdout, o.Policy.Rules.Hints.HeldStderr = true, true
	case r.from("hedge-max") == FromCommandLine:
		r.fail("hedge-max", errors.New("is valid with --hedge only, which says when a copy starts"))
	}
	o.Policy.Rotate = r.rotation(o.Command)
}

// rotation reads the lists of values, each of which the command must use.
func (r *resolver) rotation(command []string) []rotate.List {
	byVariable := map[string]string{}
	g := r.g
	scripts := append(plain(g.BeforeRetry), string(g.RetryWith), string(g.AfterSuccess), string(g.AfterGiveUp), string(g.Fallback))
	for _, l := range g.Rotate {
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
	return g.Rotate
}

// hooks resolves the shell strings. Their syntax is left to the shell.
func (r *resolver) hooks(h *hook.Set) {
	g := r.g
	*h = hook.Set{
		BeforeRetry: plain(g.BeforeRetry), AfterSuccess: string(g.AfterSuccess), AfterGiveUp: string(g.AfterGiveUp), RetryWith: string(g.RetryWith), Fallback: string(g.Fallback),
		Limit: g.HookTimeout,
	}
}

// plain are scripts as text.
func plain(scripts []shellScript) (all []string) {
	for _, s := range scripts {
		all = append(all, string(s))
	}
	return all
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
		if !r.given("rehearse") && r.from(flag) == FromCommandLine {
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
