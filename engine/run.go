package engine

// This file is the loop: attempt, decide, tell, wait. It alone reads the clock
// and sleeps.

import (
	"context"
	"errors"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/backoff"
	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/exitcodes"
)

// Runner runs one attempt.
type Runner interface {
	// Run returns when the attempt has ended. It ends the attempt early when
	// spec's limits pass or ctx is done.
	Run(ctx context.Context, spec attempt.Spec) attempt.Result
	// Settle is called once after each Run. It sends output that was held back
	// to where it belongs: released says that the program ends with 0. An
	// error that is attempt.ErrReaderGone ends the run as SIGPIPE would, any
	// other as a failure of the program itself.
	Settle(released bool) error
}

// Sink is told what happens, in order.
type Sink interface {
	Emit(event.Event)
}

// Signals is how a person, or an init system, reaches the program between
// attempts.
type Signals struct {
	// Cancelled delivers the signal that asks the program to end.
	Cancelled <-chan attempt.Signal
	// Woken ends a wait early.
	Woken <-chan struct{}
	// Catch, if not nil, is called before the channels are looked at; they need
	// not deliver sooner.
	Catch func()
}

// Engine is one run of a command under a policy.
type Engine struct {
	Policy   Policy
	Argv     []string
	Identity Identity
	Runner   Runner
	Sink     Sink
	Signals  Signals
	// Expires is the deadline of the retry around this one, read on the
	// monotonic clock: nothing goes on past it. The zero time is none.
	Expires time.Time
	// Draw returns a random number, uniform in [0, 1). It is called once for
	// each attempt, and once for a splay.
	Draw func() float64
	// WaitOnly ends the run when Before is done: there is no command, or somebody
	// else starts it and it is only told of here.
	WaitOnly bool
	// Before, if not nil, is what must be waited for before attempt 1. It
	// tells its progress through emit, and returns whether the run goes on or
	// else how it ends.
	Before func(ctx context.Context, deadline time.Time, emit func(event.Event)) (Decision, bool)

	started  time.Time
	deadline time.Time
	state    State
	attempts int
}

// Run runs the command until it is decided that no attempt follows, and says
// how the program ends.
func (e *Engine) Run(ctx context.Context) End {
	e.begin()
	if d, ready := e.prepare(ctx); !ready || e.WaitOnly {
		return e.finish(d)
	}
	var last lastAttempt
	for {
		d, result := e.attempt(ctx, last)
		if result.NotRun && e.attempts > 1 {
			return e.finish(e.tooLate(last.decision, last.result))
		}
		if !d.Retry {
			return e.finish(d)
		}
		e.emit(event.Event{Kind: event.RetryScheduled, Delay: d.Delay, Jittered: d.Wait, HasHint: d.HasHint, Hint: d.Hint, IgnoredHint: d.IgnoredHint})
		slept, signal := e.sleep(ctx, d.Wait)
		if signal != "" {
			return e.finish(CancelledBy(signal))
		}
		e.emit(event.Event{Kind: event.RetryWaited, Delay: d.Delay, Jittered: d.Wait, Slept: slept})
		if e.passes(0) {
			return e.finish(e.tooLate(d, result))
		}
		e.state = d.Next
		last = lastAttempt{decision: d, result: result, waited: min(slept, d.Wait)}
	}
}

// tooLate gives up on the last attempt since there is no time for the next,
// unless a signal asked for the end first.
func (e *Engine) tooLate(d Decision, result attempt.Result) Decision {
	if signal := e.askedToEnd(); signal != "" {
		return CancelledBy(signal)
	}
	giveUp(&d, event.Deadline, "the deadline passed during the wait")
	d.End = end(result, d.Outcome)
	return d
}

// begin fixes the deadline and tells that the run has started.
func (e *Engine) begin() {
	e.started = time.Now()
	if d := e.Policy.Deadline; d > 0 {
		e.deadline = e.started.Add(d)
	}
	if !e.Expires.IsZero() && (e.deadline.IsZero() || e.Expires.Before(e.deadline)) {
		e.deadline = e.Expires
	}
	e.state = State{Attempt: 1, Step: 1, Previous: e.Policy.Schedule.First(), Deadline: e.deadline, Argv: e.Argv}
	e.emit(event.Event{Kind: event.RunStarted, Command: e.Argv})
}

// prepare does what comes before attempt 1. Where the run does not go on, the
// decision says how it ends; without a command, this was all.
func (e *Engine) prepare(ctx context.Context) (Decision, bool) {
	if e.Before != nil {
		if d, ready := e.Before(ctx, e.deadline, e.emit); !ready {
			return d, false
		}
	}
	p := &e.Policy
	first := p.InitialDelay
	if p.Splay > 0 {
		first = backoff.Add(first, backoff.FromFloat(float64(p.Splay)*e.Draw()))
	}
	if e.passes(first) {
		if signal := e.askedToEnd(); signal != "" {
			return CancelledBy(signal), false
		}
		return TimedOut("the deadline leaves no time for an attempt"), false
	}
	if first > 0 {
		e.emit(event.Event{Kind: event.InitialWait, Jittered: first})
		if _, signal := e.sleep(ctx, first); signal != "" {
			return CancelledBy(signal), false
		}
	}
	if signal := e.cancelled(); signal != "" {
		return CancelledBy(signal), false
	}
	return Decision{Outcome: event.Succeeded}, true
}

// passes reports whether a wait of d would end past the deadline.
func (e *Engine) passes(d time.Duration) bool {
	return !e.deadline.IsZero() && d > time.Until(e.deadline)
}

// attempt runs the command once, judges and tells.
func (e *Engine) attempt(ctx context.Context, last lastAttempt) (Decision, attempt.Result) {
	select { // a wake-up that came as the wait ended has got what it asked for
	case <-e.Signals.Woken:
	default:
	}
	watch := e.Policy.Rules.NewWatch()
	e.attempts++
	e.emit(event.Event{Kind: event.AttemptStarted})
	result := e.Runner.Run(ctx, attempt.Spec{
		Number: e.attempts, Argv: e.Argv, Env: e.environ(last),
		Timeout: e.Policy.Timeout, Deadline: e.deadline,
		Stdout: watch.Stdout(), Stderr: watch.Stderr(),
	})
	evidence := watch.Close()
	d := Decide(&e.Policy, e.state, result, evidence, time.Now(), e.Draw())
	if err := e.Runner.Settle(!d.Retry && d.End.Code == exitcodes.OK); err != nil {
		result.ReaderGone = errors.Is(err, attempt.ErrReaderGone)
		if !result.ReaderGone {
			result.Err = err
		}
		d = Decide(&e.Policy, e.state, result, evidence, time.Now(), 0)
	}
	e.emit(event.Event{Kind: event.AttemptFinished, Result: result, Success: d.Accepted, Verdict: d.Verdict, Reason: d.Reason, Rule: d.Rule})
	return d, result
}

// sleep waits for d, or until it is woken or cancelled, and says how long that
// was and by which signal it was cancelled.
func (e *Engine) sleep(ctx context.Context, d time.Duration) (time.Duration, attempt.Signal) {
	start := time.Now()
	if signal := e.askedToEnd(); signal != "" { // it beats a wait of 0
		return 0, signal
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-e.Signals.Woken:
	case signal := <-e.Signals.Cancelled:
		return time.Since(start), signal
	case <-ctx.Done():
		return time.Since(start), "SIGTERM"
	}
	return time.Since(start), ""
}

// cancelled returns a signal that has come already, "" for none.
func (e *Engine) cancelled() attempt.Signal {
	select {
	case signal := <-e.Signals.Cancelled:
		return signal
	default:
		return ""
	}
}

// askedToEnd is cancelled for where signals need not be caught yet.
func (e *Engine) askedToEnd() attempt.Signal {
	if e.Signals.Catch != nil {
		e.Signals.Catch()
	}
	return e.cancelled()
}

// CancelledBy is how a run ends by a signal that came while no attempt ran.
func CancelledBy(signal attempt.Signal) Decision {
	return Decision{Outcome: event.Cancelled, Reason: "cancelled by " + string(signal), End: endBy(signal)}
}

// TimedOut is how a run ends whose time was up before it came to an attempt.
func TimedOut(reason string) Decision {
	return Decision{Outcome: event.Deadline, Reason: reason, End: End{Code: exitcodes.Timeout}}
}

// finish tells how the run ended.
func (e *Engine) finish(d Decision) End {
	e.emit(event.Event{
		Kind: event.RunFinished, Outcome: d.Outcome, Attempts: e.attempts, ExitCode: d.End.Code,
		Verdict: d.Verdict, Reason: d.Reason, Rule: d.Rule, Advice: d.Advice, HasHint: d.HasHint, Hint: d.Hint,
	})
	return d.End
}

// emit adds what every event has.
func (e *Engine) emit(ev event.Event) {
	ev.Time = time.Now()
	ev.Elapsed = ev.Time.Sub(e.started)
	ev.RunID, ev.TraceID = e.Identity.RunID, e.Identity.Trace.ID
	ev.Attempt, ev.MaxAttempts = e.attempts, e.Policy.Attempts
	e.Sink.Emit(ev)
}
