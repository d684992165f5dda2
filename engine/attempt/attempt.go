// Package attempt defines what one attempt runs, and its result.
//
// It imports no other package of the program, so that pure packages (classify, the
// decision) and those that touch the system (proc, probe) can share its types. It does not
// judge results.
package attempt

import (
	"context"
	"errors"
	"io"
	"time"
)

// Starter starts attempts, any number at a time. A signal that reaches the
// program goes to each of them, once.
type Starter interface {
	// Start starts one attempt. If that fails, the result of the Attempt says why. A copy
	// (Spec.Copy above 0) is cancelled by a signal that has asked for the end since the
	// first copy started. The attempt is ended early when spec's limits pass or ctx ends;
	// in the latter case Result.Err is the cause of ctx, unless that is ErrLost.
	Start(ctx context.Context, spec Spec) Attempt
}

// ErrLost is the cause of a context that ends since another copy of the attempt has
// decided. The attempt is ended as by its timeout; neither Err nor TimedOut is set.
var ErrLost = errors.New("another copy of the attempt has decided")

// Attempt is one attempt that was started.
type Attempt interface {
	// Wait returns when the attempt has ended. It is called once.
	Wait() Result
	// Settle is called once, after Wait. It writes output that was held back to its
	// destination: released says that the run ends as a success. The error ErrReaderGone
	// ends the run as SIGPIPE would, any other as a failure of the program itself.
	Settle(released bool) error
	// Drop is called in place of Settle for output that is not wanted: it drops held
	// output, and is Settle(false) otherwise.
	Drop()
}

// Call is an attempt that does all its work in Wait and holds nothing back.
type Call func() Result

// Wait does the work.
func (f Call) Wait() Result { return f() }

// Settle has nothing to do.
func (Call) Settle(bool) error { return nil }

// Drop has nothing to do.
func (Call) Drop() {}

// ErrReaderGone says that the program's own standard output has no reader left: the
// program ends as by SIGPIPE.
var ErrReaderGone = errors.New("standard output has no reader left")

// Spec says what to run in one attempt, and its limits.
type Spec struct {
	// Number counts attempts from 1, Copy the copies of a hedged one from 0.
	Number, Copy int
	// Argv is the command and its arguments, never empty for a process.
	Argv []string
	// Env is the command's whole environment, each entry NAME=VALUE.
	Env []string
	// Timeout limits this attempt, IdleTimeout a time without output on either stream; 0
	// is no limit.
	Timeout, IdleTimeout time.Duration
	// Deadline is when everything ends, on the monotonic clock; the zero time is none.
	Deadline time.Time
	// Stdout and Stderr receive a copy of what the attempt writes, in order and before
	// Wait returns. A stream with nil is not read, and the attempt may have the program's
	// own descriptor for it.
	Stdout, Stderr io.Writer
	// Alike says that Stdout and Stderr need not be distinguished: if both outputs lead to
	// the same file, each may receive all that is written to either.
	Alike   bool
	Streams Streams
	// KillAtOnce says that the end of the context kills the whole tree, without the time
	// that an attempt otherwise has to end by itself.
	KillAtOnce bool
	// Inherit are descriptors that the command has beside its streams, under the same
	// numbers. They are close-on-exec in the program.
	Inherit []uintptr
}

// Streams says where the standard streams of a process lead, and whether it gets the
// signals that reach the program.
type Streams int

// The ways to connect a process. All but Configured give it a process group of its own,
// also in the foreground of a terminal.
const (
	// Configured is what the flags of the run ask for.
	Configured Streams = iota
	// Held holds both outputs back until Settle: a copy of a hedged attempt.
	Held
	// Aside gives no input and sends standard output to standard error: a hook. It gets
	// no signals of the program.
	Aside
	// Instead gives no input and the program's own standard output: a fallback. It gets no
	// signals of the program.
	Instead
)

// Result is the result of one attempt, without a judgement.
type Result struct {
	// ExitCode is what a shell's $? would show: the command's own code, 128+n if signal n
	// ended it, 126 or 127 if it could not be started, and 124 if TimedOut or
	// DeadlinePassed is set.
	ExitCode int
	// Signal is the signal that ended the command, "" if it exited.
	Signal Signal
	// TimedOut is set if Spec.Timeout or Spec.IdleTimeout passed before the attempt ended,
	// for any exit code; Idle also, if it was the latter. Limit is the one that passed.
	TimedOut, Idle bool
	Limit          time.Duration
	// DeadlinePassed is set if Spec.Deadline passed before the attempt ended, NotRun also,
	// if it passed before the command could be started.
	DeadlinePassed, NotRun bool
	// Cancelled is the signal that asked the program to end during the attempt, "" for
	// none.
	Cancelled Signal
	// ReaderGone is set if the attempt died by SIGPIPE, or had to be ended, since the
	// program's own standard output has no reader left.
	ReaderGone bool
	// StartErr says why the command could not be started (ExitCode 126 or 127).
	StartErr error
	// Err says that the program itself failed (no process, pipe or spool could be created,
	// the disk is full). It ends the run with code 125.
	Err error
	// Note is one line of detail on a failure for a person, such as a probe's "connection
	// refused"; "" if the exit code says everything.
	Note string
	// Rehearsed is set if nothing was run.
	Rehearsed bool
	// Duration is the time from the start to the end of the attempt.
	Duration time.Duration
}
