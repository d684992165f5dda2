package proc

// This file runs a command that only answers a question.

import (
	"context"
	"io"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/proc/signals"
	"github.com/retrysh/retry/engine/proc/stdio"
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
	r, err := New(Config{Stdin: stdio.Null, KillAfter: probeGrace}, signals.New())
	if err != nil {
		return attempt.Result{Err: err, ExitCode: exitcodes.Failure}
	}
	a := r.newAttempt(ctx, attempt.Spec{Argv: argv, Env: env, Stdout: output}, false)
	a.probe = true
	a.prepare(false)
	a.start()
	result := a.Wait()
	if result.TimedOut {
		signals.Ending.Add(-1)
	}
	_ = a.Settle(true) // nothing is held
	return result
}
