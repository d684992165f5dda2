package engine

// This file parks a run that TERM asks to end (docs/letters.md): a shutdown, a drained node
// or a spot instance keeps its work as a letter.

import (
	"context"
	"strings"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/exitcodes"
)

// term is the signal that parks a run.
const term = attempt.Signal("SIGTERM")

// neutralExit is an exit code that no rule names (engine/classify/rules).
const neutralExit = 199

// afterTerm decides what follows an attempt during which TERM asked the program to end, as
// if it had not. It returns false if no attempt would follow a failure. Of an attempt that
// ended by that TERM, neither the signal nor that no --on-* rule names it is a reason to
// give up; --classify strict does not know it to be transient. A second signal asks for the
// end of the run whatever is lost.
func afterTerm(p *Policy, s State, r attempt.Result, e Evidence, now time.Time, u float64) (Decision, bool) {
	if r.Cancelled != term || r.CancelledAgain || p.Repeat || p.UntilFailure {
		return Decision{}, false
	}
	r.Cancelled = ""
	byTerm := r.Signal == term || r.ExitCode == endBy(term).Code
	d := Decide(p, s, r, e, now, u)
	if byTerm && p.Rules.Mode == Strict {
		return Decision{}, false
	}
	if byTerm && d.Outcome == event.Stopped && (d.Unnamed || d.Rule == "signal-ended") {
		unnamed, rest := *p, r
		rules := &unnamed.Rules
		rules.OnExit = nil
		rules.SuccessOnExit = nil
		rules.StopOnExit = nil
		rules.Stdout.On = nil
		rules.Stderr.On = nil
		rest.Signal, rest.ExitCode = "", neutralExit
		d = Decide(&unnamed, s, rest, e, now, u)
		d.Reason = strings.Replace(d.Reason, describe(rest), describe(r), 1)
		d.Ended = describe(r)
	}
	return d, d.Retry && !d.Accepted
}

// orParked returns how a run ends that would end as end says: parked, if TERM asked for the
// end after an attempt that would be retried, and the run can be kept.
func (e *execution) orParked(ctx context.Context, end *Decision) *Decision {
	if e.ParksOnTerm == nil || e.Keep == nil || e.attempts == 0 || e.Policy.Repeat || end.Outcome != event.Cancelled {
		return end
	}
	d, due := e.last.decision, e.due
	switch inWait := end.End.Signal == term; {
	case e.last.cancelled != nil: // during the attempt
		due = time.Now().Add(d.Jittered)
	case inWait && d.Retry && !d.NotYet:
	case inWait && e.Resume != nil && e.attempts == e.Resume.Attempts: // it was redriven, and nothing has run
		d.Jittered = e.last.waited
	default:
		return end
	}
	if !e.ParksOnTerm() {
		return end
	}
	place := d.Next.Place
	if e.state.Attempt > e.attempts { // the wait is over, or it is that for a target
		place = e.state.Place
	}
	if now := time.Now(); due.Before(now) {
		due = now
	}
	d.park(due)
	d.Why = "asked to end by " + string(term)
	letter := e.letter(&d, place)
	letter.ByTerm = true
	signalled := e.during(ctx, time.Time{}, func(ctx context.Context) { d.Letter = e.Keep(ctx, letter) })
	switch {
	case d.Letter != "":
		return &d
	case signalled != nil:
		return signalled
	}
	return end
}

// park has the run end as parked until then.
func (d *Decision) park(due time.Time) {
	d.Retry = false
	d.Outcome = event.Parked
	d.End = End{Code: exitcodes.Refused}
	d.DueAt = due
}
