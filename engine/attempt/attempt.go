// Package attempt defines what one attempt runs, and its result. Pure packages (classify,
// the decision) and those that touch the system (proc, probe) share its types.
package attempt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// Starter starts attempts, any number at a time. A signal that reaches the
// program goes to each of them, once.
type Starter interface {
	// Start starts one attempt; if that fails, Wait returns why. A copy (Spec.Copy above 0)
	// is cancelled by a signal since the start of the first copy that asks for the end.
	// The attempt is ended when a limit of spec passes or ctx ends; Result.Err is then the
	// cause of ctx, unless that is ErrLost.
	Start(ctx context.Context, spec Spec) Attempt
}

// Pretender is a Starter some of whose attempts are not run.
type Pretender interface {
	Starter
	// Prepare decides whether attempt n is not run, and returns that. It is called once for each
	// attempt, before its Start. The attempt has no copies: --rehearse excludes --hedge.
	Prepare(n int) (pretends bool)
}

// ErrLost is the cause of a context that ends an attempt as its timeout would, but with
// neither Err nor TimedOut set.
var ErrLost = errors.New("another copy of the attempt has decided")

// ErrSlotLost is ErrLost for an attempt that has lost the slot that it holds.
var ErrSlotLost = fmt.Errorf("the slot of the attempt is lost: %w", ErrLost)

// Attempt is one attempt that was started.
type Attempt interface {
	// Wait returns when the attempt has ended. It is called once.
	Wait() Result
	// Settle is called once, after Wait. It writes output that was held back to its
	// destination: released says that the run ends as a success. An error other than
	// ErrReaderGone is a failure of the program itself.
	Settle(released bool) error
	// Drop is called in place of Settle: it drops output that was held back, and is
	// Settle(false) otherwise.
	Drop()
}

// Call is an attempt that does all its work in Wait and holds nothing back.
type Call func() Result

func (f Call) Wait() Result    { return f() }
func (Call) Settle(bool) error { return nil }
func (Call) Drop()             {}

// ErrReaderGone says that the program's own standard output has no reader left, so the
// program ends as by SIGPIPE.
var ErrReaderGone = errors.New("standard output has no reader left")

// Kept is the output of an attempt that is written only if the run gives up. One of the two
// methods is called, once.
type Kept interface {
	Release() error
	Drop()
}

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
	// Wait returns. With nil the attempt may have the program's own descriptor.
	Stdout, Stderr io.Writer
	// Alike says that each may receive what is written to either, if both outputs lead
	// to the same file.
	Alike   bool
	Streams Streams
	// KillAtOnce says that the end of the context kills the whole tree without a grace.
	KillAtOnce bool
	// Inherit are descriptors that the command also has, under the same numbers. They are
	// close-on-exec in the program.
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
	// ExitCode is the command's own, 128+n if signal n ended it, 126 or 127 if it could not
	// be started, and 124 if TimedOut or DeadlinePassed is set.
	ExitCode int
	// Signal is the signal that ended the command, "" if it exited.
	Signal Signal
	// TimedOut is set if Spec.Timeout or Spec.IdleTimeout passed before the attempt ended,
	// Idle also, if it was the latter. Limit is the one that passed.
	TimedOut, Idle bool
	Limit          time.Duration
	// DeadlinePassed is set if Spec.Deadline passed before the attempt ended, NotRun also,
	// if it passed before the command could be started.
	DeadlinePassed, NotRun bool
	// SlotLost is set if the attempt was ended since its slot was lost.
	SlotLost bool
	// Cancelled is the signal that asked the program to end during the attempt, "" for
	// none. CancelledAgain is set if another one came after it.
	Cancelled      Signal
	CancelledAgain bool
	// ReaderGone is set if the attempt has ended, or was ended, since the program's own
	// standard output has no reader left.
	ReaderGone bool
	// StartErr says why the command could not be started (ExitCode 126 or 127), Err that
	// the program itself failed (no process, pipe or spool, the disk is full). Err ends the
	// run with code 125.
	StartErr, Err error
	// OOMKills is how many processes of the control group the kernel has killed for want of
	// memory, known only after a KILL that the program has not sent.
	OOMKills int
	// Note is a line on a failure for a person, such as a probe's "connection refused"; ""
	// if the exit code says everything.
	Note      string
	Rehearsed bool // nothing was run
	Duration  time.Duration
}
