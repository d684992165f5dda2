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

// counted is what an attempt counts as for the guards. An accepted one is a success,
// even if more are needed. One that would be retried is a failure, even if no attempt
// is left.
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
	if e.gate == nil {
		return nil
	}
	var refusal *event.GuardRefused
	end := e.during(ctx, e.state.Deadline, func(ctx context.Context) {
		e.next, refusal = e.gate.Permit(ctx, e.attempts+1, e.last.result.TimedOut)
	})
	if end != nil || refusal == nil {
		return end
	}
	return e.refused(refusal)
}

// admitCopy asks the gate for a copy. It returns how the run ends, nil if it goes on.
func (e *execution) admitCopy(ctx context.Context, timedOut bool) (*admission.Pass, *event.GuardRefused, *Decision) {
	if e.gate == nil {
		return nil, nil, nil
	}
	var pass *admission.Pass
	var refusal *event.GuardRefused
	end := e.during(ctx, e.state.Deadline, func(ctx context.Context) {
		pass, refusal = e.gate.AdmitCopy(ctx, e.attempts, timedOut)
	})
	if end != nil { // a pass may have come at the same time
		pass.Drop()
	}
	return pass, refusal, end
}

// admit asks the gate for the next attempt. It returns how the run ends, nil if it goes
// on.
func (e *execution) admit(ctx context.Context) (*admission.Pass, *Decision) {
	if e.gate == nil {
		return nil, nil
	}
	if end := e.lostMeanwhile(); end != nil {
		return nil, end
	}
	if e.next == nil {
		e.next = e.gate.First()
	}
	pass := e.next
	var refusal *event.GuardRefused
	end := e.during(ctx, e.state.Deadline, func(ctx context.Context) {
		refusal = e.gate.WaitForTurn(ctx, pass, e.state.Deadline)
	})
	switch {
	case end != nil:
		e.due = pass.Turn()
		return nil, end
	case refusal == nil:
		e.next = nil
		return pass, nil
	case !e.passes(0) && !refusal.PastDeadline:
		return nil, e.refused(refusal)
	}
	why := passedInWait
	if refusal.PastDeadline {
		why = "the deadline comes before the turn: " + refusal.Reason
	}
	if e.attempts > 0 {
		return nil, e.tooLate(why)
	}
	if !refusal.PastDeadline {
		why = "the deadline passed while waiting for " + refusal.Guard
	}
	return nil, TimedOut(why)
}

// lostMeanwhile reports that the slot of the run was lost while no attempt ran. It returns how
// the run ends, nil if it goes on.
func (e *execution) lostMeanwhile() *Decision {
	select {
	case lost := <-e.gate.Lost():
		return e.slotLost(lost)
	default:
		return nil
	}
}

// slotLost reports that a slot was lost. It returns how the run ends if no attempt runs, nil if
// it goes on.
func (e *execution) slotLost(lost *event.StoreFailed) *Decision {
	stops := e.gate.StopsWhenLost()
	if stops {
		lost.Reason += "; the run ends"
	}
	e.emit(lost)
	if !stops {
		return nil
	}
	d := e.giveUp(event.Refused, lostReason)
	d.End = End{Code: exitcodes.Refused}
	return d
}

const lostReason = "its slot was lost"

// refused is how a run ends that a guard ended: as its last attempt did, or with Refused
// if nothing ran.
func (e *execution) refused(refusal *event.GuardRefused) *Decision {
	e.emit(refusal)
	if e.attempts == 0 {
		return Ended(event.Refused, refusal.Reason, End{Code: exitcodes.Refused})
	}
	return e.giveUp(event.Refused, refusal.Reason)
}
