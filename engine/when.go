package engine

// This file waits for the target of --retry-when (docs/targets.md) before another
// attempt.

import (
	"context"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/exitcodes"
)

// When waits until another attempt makes sense, by the schedule from at on. It begins no
// wait that would pass the deadline (the zero time is none), emits its progress through
// emit, and reads the signals itself.
type When func(ctx context.Context, at Place, deadline time.Time, emit func(event.Event)) Readiness

// Readiness is the result of such a wait.
type Readiness struct {
	Ready bool
	// Cancelled is the signal that asked for the end, "" for none.
	Cancelled attempt.Signal
	// DeadlinePassed says that the deadline ended the wait, not its own limit. Why says
	// so in words.
	DeadlinePassed bool
	Why            string
	// Place is where in the schedule the run goes on, Waited how long it took.
	Place  Place
	Waited time.Duration
}

// Place is where in its schedule the run was when it ended.
func (e *Engine) Place() Place { return e.state.Place }

// untilReady waits as When says. It returns how the run ends, nil if it goes on.
func (e *Engine) untilReady(ctx context.Context) *Decision {
	if e.When == nil {
		return nil
	}
	r := e.When(ctx, e.state.Place, e.deadline, e.emit)
	e.state.Place = r.Place
	e.last.waited += r.Waited
	switch {
	case r.Cancelled != "":
		return new(CancelledBy(r.Cancelled))
	case r.Ready:
		return nil
	}
	d := e.giveUp(event.Deadline, r.Why)
	if !r.DeadlinePassed { // neither code nor cause are those of the last attempt
		d.End = End{Code: exitcodes.Timeout}
		d.Ended, d.Known, d.CodeOnly, d.ByRule = r.Why, "", false, false
	}
	return d
}
