// Package attempt holds the nouns that every other room shares: what to run
// in one attempt, and what came of it.
//
// It imports no other room and touches neither the system nor the clock, so
// that the pure rooms (classify, backoff, the decision) and the edge rooms
// (proc, probe) can meet here without knowing of each other. It will never
// judge a result; that is the engine's work.
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
	// Start starts one attempt. What could not be started is an Attempt too,
	// whose result says why; so is a copy of an attempt (Spec.Copy above 0) where
	// a signal has asked for the end since the first copy started: it is
	// cancelled by that signal. The attempt is ended early when spec's limits
	// pass or ctx ends; in the latter case Result.Err is the cause of ctx, unless
	// that is ErrLost.
	Start(ctx context.Context, spec Spec) Attempt
}

// ErrLost is the cause of a context that ends since another copy of the attempt
// has decided. The attempt is ended as by its timeout, and its result is what
// the command made of that: neither Err nor TimedOut is set.
var ErrLost = errors.New("another copy of the attempt has decided")

// Attempt is a handle to one attempt under way.
type Attempt interface {
	// Wait returns when the attempt has ended. It is called once.
	Wait() Result
	// Settle is called once, after Wait. It sends output that was held back to
	// where it belongs: released says that the run ends as a success. An error
	// that is ErrReaderGone ends the run as SIGPIPE would, any other as a
	// failure of the program itself.
	Settle(released bool) error
	// Drop is called in place of Settle where the output is not wanted: held
	// output is dropped. It is Settle(false) otherwise.
	Drop()
}

// Call is an attempt that does all its work in Wait and holds nothing back.
type Call func() Result

// Wait does the work.
func (f Call) Wait() Result { return f() }

// Settle has nothing to do.
func (Call) Settle(bool) error { return nil }

// Drop has nothing to do either.
func (Call) Drop() {}

// ErrReaderGone says that the program's own standard output has no reader
// left, so that the program should end as SIGPIPE would have it.
var ErrReaderGone = errors.New("standard output has no reader left")

// Spec says what to run in one attempt and within which limits.
type Spec struct {
	// Number counts attempts from 1, Copy the copies of a hedged one from 0.
	Number, Copy int
	// Argv is the command and its arguments, never empty for a process.
	Argv []string
	// Env is the command's whole environment, each entry NAME=VALUE.
	Env []string
	// Timeout limits this attempt, IdleTimeout the time in which it writes
	// nothing to either stream; 0 is no limit.
	Timeout, IdleTimeout time.Duration
	// Deadline is when everything ends, read on the monotonic clock; the zero
	// time is none.
	Deadline time.Time
	// Stdout and Stderr receive a copy of what the attempt writes, in order
	// and before Run returns. nil means that the stream is not read, and the
	// attempt may have the program's own descriptor for it.
	Stdout, Stderr io.Writer
	// Alike says that Stdout and Stderr need not be distinguished: where both outputs
	// lead to the same file, each may receive all that is written to either.
	Alike bool
	// Streams says where the streams lead.
	Streams Streams
	// KillAtOnce says that the end of the context kills the whole tree, without
	// the time that an attempt has to end by itself.
	KillAtOnce bool
	// Inherit are descriptors that the command has beside its streams, under
	// their own numbers. They are close-on-exec in the program.
	Inherit []uintptr
}

// Streams says where the standard streams of a process lead, and whose the
// signals are that reach the program while it runs.
type Streams int

// The ways to connect a process. All but Configured give it a process group of
// its own, also in the foreground of a terminal.
const (
	// Configured is what the flags of the run ask for.
	Configured Streams = iota
	// Held holds both outputs back until Settle: a copy of a hedged attempt.
	Held
	// Aside gives no input and sends standard output to standard error: a hook.
	// Signals that reach the program are not the process's.
	Aside
	// Instead gives no input and the program's own standard output: a fallback.
	// Signals that reach the program are not the process's.
	Instead
)

// Result says what came of one attempt, without judging it.
type Result struct {
	// ExitCode is what a shell's $? would show: the command's own code, 128+n
	// where signal n ended it, 126 or 127 where it could not be started, and
	// 124 where TimedOut or DeadlinePassed is set.
	ExitCode int
	// Signal is the signal that ended the command, "" if it exited.
	Signal Signal
	// TimedOut is set when Spec.Timeout or Spec.IdleTimeout passed before the
	// attempt ended, whatever the command then exited with; Idle too where it
	// was the latter. Limit is the one that passed.
	TimedOut, Idle bool
	Limit          time.Duration
	// DeadlinePassed is set when Spec.Deadline passed before the attempt ended,
	// NotRun too when it had passed before the command could be started.
	DeadlinePassed, NotRun bool
	// Cancelled is the signal by which the program was asked to end before the
	// attempt had ended, "" if it was not.
	Cancelled Signal
	// ReaderGone is set when the attempt died by SIGPIPE, or had to be ended,
	// because the program's own standard output has no reader left.
	ReaderGone bool
	// StartErr says why the command could not be started (ExitCode 126 or 127).
	StartErr error
	// Err says that the program itself failed around this attempt (no process,
	// pipe or spool could be created, a full disk under its own writing). It ends the
	// run with code 125.
	Err error
	// Note is one line of detail on a failure for a person, such as a probe's
	// "connection refused"; "" where the exit code says all there is.
	Note string
	// Rehearsed is set when nothing was run and the result is pretended.
	Rehearsed bool
	// Duration is the time from the start to the end of the attempt.
	Duration time.Duration
}
