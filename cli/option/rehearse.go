package option

// This file resolves a rehearsal (SPEC section 14).

import (
	"errors"

	"github.com/retrysh/retry/engine/rehearse"
)

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
	return &rehearsal{Steps: g.Rehearse.Steps, Stdout: string(g.RehearseStdout), Stderr: string(g.RehearseStderr)}
}
