package option

// This file resolves processes and streams (SPEC sections 6 and 7).

import (
	"time"

	"github.com/retrysh/retry/engine/attempt"
)

// process resolves the sections on processes and streams.
func (r *resolver) process(c *processConfig) {
	g := r.g
	c.KillAfter, c.KillLeftovers, c.Signal = time.Duration(g.KillAfter), g.KillLeftovers, attempt.Signal(g.Signal)
	setStreams(c, g.Stdin, g.Stdout, g.Stderr)
}
