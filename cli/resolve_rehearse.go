package cli

// This file resolves a rehearsal (SPEC section 14).

import (
	"errors"

	"github.com/retrysh/retry/engine/rehearse"
)

// rehearsal is what attempts pretend.
type rehearsal struct {
	steps          rehearse.Steps
	stdout, stderr string // files, "" for none
}

// rehearsal resolves the steps; nil is none.
func (r *resolver) rehearsal() *rehearsal {
	g := r.g
	for flag, name := range map[string]string{"rehearse-stdout": g.RehearseStdout, "rehearse-stderr": g.RehearseStderr} {
		r.fileName(flag, name)
		if !r.given("rehearse") && r.from[flag] == fromCommandLine {
			r.fail(flag, errors.New("goes with --rehearse only, whose attempts write it"))
		}
	}
	if !r.given("rehearse") {
		return nil
	}
	steps, err := rehearse.Parse(g.Rehearse, signalNumber)
	r.fail("rehearse", err)
	switch {
	case r.g.Exec:
		r.fail("rehearse", errors.New("goes without --exec, which becomes the command"))
	case r.given("hedge"):
		r.fail("rehearse", errors.New("goes without --hedge: copies that pretend would all end alike"))
	}
	return &rehearsal{steps: steps, stdout: g.RehearseStdout, stderr: g.RehearseStderr}
}
