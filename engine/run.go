// Package engine runs a command again and again until it succeeds, until another
// attempt makes no sense, or until no attempt or time is left.
//
//   - Decide is a pure function of policy, state, result of an attempt, time and one
//     random number. It returns what follows: accept, stop, or wait.
//   - Run is the loop: attempt, decide, emit events, wait.
//   - What the loop uses are arguments: attempt.Starter starts attempts (a process in
//     proc, a check in probe), Emit gets the events, Signals delivers signals. Tests run
//     hours of waiting in microseconds (testing/synctest).
//
// The engine never touches a process, a file, the network or the environment. The
// schedule of --plan comes from the same Decide.
package engine

// This file is the loop.

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/retrysh/retry/engine/admission"
	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/guard"
	"github.com/retrysh/retry/engine/rotate"
	"github.com/retrysh/retry/engine/text"
	"github.com/retrysh/retry/exitcodes"
)

// Signals delivers signals while no attempt runs.
type Signals struct {
	// Cancelled delivers the signal that asks the program to end.
	Cancelled <-chan attempt.Signal
	// Woken ends a wait early.
	Woken <-chan struct{}
}

// Config says what is run, and with what. A run does not change it.
type Config struct {
	Policy   Policy
	Argv     []string
	Identity Identity
	Starter  attempt.Starter
	// Emit gets the events of the run, in order.
	Emit    func(event.Event)
	Signals Signals
	// Admission, if not nil, says which guards are asked before each attempt.
	Admission *admission.Config
	// Expires is the deadline of the retry around this one, on the monotonic clock.
	// The zero time is none.
	Expires time.Time
	// Draw returns a random number, uniform in [0, 1). It is called once for each
	// attempt, for a splay, and for each rotation that begins at random.
	Draw func() float64
	// WaitOnly ends the run after Before: there is no command, or the caller starts it.
	WaitOnly bool
	// Before, if not nil, waits before attempt 1. It emits its progress through emit,
	// and returns how the run ends, nil if it goes on.
	Before func(ctx context.Context, deadline time.Time, emit func(event.Event)) *Decision
	// When, if not nil, waits before each attempt but the first.
	When  When
	Hooks Hooks
	// Resume, if not nil, is the run before it was parked. It goes on like a retry.
	Resume *Letter
	// Keep, if not nil, keeps the run as a letter and returns its id, "" for none. It is
	// called for a run that was given up, after at least one attempt or by a refusal, and,
	// before the guards are asked, for a wait that follows a failure: the run is parked
	// then, unless there is no letter. Its context ends when a signal asks for the end.
	Keep func(ctx context.Context, l *Letter) string
	// ParksOnTerm, if not nil, is asked when TERM has come: whether the run is parked
	// instead of cancelled if its attempt would be retried.
	ParksOnTerm func() bool
	// Inherit are descriptors that the command inherits.
	Inherit []uintptr
	// About has Name, Letter, Key and the policy of the event run_started; Name "" stands
	// for NameOf the command. The engine sets the rest.
	About event.RunStarted
	// EndOutput, if not nil, ends the output before the last event: what was kept is
	// written if the run has given up.
	EndOutput func(gaveUp bool) error
	// Close, if not nil, is called after the last event. It may send what is left for
	// CloseLimit, until its context ends, and reports its failure itself.
	Close      func(ctx context.Context)
	CloseLimit time.Duration
}

// execution is one run of a command by a Config.
type execution struct {
	*Config
	inherited    []string // of the program's environment
	started      time.Time
	state        State
	attempts     int
	pretends     bool            // the attempt that runs is not run but rehearsed
	last, before trial           // the last attempt that ended, and the one before it
	gate         *admission.Gate // nil for none
	next         *admission.Pass // of the attempt that is waited for; nil for none
	due          time.Time       // when the wait that runs ends; the zero time if that is not known
	rotation     rotate.Rotation
	// durations are those of the attempts that --repeat measures, failed the numbers of
	// those that failed.
	durations []float64
	failed    []int
}

// Run runs the command until no attempt follows, and returns how the program ends.
func (c *Config) Run(ctx context.Context) End {
	end, _ := c.RunFrom(ctx, Place{})
	return end
}

// RunFrom begins at a place in the schedule; the zero value is the first wait. It also
// returns the place at which it ended.
func (c *Config) RunFrom(ctx context.Context, at Place) (End, Place) {
	e := &execution{Config: c}
	end := e.run(ctx, at)
	return end, e.state.Place
}

func (e *execution) run(ctx context.Context, at Place) End {
	e.begin(at)
	end := e.prepare(ctx)
	switch {
	case end != nil:
	case e.WaitOnly:
		end = Ended(event.Succeeded, "", End{})
	case e.Resume != nil:
		end = e.permit(ctx)
	}
	for end == nil {
		end = e.once(ctx)
	}
	return e.finish(ctx, e.orParked(ctx, end))
}

// once makes one attempt and waits for the next. It returns how the run ends, nil if
// it goes on.
func (e *execution) once(ctx context.Context) *Decision {
	if e.attempts > 0 {
		if end := e.untilReady(ctx); end != nil {
			return end
		}
		if end := e.beforeRetry(ctx); end != nil {
			return end
		}
	}
	pass, end := e.admit(ctx)
	if end != nil {
		return end
	}
	t := e.attempt(ctx, pass)
	switch {
	case t.result.NotRun && e.attempts > 1:
		return e.tooLate(passedInWait)
	case t.cancelled != nil:
		return t.cancelled
	case !t.decision.Retry:
		return &t.decision
	}
	return e.wait(ctx)
}

// passedInWait is why no attempt follows a wait that took too long.
const passedInWait = "the deadline passed during the wait"

// tooLate is how a run ends that has no time for another attempt. A signal that has
// come meanwhile has precedence. With --until-failure all attempts have succeeded.
func (e *execution) tooLate(why string) *Decision {
	if end := e.cancelled(); end != nil {
		return end
	}
	if d := e.last.decision; e.Policy.UntilFailure && d.Accepted {
		return &d
	}
	return e.giveUp(event.Deadline, why)
}

// giveUp is how a run ends that gives up after an attempt: as that one did.
func (e *execution) giveUp(outcome event.Outcome, why string) *Decision {
	d := e.last.decision
	d.Accepted = false
	giveUp(&d, outcome, why)
	d.End = end(e.last.result, outcome)
	return &d
}

// begin sets the deadline and emits run_started.
func (e *execution) begin(at Place) {
	e.started = time.Now()
	e.state = e.Policy.First()
	if at.Step > 0 {
		e.state.Place = at
	}
	end := &e.state.Deadline
	if d := e.Policy.Deadline; d > 0 {
		*end = e.started.Add(d)
	}
	if !e.Expires.IsZero() && (end.IsZero() || e.Expires.Before(*end)) {
		*end = e.Expires
	}
	e.rotation = rotate.New(e.Policy.Rotate)
	if e.Admission != nil {
		e.gate = admission.New(e.Admission, e.emit)
	}
	e.resume()
	id, started := &e.Identity, e.About
	started.GivenName = started.Name
	started.Name = text.Masked(cmp.Or(started.Name, NameOf(e.Argv)))
	started.Key = text.Masked(started.Key)
	started.Command, started.Deadline = e.Argv, *end
	started.Depth, started.ParentRunID = id.Depth, id.ParentRunID
	started.SpanID = id.Trace.Span
	started.ParentSpanID = id.Trace.Parent
	started.Sampled = id.Trace.Sampled()
	e.emit(&started)
}

// trial is an attempt, or a copy of a hedged one. The zero value stands for none.
type trial struct {
	which    event.Which
	argv     []string
	use      rotate.Use
	watch    *Watch
	pass     *admission.Pass
	ctx      context.Context
	handle   attempt.Attempt
	result   attempt.Result
	evidence Evidence
	decision Decision
	// cancelled is how the run ends unless it is parked: TERM came during the attempt, and
	// decision says what would follow. nil otherwise.
	cancelled *Decision
	waited    time.Duration // after it
}

// attempt runs the command once, decides what follows and emits the events.
func (e *execution) attempt(ctx context.Context, pass *admission.Pass) *trial {
	select { // a wake-up from the end of the wait is not kept for the next one
	case <-e.Signals.Woken:
	default:
	}
	e.attempts++
	e.before = e.last
	if p, ok := e.Starter.(attempt.Pretender); ok {
		e.pretends = p.Prepare(e.attempts)
	}
	if e.Policy.HedgeMax > 1 {
		return e.hedged(ctx, pass)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	t := e.start(ctx, event.Which{}, pass)
	e.attend(t, cancel)
	e.settle(t)
	e.measure(t)
	e.finished(t)
	return t
}

// start starts the command.
func (e *execution) start(ctx context.Context, which event.Which, pass *admission.Pass) *trial {
	use := e.rotation.Take()
	which.Use = use.ByName()
	for name, value := range which.Use {
		which.Use[name] = text.MaskedArgs([]string{"--" + name, value})[1]
	}
	if e.Identity.Trace.ID != "" {
		which.SpanID = newSpan(e.Identity.Random)
	}
	t := &trial{which: which, argv: use.Words(e.Argv), use: use, watch: e.Policy.Rules.NewWatch(), pass: pass, ctx: ctx}
	run := t.argv
	if e.attempts > 1 && e.Hooks.RetryWith != "" {
		run, t.argv = e.retryWith(run)
	}
	e.emit(&event.AttemptStarted{
		Which: which, Timeout: e.Policy.Timeout, Rehearsed: e.pretends,
		Repeats: e.Policy.Repeat, Failed: len(e.failed),
	})
	own := use.Variables()
	if which.Hedged {
		own = append(own, "RETRY_COPY="+strconv.Itoa(which.Copy))
	}
	spec := attempt.Spec{
		Number: e.attempts, Copy: which.Copy, Argv: run,
		Env:     e.environ(&e.before, e.attempts, own, e.state.Deadline, which.SpanID),
		Timeout: e.Policy.Timeout, IdleTimeout: e.Policy.IdleTimeout, Deadline: e.state.Deadline,
		Stdout: t.watch.Stdout, Stderr: t.watch.Stderr,
		Alike:   !e.Policy.Rules.Stdout.any() && !e.Policy.Rules.Stderr.any(),
		Inherit: slices.Concat(e.Inherit, pass.Inherit()),
	}
	if which.Hedged {
		spec.Streams = attempt.Held
	}
	t.handle = e.Starter.Start(ctx, spec)
	return t
}

// attend waits for the end of an attempt. If a slot is lost meanwhile it reports that and, if the
// run is to end then, ends the attempt.
func (e *execution) attend(t *trial, cancel context.CancelCauseFunc) {
	lost := e.gate.Lost()
	if lost == nil {
		e.await(t)
		return
	}
	done := make(chan struct{})
	go func() { defer close(done); e.await(t) }()
	for {
		select {
		case <-done:
			return
		case l := <-lost:
			if e.slotLost(l) != nil {
				cancel(attempt.ErrSlotLost)
			}
		}
	}
}

// await waits for the end of an attempt.
func (e *execution) await(t *trial) {
	t.result = t.handle.Wait()
	t.result.SlotLost = errors.Is(context.Cause(t.ctx), attempt.ErrSlotLost)
	switch r := &t.result; {
	case r.TimedOut && r.Idle:
		r.Limit = e.Policy.IdleTimeout
	case r.TimedOut:
		r.Limit = e.Policy.Timeout
	}
	t.evidence = t.watch.Close()
}

// settle decides what follows an attempt and writes its output where it belongs. If
// that fails, the failure decides.
func (e *execution) settle(t *trial) {
	e.state.Argv = t.argv
	d, u := &t.decision, e.Draw()
	*d = Decide(&e.Policy, e.state, t.result, t.evidence, time.Now(), u)
	if e.ParksOnTerm != nil && e.Keep != nil && d.Outcome == event.Cancelled {
		if next, parks := afterTerm(&e.Policy, e.state, t.result, t.evidence, time.Now(), u); parks {
			cancelled := *d
			next.Counts = d.Counts
			*d, t.cancelled = next, &cancelled
		}
	}
	if err := t.handle.Settle(!d.Retry && (d.Outcome == event.Succeeded || d.End.Code == exitcodes.OK)); err != nil {
		t.result.ReaderGone = errors.Is(err, attempt.ErrReaderGone)
		if !t.result.ReaderGone {
			t.result.Err = err
		}
		*d = Decide(&e.Policy, e.state, t.result, t.evidence, time.Now(), 0)
		t.cancelled = nil
	}
	if !t.result.NotRun {
		e.last = *t
		e.last.watch, e.last.handle, e.last.ctx = nil, nil, nil // they hold buffers
	}
	if d.NotYet {
		e.rotation.Stay(t.use)
	}
}

// report reports the result of an attempt to the gate and to the rotation.
func (e *execution) report(t *trial) {
	t.pass.Report(t.decision.Counts)
	e.rotation.Put(t.use, t.decision.Counts == guard.Failure)
}

// finished reports a judged attempt and emits attempt_finished.
func (e *execution) finished(t *trial) {
	e.report(t)
	end := &event.AttemptFinished{
		Which: t.which, Result: t.result, Success: t.decision.Accepted, Judgement: t.decision.Judgement,
	}
	if end.Success {
		end.Overruled = t.evidence.Retry
	}
	e.emit(end)
}

// Ended is how a run ends for a reason other than an attempt's result.
func Ended(outcome event.Outcome, reason string, end End) *Decision {
	return &Decision{Ending: event.Ending{Outcome: outcome, Judgement: event.Judgement{Reason: reason}}, End: end}
}

// CancelledBy is how a run ends by a signal that came while no attempt ran.
func CancelledBy(signal attempt.Signal) *Decision {
	return Ended(event.Cancelled, "cancelled by "+string(signal), endBy(signal))
}

// TimedOut is how a run ends that has no time for an attempt.
func TimedOut(reason string) *Decision {
	return Ended(event.Deadline, reason, End{Code: exitcodes.Timeout})
}

// finish runs what follows the last attempt and emits run_finished.
func (e *execution) finish(ctx context.Context, d *Decision) End {
	e.next.Drop()
	fallback := e.conclude(ctx, d)
	e.endOutput(d, fallback)
	if e.gate != nil {
		e.gate.Finish(d.Outcome == event.Succeeded && e.attempts > 0)
	}
	e.emit(&event.RunFinished{
		Ending: d.Ending, Command: e.Argv, Hunted: e.Policy.UntilFailure, Attempts: e.attempts, ExitCode: d.End.Code,
		FallbackExitCode: fallback, Repeated: e.repeated(),
	})
	if e.Close != nil {
		limit := e.CloseLimit
		if d.Outcome == event.Cancelled {
			limit = min(limit, cancelledClose)
		}
		e.interruptible(ctx, time.Now().Add(limit), e.Close)
	}
	return d.End
}

// endOutput has kept output written if the run has given up. If that fails, the failure
// decides.
func (e *execution) endOutput(d *Decision, fallback *int) {
	if e.EndOutput == nil {
		return
	}
	gaveUp := d.Outcome != event.Succeeded && (fallback == nil || *fallback != exitcodes.OK)
	if gaveUp {
		e.emit(&event.Concluding{Ending: d.Ending})
	}
	switch err := e.EndOutput(gaveUp); {
	case err == nil:
	case errors.Is(err, attempt.ErrReaderGone):
		d.ReaderGone, d.End = true, endBy("SIGPIPE")
	default:
		*d = *Ended(event.Failed, text.Masked(err.Error()), End{Code: exitcodes.Failure})
	}
}

// cancelledClose is the limit of Close after a cancelled run, which ends within 50 ms
// (docs/processes.md).
const cancelledClose = 40 * time.Millisecond

// emit completes the header of an event and passes it on.
func (e *execution) emit(ev event.Event) {
	h := ev.Head()
	h.Time = time.Now()
	h.Elapsed = h.Time.Sub(e.started)
	h.RunID, h.TraceID = e.Identity.RunID, e.Identity.Trace.ID
	h.Attempt, h.MaxAttempts = e.attempts, e.Policy.Attempts
	e.Emit(ev)
}
