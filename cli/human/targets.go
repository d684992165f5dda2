package human

// This file writes what a wait for targets still waits for: live on a terminal,
// elsewhere with a line now and then.

import (
	"strings"
	"time"

	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/message"
)

// targets writes what is missing and how long is left.
func (s *Sink) targets(e *event.TargetsPending) {
	switch {
	case s.claim():
		s.startTargets(e)
	case e.Beat:
		s.line(faint, "%s", message.StillPending(e))
	}
}

// startTargets begins to draw them, in front the time that is left, since the
// end of a long line is cut.
func (s *Sink) startTargets(e *event.TargetsPending) {
	var texts []string
	for i := range e.Pending {
		texts = append(texts, message.Pending(&e.Pending[i]))
	}
	text := message.Printable(strings.Join(texts, "; "))
	prefix := s.prefix()
	if !e.Limited {
		s.draw(prefix + "waiting for " + text)
		s.startDrawing(nil, 0)
		return
	}
	s.startDrawing(func(left string) string { return prefix + "waiting (" + left + " left) for " + text }, e.Left)
}

// slot writes that a slot is waited for: live on a terminal.
func (s *Sink) slot(e *event.SlotPending) {
	if !s.claim() {
		s.line(faint, "%s", message.SlotPending(e, message.Duration(e.Left.Round(time.Second))))
		return
	}
	prefix := s.prefix()
	s.startDrawing(func(left string) string { return prefix + message.Printable(message.SlotPending(e, left)) }, e.Left)
}
