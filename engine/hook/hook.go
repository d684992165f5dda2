// Package hook runs shell strings around the attempts of a run: before a retry, after the
// end, and in place of giving up.
//
// A hook is started like an attempt, in a process group of its own; at its limit, and when
// it is cancelled, its whole tree is killed. It gets all information through its
// environment: no shell string is built from data, so that an error text cannot become a
// command. The engine decides when a hook runs and what its result means for the run.
package hook

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/text"
	"github.com/retrysh/retry/exitcodes"
)

// Name is the name of a hook in events and in RETRY_HOOK.
type Name string

// The hooks.
const (
	BeforeRetry  Name = "before-retry"
	AfterSuccess Name = "after-success"
	AfterGiveUp  Name = "after-give-up"
	Fallback     Name = "fallback"
)

// Set are the shell strings of a run, "" for none.
type Set struct {
	BeforeRetry               []string
	AfterSuccess, AfterGiveUp string
	// RetryWith replaces the command from attempt 2 on, Fallback runs in place of giving up.
	RetryWith, Fallback string
	// Limit is for each hook and the fallback; 0 is none.
	Limit time.Duration
	// Keep puts the last part of an output into a file, and returns its path and a function
	// that removes it.
	Keep func(data []byte) (path string, remove func(), err error)
}

// Shell are the words that run a string: "$@" in it are the words of argv (not on
// Windows), and the shell's messages call it retry.
func Shell(script string, argv []string) []string {
	if runtime.GOOS == "windows" {
		argv = nil
	}
	return text.Shell(script, argv)
}

// Done is the result of a hook.
type Done struct {
	// Code is its exit code, 124 if its limit passed, 128+n if a signal ended it.
	Code int
	// Failure says in one line what went wrong, "" for nothing.
	Failure string
	// Asked says that it exited by itself, so that Code is its own.
	Asked    bool
	Duration time.Duration
	// ReaderGone says that a fallback's output has no reader left.
	ReaderGone bool
}

// errLimit is the cause of a context whose limit has passed.
var errLimit = errors.New("timed out")

// Run runs one hook to its end. ctx ends it early.
func (s *Set) Run(ctx context.Context, starter attempt.Starter, name Name, script string, argv, env []string) Done {
	spec := attempt.Spec{Argv: Shell(script, argv), Env: env, Streams: attempt.Aside, KillAtOnce: true}
	if name == Fallback {
		spec.Streams = attempt.Instead
	}
	if s.Limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, s.Limit, errLimit)
		defer cancel()
	}
	handle := starter.Start(ctx, spec)
	r := handle.Wait()
	if err := handle.Settle(true); err != nil && r.Err == nil {
		r.ReaderGone = r.ReaderGone || errors.Is(err, attempt.ErrReaderGone)
		if !r.ReaderGone {
			r.Err = err
		}
	}
	return s.judge(name, r)
}

// EndNow is the exit code by which --before-retry ends the run: EX_TEMPFAIL of sysexits.h,
// as for borgmatic's hooks.
const EndNow = 75

// judge makes a Done of a result.
func (s *Set) judge(name Name, r attempt.Result) Done {
	d := Done{Code: r.ExitCode, Duration: r.Duration, ReaderGone: r.ReaderGone}
	switch {
	case errors.Is(r.Err, context.DeadlineExceeded):
		d.Code, d.Failure = exitcodes.Timeout, "ended by the deadline"
	case errors.Is(r.Err, context.Canceled):
		d.Failure = "ended by a signal"
	case errors.Is(r.Err, errLimit):
		d.Code, d.Failure = exitcodes.Timeout, fmt.Sprintf("timed out after %v (--hook-timeout)", s.Limit)
	case r.Err != nil:
		d.Failure = r.Err.Error()
		if d.Code == exitcodes.OK {
			d.Code = exitcodes.Failure
		}
	case r.StartErr != nil:
		d.Failure = r.StartErr.Error()
	case r.Signal != "":
		d.Failure = "killed by " + string(r.Signal)
	default:
		d.Asked = true
		if r.ExitCode != exitcodes.OK && !(name == BeforeRetry && r.ExitCode == EndNow) {
			d.Failure = fmt.Sprintf("exit %d", r.ExitCode)
		}
	}
	return d
}

// Variables are those that only hooks see.
var Variables = []string{
	"RETRY_HOOK", "RETRY_RESULT_EXIT", "RETRY_RESULT_SIGNAL", "RETRY_RESULT_REASON", "RETRY_RESULT_VERDICT", "RETRY_RESULT_RULE", "RETRY_RESULT_OUTCOME",
	"RETRY_NEXT_DELAY_MS", "RETRY_TAIL_STDOUT", "RETRY_TAIL_STDERR",
}

// Tails puts the ends of both outputs into files; nil is an output that was not captured. It
// returns the variables that name the files, and a function that removes them. A file that
// cannot be written is not named.
func (s *Set) Tails(stdout, stderr []byte) (env []string, remove func()) {
	var removes []func()
	variables := []string{"RETRY_TAIL_STDOUT=", "RETRY_TAIL_STDERR="}
	for i, data := range [][]byte{stdout, stderr} {
		if data == nil || s.Keep == nil {
			continue
		}
		if path, remove, err := s.Keep(data); err == nil {
			env, removes = append(env, variables[i]+path), append(removes, remove)
		}
	}
	return env, func() {
		for _, remove := range removes {
			remove()
		}
	}
}
