// Package attempt holds the nouns that every other room shares: what to run
// in one attempt, and what came of it.
//
// It imports no other room and touches neither the system nor the clock, so
// that the pure rooms (classify, backoff, the decision) and the edge rooms
// (proc, probe) can meet here without knowing of each other. It will never
// judge a result; that is the engine's work.
package attempt

import (
	"errors"
	"io"
	"time"
)

// ErrReaderGone says that the program's own standard output has no reader
// left, so that the program should end as SIGPIPE would have it.
var ErrReaderGone = errors.New("standard output has no reader left")

// Spec says what to run in one attempt and within which limits.
type Spec struct {
	// Number counts attempts from 1.
	Number int
	// Argv is the command and its arguments, never empty for a process.
	Argv []string
	// Env is the command's whole environment, each entry NAME=VALUE.
	Env []string
	// Timeout limits this attempt; 0 is no limit.
	Timeout time.Duration
	// Deadline is when everything ends, read on the monotonic clock; the zero
	// time is none.
	Deadline time.Time
	// Stdout and Stderr receive a copy of what the attempt writes, in order
	// and before Run returns. nil means that nobody reads the stream, and the
	// attempt may have the program's own descriptor for it.
	Stdout, Stderr io.Writer
}

// Result says what came of one attempt, without judging it.
type Result struct {
	// ExitCode is what a shell's $? would show: the command's own code, 128+n
	// where signal n ended it, 126 or 127 where it could not be started, and
	// 124 where TimedOut or DeadlinePassed is set.
	ExitCode int
	// Signal is the signal that ended the command, "" if it exited.
	Signal Signal
	// TimedOut is set when Spec.Timeout passed before the attempt ended,
	// whatever the command then exited with.
	TimedOut bool
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
	// pipe or spool to be had, a full disk under its own writing). It ends the
	// run with code 125.
	Err error
	// Note is one line of detail on a failure for a person, such as a probe's
	// "connection refused"; "" where the exit code says all there is.
	Note string
	// Duration is the time from the start to the end of the attempt.
	Duration time.Duration
}
