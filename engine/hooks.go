package engine

// This file runs the commands around the attempts (docs/hooks.md): hooks before a retry
// and after the end, and the fallback. Each is a shell string, started like an attempt in a
// process group of its own. It gets all information through its environment: no shell
// string is built from data, so that an error text cannot become a command.

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/classify/command"
	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/text"
	"github.com/retrysh/retry/exitcodes"
)

// Hooks are the shell strings of a run, "" for none.
type Hooks struct {
	BeforeRetry               []string
	AfterSuccess, AfterGiveUp string
	// RetryWith replaces the command from attempt 2 on, Fallback runs in place of giving up.
	RetryWith, Fallback string
	// Limit is for each hook and the fallback, whose whole tree is killed then; 0 is none.
	Limit time.Duration
	// Tails, if not nil, puts the ends of both outputs into files; nil is an output that was
	// not captured. It returns the variables that name the files, and a function that removes
	// them.
	Tails func(stdout, stderr []byte) (env []string, remove func())
}

// The names of hooks in events and in RETRY_HOOK.
const (
	beforeRetry  = "before-retry"
	afterSuccess = "after-success"
	afterGiveUp  = "after-give-up"
	fallback     = "fallback"
)

// endNow is the exit code by which --before-retry ends the run: EX_TEMPFAIL of sysexits.h,
// as for borgmatic's hooks.
const endNow = 75

// beforeRetry runs the hooks of --before-retry. It returns how the run ends, nil if it
// goes on.
func (e *execution) beforeRetry(ctx context.Context) *Decision {
	if len(e.Hooks.BeforeRetry) == 0 {
		return nil
	}
	use := e.rotation.Next()
	next := time.Duration(0) // after the attempt to come, if that fails
	if p := &e.Policy; p.Attempts == 0 || e.state.Attempt < p.Attempts {
		next = p.Schedule.Plain(e.state.Step, e.state.Previous)
	}
	env := e.environ(&e.last, e.attempts+1, use.Variables(), e.state.Deadline, e.Identity.Trace.Span)
	env = append(env, e.hookVariables(&e.last.decision, "", next)...)
	for _, script := range e.Hooks.BeforeRetry {
		var r attempt.Result
		end := e.during(ctx, e.state.Deadline, func(ctx context.Context) {
			r = e.hook(ctx, beforeRetry, script, use.Words(e.Argv), env)
		})
		switch {
		case end != nil:
			return end
		case !e.state.Deadline.IsZero() && !time.Now().Before(e.state.Deadline):
			return e.tooLate("the deadline passed during --before-retry")
		case r.Err == nil && r.ExitCode == endNow:
			return e.giveUp(event.Stopped, "--before-retry asked for the end (exit 75)")
		}
	}
	return nil
}

// givenUp reports whether the run ends without success and was not cancelled.
func (d *Decision) givenUp() bool {
	return slices.Contains([]event.Outcome{event.Exhausted, event.Stopped, event.Deadline, event.Refused}, d.Outcome)
}

// conclude runs what follows the last attempt, which may change how the run ends. It
// returns the exit code of the fallback, nil if none ran. A run that was given up is
// kept before --after-give-up, or after a fallback that failed.
func (e *execution) conclude(ctx context.Context, d *Decision) *int {
	h := &e.Hooks
	switch {
	case d.Outcome == event.Succeeded:
		e.afterLast(ctx, d, afterSuccess, h.AfterSuccess)
	case d.givenUp() && h.Fallback == "":
		e.keep(ctx, d)
		e.afterLast(ctx, d, afterGiveUp, h.AfterGiveUp)
	case d.givenUp():
		e.afterLast(ctx, d, afterGiveUp, h.AfterGiveUp)
		return e.fallBack(ctx, d)
	}
	return nil
}

// fallBack runs the fallback, whose end becomes that of the run. It returns its exit code, nil if
// it did not run to its end.
func (e *execution) fallBack(ctx context.Context, d *Decision) *int {
	r := e.afterLast(ctx, d, fallback, e.Hooks.Fallback)
	if r == nil {
		return nil
	}
	if r.ExitCode != exitcodes.OK {
		e.keep(ctx, d)
	}
	switch {
	case d.Outcome == event.Cancelled: // while it was kept
	case r.ReaderGone:
		d.ReaderGone, d.End = true, endBy("SIGPIPE")
	default:
		d.End = End{Code: r.ExitCode}
	}
	return &r.ExitCode
}

// afterLast runs a hook or the fallback after the last attempt; the deadline does not limit it. It
// returns the result, nil if script is "" or a signal has ended the run, before or meanwhile.
func (e *execution) afterLast(ctx context.Context, d *Decision, name, script string) *attempt.Result {
	if script == "" || d.Outcome == event.Cancelled {
		return nil
	}
	env := e.environ(&e.before, e.attempts, e.last.use.Variables(), time.Time{}, e.Identity.Trace.Span)
	env = append(env, e.hookVariables(d, d.Outcome, 0)...)
	var r attempt.Result
	cancelled := e.during(ctx, time.Time{}, func(ctx context.Context) {
		r = e.hook(ctx, name, script, e.last.use.Words(e.Argv), env)
	})
	if cancelled != nil {
		d.replace(cancelled)
		return nil
	}
	return &r
}

// replace has a run end by a signal, if there was one, after it became a letter.
func (d *Decision) replace(cancelled *Decision) {
	if cancelled != nil {
		cancelled.Letter = d.Letter
		*d = *cancelled
	}
}

// hook runs one hook to its end and emits its events. The note of the result says in one
// line what went wrong, "" for nothing.
func (e *execution) hook(ctx context.Context, name, script string, words, env []string) attempt.Result {
	h := &e.Hooks
	var tails []string
	if h.Tails != nil {
		var remove func()
		tails, remove = h.Tails(e.last.evidence.Stdout, e.last.evidence.Stderr)
		defer remove()
	}
	e.emit(&event.HookStarted{Hook: name})
	spec := attempt.Spec{
		Argv: shell(script, words), Env: slices.Concat(env, tails, []string{"RETRY_HOOK=" + name}),
		Streams: attempt.Aside, KillAtOnce: true,
	}
	if name == fallback {
		spec.Streams = attempt.Instead
	}
	if h.Limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, h.Limit, errLimit)
		defer cancel()
	}
	handle := e.Starter.Start(ctx, spec)
	r := handle.Wait()
	_ = handle.Settle(true) // nothing of a hook is held back
	h.judge(name, &r)
	e.emit(&event.HookFinished{Hook: name, ExitCode: r.ExitCode, Duration: r.Duration, Reason: r.Note})
	return r
}

// errLimit is the cause of a context whose limit has passed.
var errLimit = errors.New("timed out")

// judge sets the note of a result, and the code: to 124 if a limit has passed, to that of a
// failure if an error left it 0.
func (h *Hooks) judge(name string, r *attempt.Result) {
	r.Note = ""
	switch {
	case errors.Is(r.Err, context.DeadlineExceeded):
		r.ExitCode, r.Note = exitcodes.Timeout, "ended by the deadline"
	case errors.Is(r.Err, context.Canceled):
		r.Note = "ended by a signal"
	case errors.Is(r.Err, errLimit):
		r.ExitCode, r.Note = exitcodes.Timeout, fmt.Sprintf("timed out after %v (--hook-timeout)", h.Limit)
	case r.Err != nil:
		r.Note = r.Err.Error()
		if r.ExitCode == exitcodes.OK {
			r.ExitCode = exitcodes.Failure
		}
	case r.ExitCode != exitcodes.OK && !(name == beforeRetry && r.ExitCode == endNow):
		r.Note = describe(*r)
	}
}

// hookVariables describe the last attempt, and how the run ends, for hooks.
func (e *execution) hookVariables(d *Decision, outcome event.Outcome, next time.Duration) []string {
	r := &e.last.result
	exit := r.ExitCode
	if e.attempts == 0 {
		exit = d.End.Code
	}
	return []string{
		"RETRY_RESULT_EXIT=" + strconv.Itoa(exit),
		"RETRY_RESULT_SIGNAL=" + string(r.Signal),
		"RETRY_RESULT_REASON=" + oneLine(d.Reason),
		"RETRY_RESULT_VERDICT=" + string(d.Verdict),
		"RETRY_RESULT_RULE=" + oneLine(d.Rule),
		"RETRY_RESULT_OUTCOME=" + string(outcome),
		"RETRY_NEXT_DELAY_MS=" + strconv.FormatInt(next.Milliseconds(), 10),
	}
}

// retryWith are the words that are run in place of the command, and those by which a
// failure is recognised: the command's own if the shell string begins with "$@".
func (e *execution) retryWith(words []string) (run, judged []string) {
	run = shell(e.Hooks.RetryWith, words)
	if name := command.Find(run); name == "$@" {
		return run, words
	}
	return run, run
}

// shell are the words that run a string: "$@" in it are the words of argv (not on
// Windows), and the shell's messages call it retry.
func shell(script string, argv []string) []string {
	if runtime.GOOS == "windows" {
		argv = nil
	}
	return text.Shell(script, argv)
}
