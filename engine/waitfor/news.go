package waitfor

// This file collects what the engines of the targets find, and emits the events.

import (
	"context"
	"strings"
	"time"

	"github.com/retrysh/retry/engine/event"
)

// news is what an engine has found out about its target, or that it has ended.
type news struct {
	target int
	try    *event.AttemptFinished
	ended  bool
}

// send hands over news until the wait is over.
func (r *wait) send(n news) {
	select {
	case r.news <- n:
	case <-r.over:
	}
}

// listener is the sink of one target's engine.
type listener struct {
	wait   *wait
	target int
}

// Emit hands over what came of a try.
func (l *listener) Emit(e event.Event) {
	if try, ok := e.(*event.AttemptFinished); ok {
		l.wait.send(news{target: l.target, try: try})
	}
}

// Close has nothing to do.
func (l *listener) Close(context.Context) error { return nil }

// learn takes in news, and emits an event where they change something. The reason of a try that
// the limit of the wait cut short is reported at the end, with those of all others.
func (r *wait) learn(n news) {
	if n.ended {
		r.left--
		return
	}
	s := &r.states[n.target]
	if n.try.Success {
		s.ready = true
		s.Reason = ""
		if s.reported || !r.OnlyNews {
			r.emit(&event.TargetReady{Target: s.Target, After: time.Since(r.started)})
			r.emitPending(false)
		}
		return
	}
	reason := n.try.Result.Note
	if reason == "" {
		reason = n.try.Reason
	}
	isNews := !s.reported || r.gist(n.target, reason) != r.gist(n.target, s.Reason)
	s.Reason = reason
	if isNews && !n.try.Result.DeadlinePassed {
		s.reported = true
		r.emit(&event.TargetPending{Target: s.Target})
		r.emitPending(false)
	}
}

// gist is what counts as news in a reason.
func (r *wait) gist(target int, reason string) string {
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
