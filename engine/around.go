package engine

// This file runs the commands around the attempts (docs/hooks.md):
// hooks before a retry and after the end, and the fallback.

import (
	"context"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/classify/command"
	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/hook"
	"github.com/retrysh/retry/engine/rotate"
	"github.com/retrysh/retry/exitcodes"
)

// lastResult is the last attempt that has ended, as hooks and letters see it.
type lastResult struct {
	before   lastAttempt // the attempt before it
	use      rotate.Use
	result   attempt.Result
	evidence Evidence
}

// beforeAttempt does what comes between the wait and Gate.Admit: nothing before
// attempt 1, for which prepare did it. Where the run does not go on, the decision
// says how it ends; what Permit took is given back then.
func (e *Engine) beforeAttempt(ctx context.Context, last *lastAttempt) *Decision {
	if e.attempts == 0 {
		return nil
	}
	if end := e.untilReady(ctx, last); end != nil {
		return end
	}
	return e.beforeRetry(ctx, last)
}

// beforeRetry runs the hooks of --before-retry.
func (e *Engine) beforeRetry(ctx context.Context, last *lastAttempt) *Decision {
	if len(e.Hooks.BeforeRetry) == 0 {
		return nil
	}
	use := e.rotation.nextValues()
	info := e.hookInfo(&last.decision)
	info.Outcome = ""
	if p := &e.Policy; p.Attempts == 0 || e.state.Attempt < p.Attempts {
		info.NextDelay = p.Schedule.Plain(e.state.Step, e.state.Previous)
	}
	env := e.environ(last, e.attempts+1, use.Variables(), e.deadline, e.Identity.Trace.Span)
	for _, script := range e.Hooks.BeforeRetry {
		var done hook.Done
		run := func(ctx context.Context) { done = e.hook(ctx, hook.BeforeRetry, script, use.Words(e.Argv), env, info) }
		if signal := e.during(ctx, run); signal != "" {
			return e.withdraw(CancelledBy(signal))
		}
		switch {
		case !e.deadline.IsZero() && !e.now().Before(e.deadline):
			d := e.tooLate(last.decision, last.result)
			if d.Outcome == event.Deadline {
				d.Why = "the deadline passed during --before-retry"
			}
			return e.withdraw(d)
		case done.Asked && done.Code == hook.EndNow:
			d := last.decision
			d.Accepted = false
			giveUp(&d, event.Stopped, "--before-retry asked for the end (exit 75)")
			d.End = end(last.result, d.Outcome)
			return e.withdraw(d)
		}
	}
	return nil
}

// conclude runs what follows the last attempt, and returns how the run ends
// then, with the exit code of the fallback, nil where none ran. A run that was
// given up is kept before --after-give-up, or after a fallback that failed.
func (e *Engine) conclude(ctx context.Context, d Decision) (Decision, *int) {
	var name hook.Name
	var script string
	fallback := false
	switch h := &e.Hooks; d.Outcome {
	case event.Succeeded:
		name, script = hook.AfterSuccess, h.AfterSuccess
	case event.Exhausted, event.Stopped, event.Deadline, event.Refused:
		name, script, fallback = hook.AfterGiveUp, h.AfterGiveUp, h.Fallback != ""
	}
	if !fallback {
		e.keep(ctx, &d)
	}
	if script == "" && !fallback || d.Outcome == event.Cancelled {
		return d, nil
	}
	// They run after the deadline as well, which therefore does not limit them.
	env := e.environ(&e.lastResult.before, e.attempts, e.lastResult.use.Variables(), time.Time{}, e.Identity.Trace.Span)
	info := e.hookInfo(&d)
	cancelled := func(signal attempt.Signal) Decision {
		end := CancelledBy(signal)
		end.Letter = d.Letter
		return end
	}
	if script != "" {
		if _, signal := e.lastHook(ctx, name, script, env, info); signal != "" {
			return cancelled(signal), nil
		}
	}
	if !fallback {
		return d, nil
	}
	done, signal := e.lastHook(ctx, hook.Fallback, e.Hooks.Fallback, env, info)
	if signal != "" {
		return cancelled(signal), nil
	}
	if done.Code != exitcodes.OK {
		e.keep(ctx, &d)
	}
	switch {
	case d.Outcome == event.Cancelled:
	case done.ReaderGone:
		d.ReaderGone = true
		d.End = endBy("SIGPIPE")
	default:
		d.End = End{Code: done.Code}
	}
	return d, &done.Code
}

// lastHook runs a hook after the last attempt. A signal ends it.
func (e *Engine) lastHook(ctx context.Context, name hook.Name, script string, env []string, info hook.Info) (done hook.Done, signal attempt.Signal) {
	words := e.lastResult.use.Words(e.Argv)
	signal = e.interruptible(ctx, func(ctx context.Context) { done = e.hook(ctx, name, script, words, env, info) })
	return done, signal
}

// hook runs one hook and emits its events.
func (e *Engine) hook(ctx context.Context, name hook.Name, script string, words, env []string, info hook.Info) hook.Done {
	own, remove := e.Hooks.Environ(name, &info)
	defer remove()
	e.emit(&event.HookStarted{Hook: string(name)})
	done := e.Hooks.Run(ctx, e.Starter, name, script, words, append(env[:len(env):len(env)], own...))
	e.emit(&event.HookFinished{Hook: string(name), ExitCode: done.Code, Duration: done.Duration, Reason: done.Failure})
	return done
}

// hookInfo describes the last attempt, and how the run ends, for hooks.
func (e *Engine) hookInfo(d *Decision) hook.Info {
	r := &e.lastResult.result
	t := hook.Info{
		Exit: r.ExitCode, Signal: string(r.Signal), Reason: oneLine(d.Reason), Verdict: string(d.Verdict), Rule: oneLine(d.Rule), Outcome: string(d.Outcome),
		Stdout: e.lastResult.evidence.Stdout, Stderr: e.lastResult.evidence.Stderr,
	}
	if e.attempts == 0 {
		t.Exit = d.End.Code
	}
	return t
}

// retryWith are the words that are run in place of the command, and those by
// which a failure is recognised: the command's own where the shell string begins
// with them.
func (e *Engine) retryWith(words []string) (run, judged []string) {
	run = hook.Shell(e.Hooks.RetryWith, words)
	if name, _ := command.Find(run); name == "$@" {
		return run, words
	}
	return run, run
}
