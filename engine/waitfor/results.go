package waitfor

// This file collects the results of the engines, and emits the events.

import (
	"cmp"
	"strings"
	"time"

	"github.com/retrysh/retry/engine/event"
)

// result is that of a try of a target.
type result struct {
	target int
	try    *event.AttemptFinished
}

// emitter passes on the results of the tries of one target, until the wait is over.
func (r *wait) emitter(target int) func(event.Event) {
	return func(e event.Event) {
		if try, ok := e.(*event.AttemptFinished); ok {
			select {
			case r.results <- result{target, try}:
			case <-r.over:
			}
		}
	}
}

// take records a result, and emits an event if it changes something. The reason of a try
// that the limit of the wait ended is reported at the end, with those of all others.
func (r *wait) take(n result) {
	s := &r.states[n.target]
	if n.try.Success {
		s.ready, s.Reason = true, ""
		if s.reported || !r.OnlyNews {
			r.emit(&event.TargetReady{Target: s.Target, After: time.Since(r.started)})
			r.emitPending(false)
		}
		return
	}
	reason := cmp.Or(n.try.Result.Note, n.try.Reason)
	isNew := !s.reported || r.compared(n.target, reason) != r.compared(n.target, s.Reason)
	s.Reason = reason
	if isNew && !n.try.Result.DeadlinePassed {
		s.reported = true
		r.emit(&event.TargetPending{Target: s.Target})
		r.emitPending(false)
	}
}

// compared is the part of a reason whose change is reported.
func (r *wait) compared(target int, reason string) string {
	if !r.Targets[target].Numbers {
		return reason
	}
	return strings.Map(func(c rune) rune {
		if c >= '0' && c <= '9' {
			return -1
		}
		return c
	}, reason)
}

// emitPending reports the targets that are still waited for, if there are any.
func (r *wait) emitPending(beat bool) {
	e := &event.TargetsPending{Beat: beat}
	for i := range r.states {
		if !r.states[i].ready {
			e.Pending = append(e.Pending, r.states[i].Target)
		}
	}
	if len(e.Pending) == 0 {
		return
	}
	end := r.end
	if end.IsZero() || !r.Deadline.IsZero() && r.Deadline.Before(end) {
		end = r.Deadline
	}
	if !end.IsZero() {
		e.Left, e.Limited = max(time.Until(end), 0), true
	}
	r.emit(e)
}
