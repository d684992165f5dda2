package option

// This file resolves copies of an attempt, and values that rotate (SPEC section 14).

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/retrysh/retry/engine/hedge"
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
	var lists []rotate.List
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
		lists = append(lists, l.List)
	}
	return lists
}
