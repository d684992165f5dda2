package engine

// This file asks the guards of the run.

import (
	"context"

	"github.com/retrysh/retry/engine/admission"
	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/guard"
	"github.com/retrysh/retry/exitcodes"
)

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

// permit asks the gate before a wait. It returns how the run ends, nil if it goes on.
func (e *execution) permit(ctx context.Context) *Decision {
	if e.Gate == nil {
		return nil
	}
	var refusal *event.GuardRefused
	end := e.during(ctx, e.state.Deadline, func(ctx context.Context) { refusal = e.Gate.Permit(ctx, e.attempts+1, e.last.result.TimedOut) })
	if end != nil || refusal == nil {
		return end
	}
	return e.refused(refusal)
}

// ask asks the gate for an attempt or a copy. It returns how the run ends, nil if it goes on.
func (e *execution) ask(ctx context.Context, admit func(context.Context) (*admission.Pass, *event.GuardRefused)) (*admission.Pass, *event.GuardRefused, *Decision) {
	if e.Gate == nil {
		return nil, nil, nil
	}
	var pass *admission.Pass
	var refusal *event.GuardRefused
	end := e.during(ctx, e.state.Deadline, func(ctx context.Context) { pass, refusal = admit(ctx) })
	if end != nil { // a pass may have come at the same time
		pass.Drop()
	}
	return pass, refusal, end
}

// admit asks the gate for the next attempt. It returns how the run ends, nil if it goes
// on.
func (e *execution) admit(ctx context.Context) (*admission.Pass, *Decision) {
	pass, refusal, end := e.ask(ctx, func(ctx context.Context) (*admission.Pass, *event.GuardRefused) {
		return e.Gate.Admit(ctx, e.attempts+1)
	})
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
func (e *execution) refused(refusal *event.GuardRefused) *Decision {
	e.emit(refusal)
	if e.attempts == 0 {
		return Ended(event.Refused, refusal.Reason, End{Code: exitcodes.Refused})
	}
	return e.giveUp(event.Refused, refusal.Reason)
}
