package engine

// This file runs the commands around the attempts (docs/hooks.md): hooks before a retry
// and after the end, and the fallback.

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/retrysh/retry/engine/classify/command"
	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/hook"
	"github.com/retrysh/retry/exitcodes"
)

// beforeRetry runs the hooks of --before-retry. It returns how the run ends, nil if it
// goes on.
func (e *Engine) beforeRetry(ctx context.Context) *Decision {
	if len(e.Hooks.BeforeRetry) == 0 {
		return nil
	}
	use := e.rotation.Next()
	next := time.Duration(0) // after the attempt to come, if that fails
	if p := &e.Policy; p.Attempts == 0 || e.state.Attempt < p.Attempts {
		next = p.Schedule.Plain(e.state.Step, e.state.Previous)
	}
	env := e.environ(&e.last, e.attempts+1, use.Variables(), e.deadline, e.Identity.Trace.Span)
	env = append(env, e.hookVariables(&e.last.decision, "", next)...)
	for _, script := range e.Hooks.BeforeRetry {
		var done hook.Done
		run := func(ctx context.Context) { done = e.hook(ctx, hook.BeforeRetry, script, use.Words(e.Argv), env) }
		signal := e.during(ctx, run)
		switch {
		case signal != "":
			return CancelledBy(signal)
		case !e.deadline.IsZero() && !e.now().Before(e.deadline):
			return e.tooLate("the deadline passed during --before-retry")
		case done.Asked && done.Code == hook.EndNow:
			return e.giveUp(event.Stopped, "--before-retry asked for the end (exit 75)")
		}
	}
	return nil
}

// givenUp reports whether the run ends without success and was not cancelled.
func (d *Decision) givenUp() bool {
	switch d.Outcome {
	case event.Exhausted, event.Stopped, event.Deadline, event.Refused:
		return true
	}
	return false
}

// conclude runs what follows the last attempt. It returns how the run ends then, and the
// exit code of the fallback, nil where none ran. A run that was given up is kept before
// --after-give-up, or after a fallback that failed.
func (e *Engine) conclude(ctx context.Context, d Decision) (Decision, *int) {
	var after, fallback string
	name := hook.AfterGiveUp
	switch {
	case d.Outcome == event.Succeeded:
		name, after = hook.AfterSuccess, e.Hooks.AfterSuccess
	case d.givenUp():
		after, fallback = e.Hooks.AfterGiveUp, e.Hooks.Fallback
	}
	if fallback == "" {
		e.keep(ctx, &d)
	}
	if after == "" && fallback == "" || d.Outcome == event.Cancelled {
		return d, nil
	}
	// The deadline does not limit these hooks.
	env := e.environ(&e.before, e.attempts, e.last.use.Variables(), time.Time{}, e.Identity.Trace.Span)
	env = append(env, e.hookVariables(&d, d.Outcome, 0)...)
	words := e.last.use.Words(e.Argv)
	var done hook.Done
	for _, h := range []struct {
		name   hook.Name
		script string
	}{{name, after}, {hook.Fallback, fallback}} {
		if h.script == "" {
			continue
		}
		if signal := e.interruptible(ctx, func(ctx context.Context) { done = e.hook(ctx, h.name, h.script, words, env) }); signal != "" {
			end := CancelledBy(signal)
			end.Letter = d.Letter
			return *end, nil
		}
	}
	if fallback == "" {
		return d, nil
	}
	if done.Code != exitcodes.OK {
		e.keep(ctx, &d)
	}
	switch {
	case d.Outcome == event.Cancelled:
	case done.ReaderGone:
		d.ReaderGone, d.End = true, endBy("SIGPIPE")
	default:
		d.End = End{Code: done.Code}
	}
	return d, &done.Code
}

// hook runs one hook and emits its events.
func (e *Engine) hook(ctx context.Context, name hook.Name, script string, words, env []string) hook.Done {
	tails, remove := e.Hooks.Tails(e.last.evidence.Stdout, e.last.evidence.Stderr)
	defer remove()
	e.emit(&event.HookStarted{Hook: string(name)})
	done := e.Hooks.Run(ctx, e.Starter, name, script, words, slices.Concat(env, tails, []string{"RETRY_HOOK=" + string(name)}))
	e.emit(&event.HookFinished{Hook: string(name), ExitCode: done.Code, Duration: done.Duration, Reason: done.Failure})
	return done
}

// hookVariables describe the last attempt, and how the run ends, for hooks.
func (e *Engine) hookVariables(d *Decision, outcome event.Outcome, next time.Duration) []string {
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
// failure is recognised: the command's own where the shell string begins with them.
func (e *Engine) retryWith(words []string) (run, judged []string) {
	run = hook.Shell(e.Hooks.RetryWith, words)
	if name := command.Find(run); name == "$@" {
		return run, words
	}
	return run, run
}
