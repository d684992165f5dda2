package cli

// This file resolves values in turn (SPEC section 14).

import (
	"fmt"

	"github.com/retrysh/retry/engine/rotate"
)

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
