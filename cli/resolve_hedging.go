package cli

// This file resolves copies and values in turn (SPEC section 14).

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/retrysh/retry/engine/hedge"
	"github.com/retrysh/retry/engine/rotate"
)

// hedging resolves --hedge, --hedge-max and --rotate.
func (r *resolver) hedging(o *options) {
	if r.given("hedge") {
		o.policy.Hedge = hedge.Policy{Delay: r.duration("hedge", r.g.Hedge), Max: 1 + r.copies()}
		if o.policy.Hedge.Delay == 0 {
			r.fail("hedge", fmt.Errorf("%q would start all copies at once; give the time that 19 of 20 attempts take, such as 2s", r.g.Hedge))
		}
		// The streams of every copy pass through the program.
		o.policy.Rules.Hints.HeldStdout, o.policy.Rules.Hints.HeldStderr = true, true
	} else if r.from["hedge-max"] == fromCommandLine {
		r.fail("hedge-max", errors.New("goes with --hedge only, which says when a copy starts"))
	}
	o.policy.Rotate = r.rotation(o.command)
}

// copies reads how many copies there may be beside the first.
func (r *resolver) copies() int {
	n, err := strconv.ParseUint(r.g.HedgeMax, 10, 31)
	if err != nil || n == 0 || n == mostCopies {
		r.fail("hedge-max", fmt.Errorf("%q is not a whole number from 1 to %d", r.g.HedgeMax, mostCopies-1))
	}
	return int(n)
}

// mostCopies is the greatest number that an int holds on every system.
const mostCopies = 1<<31 - 1

// rotation reads the lists of values, each of which the command must use.
func (r *resolver) rotation(command []string) []rotate.List {
	var lists []rotate.List
	byVariable := map[string]string{}
	g := r.g
	scripts := append([]string{g.RetryWith, g.AfterSuccess, g.AfterGiveUp, g.Fallback}, g.BeforeRetry...)
	for _, text := range g.Rotate {
		l, err := rotate.Parse(text)
		r.fail("rotate", err)
		if err != nil {
			return nil
		}
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
		lists = append(lists, l)
	}
	return lists
}
