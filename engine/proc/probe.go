package proc

// This file runs a command that only answers a question.

import (
	"context"
	"io"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/proc/signals"
	"github.com/retrysh/retry/exitcodes"
)

// What a probe gets between TERM and KILL: one that is out of time, and one
// that is cancelled, since the program itself is then expected to be gone
// within 50 ms.
const (
	probeGrace  = 100 * time.Millisecond
	cancelGrace = 10 * time.Millisecond
)

// Probe runs argv in a process group of its own, without input, and with both
// its outputs going to output. When ctx ends its whole tree is ended, and the
// result counts as timed out; a cancelled ctx leaves it less time for that than
// one whose deadline has passed. Any number of probes may run at once. The
// program does not become a subreaper for it.
func Probe(ctx context.Context, argv, env []string, output io.Writer) attempt.Result {
	if ctx.Err() != nil {
		return attempt.Result{TimedOut: true, ExitCode: exitcodes.Timeout}
	}
	r, _ := New(Config{KillAfter: probeGrace}, signals.New()) // every system has SIGTERM
	r.probe = true
	a := r.Start(ctx, attempt.Spec{Argv: argv, Env: env, Stdout: output, Streams: attempt.Instead})
	result := a.Wait()
	if result.TimedOut {
		signals.Ending.Add(-1)
	}
	_ = a.Settle(true) // nothing is held
	return result
}
