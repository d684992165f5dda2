package engine

// This file writes letters (docs/letters.md): of a run that was given up, or of one
// that is parked in place of a long wait. It also continues a parked run.

import (
	"context"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/rotate"
	"github.com/retrysh/retry/exitcodes"
)

// Letters keeps runs. A context that it is given ends when a signal asks for the
// end.
type Letters interface {
	// Park is asked before a wait that follows a failure, before the guards are.
	// Where it keeps the run for later, it returns the id of its letter, and the run
	// ends; "" has it sleep.
	Park(ctx context.Context, l *Letter) string
	// Keep gets a run that has been given up, after at least one attempt or
	// by a refusal. It returns the id of the letter, "" for none.
	Keep(ctx context.Context, l *Letter) string
}

// Letter is what a letter says of a run: its last attempt and where it stands.
type Letter struct {
	// Decision says how the run ends; of one to be parked it is that to retry.
	Decision *Decision
	// Result and Evidence are those of the last attempt, with the tails of its
	// output.
	Result   attempt.Result
	Evidence *Evidence
	Attempts int
	// Place is that of the wait that follows the one of Decision.
	Place Place
	// Rotation is where each rotated name stands; nil for none.
	Rotation map[string]rotate.Standing
	// Deadline is when the run ends; the zero time is none. DueAt is when one that
	// is to be parked goes on.
	Deadline, DueAt time.Time
}

// Resume is what a parked run has behind it.
type Resume struct {
	// Attempts were made, all failed. Last is what the last came to, the others how
	// it was judged.
	Attempts     int
	Last         attempt.Result
	Reason, Rule string
	Verdict      event.Verdict
	// Waited is how much of its wait has passed.
	Waited time.Duration
	// Rotation is where each rotated name stands; nil for none.
	Rotation map[string]rotate.Standing
}

// resume takes up a parked run where it was left, and asks the guards for the
// retry. Where it does not go on, the decision says how it ends.
func (e *Engine) resume(ctx context.Context, last *lastAttempt) *Decision {
	r := e.Resume
	if r == nil {
		return nil
	}
	d := again(r.Verdict, r.Rule, r.Reason)
	*last = lastAttempt{decision: d, result: r.Last, waited: r.Waited}
	return e.permit(ctx, last)
}

// countEarlier counts the attempts that a parked run made before.
func (e *Engine) countEarlier() {
	r := e.Resume
	if r == nil {
		return
	}
	e.attempts, e.lastResult.result = r.Attempts, r.Last
	e.state.Attempt, e.state.Failures = r.Attempts+1, r.Attempts
	if e.rotation.Rotation != nil {
		e.rotation.Resume(r.Rotation)
	}
}

// park offers the run for later, in place of a wait.
func (e *Engine) park(ctx context.Context, last *lastAttempt) *Decision {
	if e.Letters == nil || last.decision.NotYet() || e.Policy.Repeat {
		return nil
	}
	d, letter := last.decision, ""
	parked := e.letter(&d, Place{d.Next.Step, d.Next.Previous})
	parked.DueAt = e.now().Add(d.Wait)
	signal := e.interruptible(ctx, func(ctx context.Context) { letter = e.Letters.Park(ctx, parked) })
	switch {
	case letter != "":
		d.Retry, d.Outcome, d.Letter, d.DueAt = false, event.Parked, letter, parked.DueAt
		d.End = End{Code: exitcodes.Refused}
		return &d
	case signal != "":
		d = CancelledBy(signal)
		return &d
	}
	return nil
}

// keep has a run kept that was given up.
func (e *Engine) keep(ctx context.Context, d *Decision) {
	if e.Letters == nil || d.NotStarted || e.WaitOnly {
		return
	}
	switch d.Outcome {
	case event.Refused:
	case event.Exhausted, event.Stopped, event.Deadline:
		if e.attempts == 0 {
			return
		}
	default:
		return
	}
	if signal := e.interruptible(ctx, func(ctx context.Context) { d.Letter = e.Letters.Keep(ctx, e.letter(d, e.Place())) }); signal != "" {
		letter := d.Letter
		*d = CancelledBy(signal)
		d.Letter = letter
	}
}

func (e *Engine) letter(d *Decision, at Place) *Letter {
	l := &Letter{Decision: d, Result: e.lastResult.result, Evidence: &e.lastResult.evidence, Attempts: e.attempts, Place: at, Deadline: e.deadline}
	if e.rotation.Rotation != nil {
		l.Rotation = e.rotation.Standings()
	}
	return l
}
