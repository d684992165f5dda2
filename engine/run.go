package engine

// This file is the loop: attempt, decide, emit events, wait.

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/hook"
	"github.com/retrysh/retry/engine/rotate"
	"github.com/retrysh/retry/exitcodes"
)

// Sink gets the events of a run, in order.
type Sink interface {
	Emit(event.Event)
	// Close is called once, after the last event: what is not yet written or sent
	// has as long as ctx lasts. The sink reports its failure itself.
	Close(ctx context.Context) error
}

// Signals is how a person, or an init system, reaches the program between
// attempts.
type Signals struct {
	// Cancelled delivers the signal that asks the program to end.
	Cancelled <-chan attempt.Signal
	// Woken ends a wait early.
	Woken <-chan struct{}
	// Notify, if not nil, is called before the channels are looked at; they need
	// not deliver sooner.
	Notify func()
}

// Engine is one run of a command under a policy.
type Engine struct {
	Policy   Policy
	Argv     []string
	Identity Identity
	Starter  attempt.Starter
	Sink     Sink
	Signals  Signals
	// Gate, if not nil, is asked before each attempt.
	Gate Gate
	// Values, if not nil, shares with other runs which values have failed.
	Values Values
	// Expires is the deadline of the retry around this one, read on the
	// monotonic clock: nothing goes on past it. The zero time is none.
	Expires time.Time
	// Draw returns a random number, uniform in [0, 1). It is called once for
	// each attempt, once for a splay and once for each rotation that begins at
	// random.
	Draw func() float64
	// WaitOnly ends the run when Before is done: there is no command, or the caller
	// starts it and it is only named here.
	WaitOnly bool
	// Before, if not nil, is what must be waited for before attempt 1. It
	// emits its progress through emit, and returns whether the run goes on or
	// else how it ends.
	Before func(ctx context.Context, deadline time.Time, emit func(event.Event)) (Decision, bool)
	// Hooks are the shell strings around the attempts.
	Hooks hook.Set
	// When, if not nil, is what must be ready before each attempt but the first.
	When When
	// From is where in the schedule the run begins; its zero value stands for
	// wait number 1.
	From Place
	// Resume, if not nil, is what has been of the run before it was parked: it goes
	// on with the guards that a retry asks.
	Resume *Resume
	// Letters, if not nil, keeps the run when it ends without success, or for
	// later.
	Letters Letters
	// Inherit are descriptors that the command holds as long as it runs.
	Inherit []uintptr
	// About is what run_started says of the run beside the command.
	About About
	// CloseLimit is how long Sink.Close may take: 0 where it has nothing to wait
	// for.
	CloseLimit time.Duration
	// Clock is where the time comes from; nil is the system's.
	Clock Clock

	started    time.Time
	deadline   time.Time
	state      State
	attempts   int
	rotation   rotation
	gateEvents chan event.Event // events of the gate while copies run
	lastResult lastResult
	tally      tally // of --repeat
}

// About names what a run belongs to; "" where there is none.
type About struct {
	// Name is what the run is called; "" stands for NameOf its command. Letter is
	// the dead letter that is run again.
	Name, Letter              string
	Key, Policy, PolicySource string
	// PolicyUnasked says that the policy was chosen by the command's name.
	PolicyUnasked bool
}

// Run runs the command until it is decided that no attempt follows, and says
// how the program ends.
func (e *Engine) Run(ctx context.Context) End {
	e.begin()
	if d, ready := e.prepare(ctx); !ready || e.WaitOnly {
		return e.finish(ctx, d)
	}
	var last lastAttempt
	if d := e.resume(ctx, &last); d != nil {
		return e.finish(ctx, *d)
	}
	for {
		if d := e.failedElsewhere(ctx); d != nil {
			return e.finish(ctx, *d)
		}
		if d := e.beforeAttempt(ctx, &last); d != nil {
			return e.finish(ctx, *d)
		}
		pass, refused := e.admit(ctx, &last)
		if refused != nil {
			return e.finish(ctx, *refused)
		}
		d, result := e.attempt(ctx, &last, pass)
		if result.NotRun && e.attempts > 1 {
			return e.finish(ctx, e.tooLate(last.decision, last.result))
		}
		if !d.Retry {
			return e.finish(ctx, d)
		}
		last = lastAttempt{decision: d, result: result}
		if end := e.wait(ctx, &last); end != nil {
			return e.finish(ctx, *end)
		}
	}
}

// tooLate gives up on the last attempt since there is no time for the next,
// unless a signal asked for the end first.
func (e *Engine) tooLate(d Decision, result attempt.Result) Decision {
	if signal := e.askedToEnd(); signal != "" {
		return CancelledBy(signal)
	}
	d.Accepted = false
	giveUp(&d, event.Deadline, "the deadline passed during the wait")
	d.End = end(result, d.Outcome)
	return d
}

// begin fixes the deadline and emits run_started.
func (e *Engine) begin() {
	if e.Clock == nil {
		e.Clock = System{}
	}
	e.started = e.now()
	if d := e.Policy.Deadline; d > 0 {
		e.deadline = e.started.Add(d)
	}
	if !e.Expires.IsZero() && (e.deadline.IsZero() || e.Expires.Before(e.deadline)) {
		e.deadline = e.Expires
	}
	from := e.From
	if from.Step == 0 {
		from = Place{Step: 1, Previous: e.Policy.Schedule.First()}
	}
	e.state = State{Attempt: 1, Step: from.Step, Previous: from.Previous, Deadline: e.deadline, Argv: e.Argv}
	e.rotation.begin(e.Policy.Rotate, e.Draw)
	e.countEarlier()
	name := e.About.Name
	if name == "" {
		name = NameOf(e.Argv)
	}
	id := &e.Identity
	e.emit(&event.RunStarted{
		Command: e.Argv, Name: name, Depth: id.Depth, SpanID: id.Trace.Span, ParentSpanID: id.Trace.Parent, Sampled: id.Trace.Sampled(),
		Letter: e.About.Letter, ParentRunID: id.ParentRunID, Key: e.About.Key,
		Policy: e.About.Policy, PolicySource: e.About.PolicySource, PolicyUnasked: e.About.PolicyUnasked,
		Deadline: e.deadline,
	})
}

// trial is an attempt, or a copy of a hedged one.
type trial struct {
	which    event.Which
	argv     []string
	use      rotate.Use
	watch    *Watch
	pass     Pass
	handle   attempt.Attempt
	result   attempt.Result
	evidence Evidence
}

// attempt runs the command once, judges the result and emits its events.
func (e *Engine) attempt(ctx context.Context, last *lastAttempt, pass Pass) (Decision, attempt.Result) {
	select { // a wake-up that came as the wait ended has got what it asked for
	case <-e.Signals.Woken:
	default:
	}
	e.attempts++
	e.lastResult.before = *last
	if e.Policy.Hedge.Max > 1 {
		return e.hedged(ctx, last, pass)
	}
	t := e.start(ctx, last, event.Which{}, pass)
	e.await(&t)
	d := e.settle(&t)
	e.report(&t, d.Counts)
	if e.Policy.Repeat {
		e.tally.add(e.attempts, &t.result, d.Accepted)
	}
	e.emitFinished(&t, &d)
	return d, t.result
}

// start starts the command.
func (e *Engine) start(ctx context.Context, last *lastAttempt, which event.Which, pass Pass) trial {
	use := e.takeValues(&which)
	if e.Identity.Trace.ID != "" {
		which.SpanID = newSpan(e.Identity.Random)
	}
	t := trial{which: which, argv: use.Words(e.Argv), use: use, watch: e.Policy.Rules.NewWatch(), pass: pass}
	run := t.argv
	if e.attempts > 1 && e.Hooks.RetryWith != "" {
		run, t.argv = e.retryWith(run)
	}
	e.emit(&event.AttemptStarted{Which: which, Timeout: e.Policy.Timeout, Rehearsed: e.pretends(), Repeats: e.Policy.Repeat, Failed: len(e.tally.failed)})
	spec := attempt.Spec{
		Number: e.attempts, Copy: which.Copy, Argv: run, Env: e.environ(last, e.attempts, t.variables(), e.deadline, which.SpanID),
		Timeout: e.Policy.Timeout, IdleTimeout: e.Policy.IdleTimeout, Deadline: e.deadline,
		Stdout: t.watch.Stdout(), Stderr: t.watch.Stderr(), Alike: !e.Policy.Rules.Stdout.any() && !e.Policy.Rules.Stderr.any(),
	}
	if which.Hedged {
		spec.Streams = attempt.Held
	}
	spec.Inherit = e.Inherit
	if pass != nil {
		spec.Inherit = slices.Concat(e.Inherit, pass.Inherit())
	}
	t.handle = e.Starter.Start(ctx, spec)
	return t
}

// pretends reports whether the starter does not run this attempt.
func (e *Engine) pretends() bool {
	p, ok := e.Starter.(interface{ Pretends(n int) bool })
	return ok && p.Pretends(e.attempts)
}

// await waits for the end of an attempt.
func (e *Engine) await(t *trial) {
	t.result = t.handle.Wait()
	t.result.Limit = e.limitOf(t.result)
	t.evidence = t.watch.Close()
}

// settle decides what follows an attempt and sends its output to where it
// belongs. Where that cannot be written, this decides.
func (e *Engine) settle(t *trial) Decision {
	e.state.Argv = t.argv
	d := Decide(&e.Policy, e.state, t.result, t.evidence, e.now(), e.Draw())
	if err := t.handle.Settle(!d.Retry && (d.Outcome == event.Succeeded || d.End.Code == exitcodes.OK)); err != nil {
		t.result.ReaderGone = errors.Is(err, attempt.ErrReaderGone)
		if !t.result.ReaderGone {
			t.result.Err = err
		}
		d = Decide(&e.Policy, e.state, t.result, t.evidence, e.now(), 0)
	}
	if !t.result.NotRun {
		e.lastResult.use, e.lastResult.result, e.lastResult.evidence = t.use, t.result, t.evidence
	}
	if t.use != nil && d.NotYet() {
		e.rotation.Stay(t.use)
	}
	return d
}

// report gives the result of an attempt to the gate and to the rotation.
func (e *Engine) report(t *trial, c Counted) {
	if t.pass != nil {
		t.pass.Report(c)
	}
	e.putValues(t.use, c == CountsFailure)
}

// emitFinished emits attempt_finished.
func (e *Engine) emitFinished(t *trial, d *Decision) {
	e.emit(&event.AttemptFinished{
		Which: t.which, Result: t.result, Success: d.Accepted, NotYet: d.NotYet(),
		Verdict: d.Verdict, Reason: d.Reason, Ended: d.Ended, Known: d.Known, Rule: d.Rule, ByRule: d.ByRule, Line: d.Line,
	})
}

// limitOf is the limit by which an attempt timed out.
func (e *Engine) limitOf(r attempt.Result) time.Duration {
	switch {
	case r.TimedOut && r.Idle:
		return e.Policy.IdleTimeout
	case r.TimedOut:
		return e.Policy.Timeout
	}
	return 0
}

// CancelledBy is how a run ends by a signal that came while no attempt ran.
func CancelledBy(signal attempt.Signal) Decision {
	return Decision{Outcome: event.Cancelled, Reason: "cancelled by " + string(signal), End: endBy(signal)}
}

// TimedOut is how a run ends whose time was up before it came to an attempt.
func TimedOut(reason string) Decision {
	return Decision{Outcome: event.Deadline, Reason: reason, End: End{Code: exitcodes.Timeout}}
}

// finish runs what follows the last attempt and emits run_finished.
func (e *Engine) finish(ctx context.Context, d Decision) End {
	d, fallback := e.conclude(ctx, d)
	if e.Gate != nil {
		e.Gate.Finish(d.Outcome == event.Succeeded)
	}
	e.emit(&event.RunFinished{
		Outcome: d.Outcome, Command: e.Argv, Attempts: e.attempts, ExitCode: d.End.Code,
		Verdict: d.Verdict, Reason: d.Reason, Ended: d.Ended, Known: d.Known, CodeOnly: d.CodeOnly, Rule: d.Rule, ByRule: d.ByRule, Why: d.Why, Advice: d.Advice, HasHint: d.HasHint, Hint: d.Hint,
		FallbackExitCode: fallback, Found: d.Found, Repeated: e.repeated(),
		ReaderGone: d.ReaderGone, NotStarted: d.NotStarted, Letter: d.Letter, DueAt: d.DueAt,
	})
	e.close(ctx, d.Outcome == event.Cancelled)
	return d.End
}

// cancelledClose is how long the sinks of a cancelled run have: it ends within 50
// ms (docs/processes.md).
const cancelledClose = 40 * time.Millisecond

// close has the sinks write and send the rest, until that takes too long or a
// signal asks for the end.
func (e *Engine) close(ctx context.Context, cancelled bool) {
	if e.CloseLimit == 0 {
		_ = e.Sink.Close(ctx)
		return
	}
	limit := e.CloseLimit
	if cancelled {
		limit = min(limit, cancelledClose)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	e.interruptible(ctx, func(ctx context.Context) { _ = e.Sink.Close(ctx) })
}

// emit adds what every event has.
func (e *Engine) emit(ev event.Event) {
	h := ev.Head()
	h.Time = e.now()
	h.Elapsed = h.Time.Sub(e.started)
	h.RunID, h.TraceID = e.Identity.RunID, e.Identity.Trace.ID
	h.Attempt, h.MaxAttempts = e.attempts, e.Policy.Attempts
	e.Sink.Emit(ev)
}
