package engine

// This file asks the guards, through a gate, and shares which values of rotated names
// (docs/rotation.md) failed.

import (
	"context"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/guard"
	"github.com/retrysh/retry/exitcodes"
)

// Gate admits attempts or refuses them (docs/guards.md), and shares with other runs
// which values of rotated names failed. Its contexts end at the deadline of the run and
// when a signal asks for the end; the gate stops waiting then. The methods of a gate and
// its passes are called one at a time.
type Gate interface {
	// Permit asks before the wait of a retry, and takes what a retry costs.
	Permit(ctx context.Context, a Ask) *event.GuardRefused
	// Withdraw gives back what the last Permit took. It is called once, when the run
	// makes no more attempts.
	Withdraw()
	// Admit asks last before an attempt starts, the first included.
	Admit(ctx context.Context, a Ask) (Pass, *event.GuardRefused)
	// AdmitCopy asks before a further copy of an attempt starts, and takes what a retry
	// costs. Its context ends when the copy is no longer needed.
	AdmitCopy(ctx context.Context, a Ask) (Pass, *event.GuardRefused)
	// Finish is called when the run has ended.
	Finish(succeeded bool)
	// FailedLately returns which of the values, each written NAME=VALUE, failed lately;
	// nil where that is not known.
	FailedLately(ctx context.Context, values []string) []bool
	// Failed records that an attempt failed with the values.
	Failed(values []string)
}

// Ask is a request to a gate.
type Ask struct {
	// Attempt counts from 1.
	Attempt int
	// TimedOut says that the attempt before ended by a limit of its own.
	TimedOut bool
}

// Pass is one attempt that was admitted.
type Pass interface {
	// Inherit are descriptors that the command inherits.
	Inherit() []uintptr
	// Report is called once, with the attempt's outcome.
	Report(guard.Outcome)
	// Drop is called in place of Report for an attempt that was not started: what it
	// took is given back.
	Drop()
}

// counted is what an attempt counts as for the guards: an accepted one is a success,
// also where more are needed; one that would be retried is a failure, also where no
// attempt is left.
func counted(d *Decision, r attempt.Result) guard.Outcome {
	switch {
	case r.StartErr != nil, r.NotRun:
		return guard.Neither
	case d.Accepted:
		return guard.Success
	case d.Retry, d.Outcome == event.Deadline:
		return guard.Failure
	}
	return guard.Neither
}

// failedElsewhere asks before each attempt which values failed for other runs. It returns
// how the run ends, nil if it goes on.
func (e *Engine) failedElsewhere(ctx context.Context) *Decision {
	if e.Gate == nil || len(e.Policy.Rotate) == 0 {
		return nil
	}
	var failed []bool
	end := e.during(ctx, e.state.Deadline, func(ctx context.Context) { failed = e.Gate.FailedLately(ctx, e.rotation.Values()) })
	e.rotation.SetFailedElsewhere(failed)
	return end
}

func (e *Engine) next() Ask { return Ask{Attempt: e.attempts + 1, TimedOut: e.last.result.TimedOut} }

// permit asks the gate before a wait. It returns how the run ends, nil if it goes on.
func (e *Engine) permit(ctx context.Context) *Decision {
	if e.Gate == nil {
		return nil
	}
	var refusal *event.GuardRefused
	end := e.during(ctx, e.state.Deadline, func(ctx context.Context) { refusal = e.Gate.Permit(ctx, e.next()) })
	if end != nil || refusal == nil {
		return end
	}
	return e.refused(refusal)
}

// ask asks the gate for an attempt or a copy. It returns how the run ends, nil if it goes on.
func (e *Engine) ask(ctx context.Context, admit func(context.Context) (Pass, *event.GuardRefused)) (pass Pass, refusal *event.GuardRefused, end *Decision) {
	if e.Gate == nil {
		return nil, nil, nil
	}
	end = e.during(ctx, e.state.Deadline, func(ctx context.Context) { pass, refusal = admit(ctx) })
	if end != nil && pass != nil { // both came at the same time
		pass.Drop()
		pass = nil
	}
	return pass, refusal, end
}

// admit asks the gate for the next attempt. It returns how the run ends, nil if it goes
// on.
func (e *Engine) admit(ctx context.Context) (Pass, *Decision) {
	pass, refusal, end := e.ask(ctx, func(ctx context.Context) (Pass, *event.GuardRefused) { return e.Gate.Admit(ctx, e.next()) })
	switch {
	case end != nil, refusal == nil:
		return pass, end
	case !e.passes(0):
		return nil, e.refused(refusal)
	case e.attempts == 0:
		return nil, TimedOut("the deadline passed while waiting for " + refusal.Guard)
	}
	return nil, e.tooLate(passedInWait)
}

// refused is how a run ends that a guard ended: as its last attempt did, or with Refused
// where nothing ran.
func (e *Engine) refused(refusal *event.GuardRefused) *Decision {
	e.emit(refusal)
	if e.attempts == 0 {
		return Ended(event.Refused, refusal.Reason, End{Code: exitcodes.Refused})
	}
	return e.giveUp(event.Refused, refusal.Reason)
}

// GateEvent emits an event of the gate. Only the gate's methods call it.
func (e *Engine) GateEvent(ev event.Event) { e.emit(ev) }
