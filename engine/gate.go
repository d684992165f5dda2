package engine

// This file is how guards take part in a run: a gate is asked before each attempt
// and gets a report after it.

import (
	"context"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/exitcodes"
)

// Gate admits attempts or refuses them (docs/guards.md). A context
// that it is given ends at the deadline of the run and when a signal asks for
// the end: the gate stops waiting then. The methods of a gate
// and its passes are called by one goroutine at a time.
type Gate interface {
	// Permit is asked before the wait of a retry, so that no run waits for a retry
	// that is refused, and takes what a retry costs.
	Permit(ctx context.Context, a Ask) *Refusal
	// Withdraw gives back what the last Permit took, where no attempt follows.
	Withdraw()
	// Admit is asked last before an attempt starts, the first included.
	Admit(ctx context.Context, a Ask) (Pass, *Refusal)
	// AdmitCopy is asked before a further copy of an attempt starts, and takes
	// what a retry costs. Its context ends when the copy is no longer wanted.
	AdmitCopy(ctx context.Context, a Ask) (Pass, *Refusal)
	// Finish is called when the run has ended.
	Finish(succeeded bool)
}

// Ask says what is asked for.
type Ask struct {
	// Attempt counts from 1.
	Attempt int
	// TimedOut says that the attempt before ended by a limit of its own.
	TimedOut bool
}

// Pass is one attempt that was admitted.
type Pass interface {
	// Inherit are descriptors that the command holds as long as it runs.
	Inherit() []uintptr
	// Report is called once, with the attempt's result.
	Report(Counted)
	// Drop stands for Report where the attempt was not started: what it took is
	// given back.
	Drop()
}

// Counted says what an attempt counts as for the runs that share a key.
type Counted int

// An attempt that was cancelled, could not be started or failed by the
// client's own fault counts neither way.
const (
	CountsNot Counted = iota
	CountsSuccess
	CountsFailure
)

// Refusal says which guard refused, why, and when it will admit again.
type Refusal struct {
	Guard, Key, Reason string
	RetryIn            *time.Duration // nil: not known
}

// counted says what a judged attempt counts as: an accepted one is a success,
// also where more are asked for; what would be retried is a failure, also where
// no attempt is left.
func counted(d *Decision, r attempt.Result) Counted {
	switch {
	case r.StartErr != nil, r.NotRun:
		return CountsNot
	case d.Accepted:
		return CountsSuccess
	case d.Retry, d.Outcome == event.Deadline:
		return CountsFailure
	}
	return CountsNot
}

// admit asks the gate for the attempt that comes next. Where the run does not
// go on, the decision says how it ends.
func (e *Engine) admit(ctx context.Context, last *lastAttempt) (Pass, *Decision) {
	if e.Gate == nil {
		return nil, nil
	}
	var pass Pass
	var refusal *Refusal
	ask := Ask{Attempt: e.attempts + 1, TimedOut: last.result.TimedOut}
	signal := e.during(ctx, func(ctx context.Context) { pass, refusal = e.Gate.Admit(ctx, ask) })
	if signal == "" && refusal == nil {
		return pass, nil
	}
	switch {
	case pass != nil: // it came beside a signal
		pass.Drop()
	case e.attempts > 0:
		e.Gate.Withdraw()
	}
	if signal != "" {
		d := CancelledBy(signal)
		return nil, &d
	}
	if e.passes(0) {
		d := TimedOut("the deadline passed while waiting for " + refusal.Guard)
		if e.attempts > 0 {
			d = e.tooLate(last.decision, last.result)
		}
		return nil, &d
	}
	d := e.refuse(refusal, last)
	return nil, &d
}

// permit asks the gate before a wait.
func (e *Engine) permit(ctx context.Context, last *lastAttempt) *Decision {
	if e.Gate == nil {
		return nil
	}
	ask := Ask{Attempt: e.attempts + 1, TimedOut: last.result.TimedOut}
	var refusal *Refusal
	if signal := e.during(ctx, func(ctx context.Context) { refusal = e.Gate.Permit(ctx, ask) }); signal != "" {
		if refusal == nil {
			e.Gate.Withdraw()
		}
		d := CancelledBy(signal)
		return &d
	}
	if refusal == nil {
		return nil
	}
	d := e.refuse(refusal, last)
	return &d
}

// refuse is how a run ends that a guard refuses: as its last attempt did, or
// with Refused where nothing ran.
func (e *Engine) refuse(r *Refusal, last *lastAttempt) Decision {
	e.emit(&event.GuardRefused{Guard: r.Guard, Key: r.Key, Reason: r.Reason, RetryIn: r.RetryIn})
	d := last.decision
	d.Retry, d.Accepted, d.Outcome, d.Advice = false, false, event.Refused, ""
	d.Why = r.Reason
	d.End = end(last.result, event.Refused)
	if e.attempts == 0 {
		d.Reason, d.Why = r.Reason, ""
		d.End = End{Code: exitcodes.Refused}
	}
	return d
}

// GateEvent emits an event of the gate. Only the gate's methods call it: the
// goroutine of the run waits for them, or receives from gateEvents meanwhile.
func (e *Engine) GateEvent(ev event.Event) {
	if e.gateEvents != nil {
		e.gateEvents <- ev
		return
	}
	e.emit(ev)
}
