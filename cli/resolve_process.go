package cli

// This file resolves processes and streams (SPEC sections 6 and 7).

import (
	"fmt"
	"strconv"

	"github.com/retrysh/retry/engine/attempt"
)

// process resolves the sections on processes and streams.
func (r *resolver) process(c *processConfig) {
	g := r.g
	c.KillAfter, c.KillLeftovers = r.duration("kill-after", g.KillAfter), g.KillLeftovers
	c.Signal = r.signal(g.Signal)
	setStreams(c, r.oneOf("stdin", g.Stdin), r.oneOf("stdout", g.Stdout), r.oneOf("stderr", g.Stderr))
}

// signal reads a signal's name or, as timeout(1) has it, its number.
func (r *resolver) signal(value string) attempt.Signal {
	var signal attempt.Signal
	var known bool
	if n, err := strconv.Atoi(value); err == nil {
		signal, known = signalNamed(n)
	} else {
		signal, err = attempt.ParseSignal(value)
		r.fail("signal", err)
		_, known = signalNumber(signal)
	}
	if !known {
		r.fail("signal", fmt.Errorf("this system has no signal %q; use one such as TERM, INT, HUP or KILL", value))
	}
	return signal
}
