package engine

// This file waits before attempt 1, between attempts, for the target of --retry-when
// (docs/targets.md), and for other operations while no attempt runs. A signal ends each of
// these waits.

import (
	"context"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/backoff"
	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/exitcodes"
)

// prepare waits before attempt 1. It returns how the run ends, nil if it goes on.
func (e *execution) prepare(ctx context.Context) *Decision {
	if e.Before != nil {
		if end := e.Before(ctx, e.state.Deadline, e.emit); end != nil {
			return end
		}
	}
	p := &e.Policy
	first := p.InitialDelay
	if e.Resume != nil {
		first = 0
	} else if p.Splay > 0 {
		first = backoff.Add(first, backoff.FromFloat(float64(p.Splay)*e.Draw()))
	}
	if e.passes(first) {
		if end := e.cancelled(); end != nil {
			return end
		}
		return TimedOut("the deadline leaves no time for an attempt")
	}
	if first > 0 {
		e.emit(&event.InitialWait{Wait: first})
		if _, end := e.sleep(ctx, first); end != nil {
			return end
		}
		e.emit(&event.InitialWaited{})
	}
	return e.cancelled()
}

// wait waits as the last decision says. It returns how the run ends, nil if it goes on.
func (e *execution) wait(ctx context.Context) *Decision {
	if end := e.park(ctx); end != nil {
		return end
	}
	if end := e.permit(ctx); end != nil {
		return end
	}
	d := &e.last.decision
	e.emit(&event.RetryScheduled{Wait: d.Wait})
	e.due = time.Now().Add(d.Jittered)
	slept, end := e.sleep(ctx, d.Jittered)
	if end != nil {
		return end
	}
	e.due = time.Time{}
	e.emit(&event.RetryWaited{Wait: d.Wait, Slept: slept})
	if e.passes(0) {
		return e.tooLate(passedInWait)
	}
	e.state = d.Next
	if slept < d.Jittered { // it was woken
		e.state.LastLook = false
	}
	e.last.waited = min(slept, d.Jittered)
	return nil
}

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

// untilReady waits as When says. It returns how the run ends, nil if it goes on.
func (e *execution) untilReady(ctx context.Context) *Decision {
	if e.When == nil {
		return nil
	}
	e.emit(&event.Blocking{})
	r := e.When(ctx, e.state.Place, e.state.Deadline, e.emit)
	if r.Cancelled != "" { // where the schedule is then is not known
		return CancelledBy(r.Cancelled)
	}
	e.state.Place = r.Place
	e.last.waited += r.Waited
	if r.Ready {
		return nil
	}
	d := e.giveUp(event.Deadline, r.Why)
	if !r.DeadlinePassed { // neither code nor cause are those of the last attempt
		d.End = End{Code: exitcodes.Timeout}
		d.Ended = r.Why
		d.Known = ""
		d.ByRule = false
	}
	return d
}

// passes reports whether a wait of d would end past the deadline.
func (e *execution) passes(d time.Duration) bool {
	return e.state.late(d, time.Now())
}

// sleep waits for d, or until it is woken or cancelled. It returns how long that was, and
// how the run ends if it was cancelled.
func (e *execution) sleep(ctx context.Context, d time.Duration) (time.Duration, *Decision) {
	start := time.Now()
	if end := e.cancelled(); end != nil { // it ends even a wait of 0
		return 0, end
	}
	over := time.After(d)
	for {
		select {
		case <-over:
			return time.Since(start), nil
		case <-e.Signals.Woken:
			return time.Since(start), nil
		case signal := <-e.Signals.Cancelled:
			return 0, CancelledBy(signal)
		case <-ctx.Done():
			return 0, CancelledBy("SIGTERM")
		case lost := <-e.gate.Lost():
			if end := e.slotLost(lost); end != nil {
				return 0, end
			}
		}
	}
}

// during is interruptible, and displays of the run's state are told.
func (e *execution) during(ctx context.Context, deadline time.Time, f func(context.Context)) *Decision {
	if end := e.cancelled(); end != nil {
		return end
	}
	e.emit(&event.Blocking{})
	return e.interruptible(ctx, deadline, f)
}

// interruptible calls f, whose context ends at the deadline (the zero time is none) and when
// a signal asks for the end. When f has returned, it returns how the run ends by that signal.
func (e *execution) interruptible(ctx context.Context, deadline time.Time, f func(context.Context)) *Decision {
	if end := e.cancelled(); end != nil {
		return end
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if !deadline.IsZero() {
		limited, stop := context.WithTimeout(ctx, time.Until(deadline))
		defer stop()
		ctx = limited
	}
	done := make(chan struct{})
	go func() { defer close(done); f(ctx) }()
	select {
	case <-done:
		return nil
	case signal := <-e.Signals.Cancelled:
		cancel()
		<-done
		return CancelledBy(signal)
	}
}

// cancelled is how the run ends by a signal that has come, nil for none.
func (e *execution) cancelled() *Decision {
	select {
	case signal := <-e.Signals.Cancelled:
		return CancelledBy(signal)
	default:
		return nil
	}
}
