package engine

// This file waits for what must be ready before another attempt makes sense
// (--retry-when, docs/targets.md): no attempt is spent on what is known to be
// down.

import (
	"context"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/exitcodes"
)

// When waits until another attempt makes sense. Its waits are those of the
// schedule from at on; none is begun that would pass the deadline (the zero
// time is none). It emits its progress through emit. It reads the signals
// itself, and consumes one that has come.
type When func(ctx context.Context, at Place, deadline time.Time, emit func(event.Event)) Readiness

// Place is where in its schedule a run is.
type Place struct {
	// Step is the number of the next wait, from 1; Previous is the wait before
	// it.
	Step     int
	Previous time.Duration
}

// Readiness is what came of waiting for what is to be ready.
type Readiness struct {
	Ready bool
	// Cancelled is the signal that asked for the end, "" for none.
	Cancelled attempt.Signal
	// DeadlinePassed says that the deadline left no time, where it was not
	// ready; otherwise the limit of the wait itself passed. Why says it in words.
	DeadlinePassed bool
	Why            string
	// Place is where in the schedule the run goes on, Waited how long it took.
	Place  Place
	Waited time.Duration
}

// Place is where in its schedule the run is. It is for when the run has ended.
func (e *Engine) Place() Place { return Place{e.state.Step, e.state.Previous} }

// untilReady waits as When says. Where the run does not go on, the decision
// says how it ends.
func (e *Engine) untilReady(ctx context.Context, last *lastAttempt) *Decision {
	if e.When == nil {
		return nil
	}
	r := e.When(ctx, e.Place(), e.deadline, e.emit)
	e.state.Step, e.state.Previous = r.Place.Step, r.Place.Previous
	last.waited += r.Waited
	switch {
	case r.Cancelled != "":
		return e.withdraw(CancelledBy(r.Cancelled))
	case r.Ready:
		return nil
	}
	d := last.decision
	d.Accepted = false
	giveUp(&d, event.Deadline, r.Why)
	if r.DeadlinePassed {
		d.End = end(last.result, d.Outcome)
	} else { // the code is not that of the last attempt, and neither is the cause
		d.End = End{Code: exitcodes.Timeout}
		d.Ended, d.Known, d.CodeOnly, d.ByRule = r.Why, "", false, false
	}
	return e.withdraw(d)
}
