package engine

// This file keeps runs as letters (docs/letters.md): a run that was given up, or one that
// is parked in place of a long wait. It also continues a parked run.

import (
	"context"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/rotate"
)

// Letter is the content of a letter: the last attempt of a run and its state.
type Letter struct {
	// Decision is how the run ends. With the outcome Parked it has the wait.
	Decision *Decision
	// Result and Evidence are those of the last attempt, with the tails of its output.
	Result   attempt.Result
	Evidence *Evidence
	Attempts int
	// Place is that of the wait that follows the one of Decision.
	Place Place
	// Rotation is the state of each rotated name; nil for none.
	Rotation map[string]rotate.Standing
	// Deadline is when the run ends; the zero time is none.
	Deadline time.Time
	// ByTerm says that TERM asked for the end: the run is parked whatever its wait.
	ByTerm bool
	// Waited is how much of its wait has passed when a parked run goes on.
	Waited time.Duration
}

// resume restores the state of a parked run, whose attempts all failed.
func (e *execution) resume() {
	l := e.Resume
	if l == nil {
		return
	}
	e.attempts, e.last = l.Attempts, trial{decision: *l.Decision, result: l.Result, waited: l.Waited}
	e.state.Attempt = l.Attempts + 1
	e.state.Failures = l.Attempts
	e.state.Place = l.Place
	e.rotation.Resume(l.Rotation)
}

// park offers to keep the run in place of a wait. It returns how the run ends, nil if it
// waits.
func (e *execution) park(ctx context.Context) *Decision {
	d := e.last.decision
	if e.Keep == nil || d.NotYet || e.Policy.Repeat {
		return nil
	}
	d.park(time.Now().Add(d.Jittered))
	end := e.during(ctx, time.Time{}, func(ctx context.Context) { d.Letter = e.Keep(ctx, e.letter(&d, d.Next.Place)) })
	if d.Letter == "" {
		return end
	}
	return &d
}

// keep offers to keep a run that was given up.
func (e *execution) keep(ctx context.Context, d *Decision) {
	if e.Keep == nil || !d.givenUp() || d.NotStarted || e.WaitOnly || e.attempts == 0 && d.Outcome != event.Refused {
		return
	}
	d.replace(e.during(ctx, time.Time{},
		func(ctx context.Context) { d.Letter = e.Keep(ctx, e.letter(d, e.state.Place)) }))
}

func (e *execution) letter(d *Decision, at Place) *Letter {
	return &Letter{
		Decision: d, Result: e.last.result, Evidence: &e.last.evidence, Attempts: e.attempts, Place: at,
		Rotation: e.rotation.Standings(), Deadline: e.state.Deadline,
	}
}
