package human

// This file draws which attempt runs, once it has run for a while: behind what
// the command has written so far, with the cursor put back, since the line is
// the command's.

import (
	"time"

	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/tell"
)

// statusAfter is how long an attempt runs before it is shown (SPEC section 15).
const statusAfter = time.Second

// The cursor's place is saved and restored (DECSC, DECRC), and what stands behind
// it erased (ECMA-48, ED).
const (
	saveCursor    = "\x1b7"
	restoreCursor = "\x1b8"
	eraseBehind   = "\x1b[J"
)

// status is what is, or will be, drawn of the attempt that runs.
type status struct {
	timer *time.Timer
	drawn bool
}

// startStatus sees to it that the attempt is shown when it has run for a while.
// Without a terminal it does nothing.
func (s *Sink) startStatus(e *event.AttemptStarted) {
	if s.options.Width == nil || s.options.Status == nil {
		return
	}
	text := prefix + "attempt " + tell.Position(&e.Header) + " runs"
	if e.Timeout > 0 {
		text += ", for " + tell.Limit(e.Timeout) + " at most"
	}
	now := new(status)
	now.timer = time.AfterFunc(statusAfter, func() {
		s.telling.Lock()
		defer s.telling.Unlock()
		if s.status != now || !s.options.Status() || s.options.Width() <= len(text) {
			return
		}
		now.drawn = true
		s.write(saveCursor + text + restoreCursor)
	})
	s.status = now
}

// stopStatus erases it.
func (s *Sink) stopStatus() {
	if s.status == nil {
		return
	}
	s.status.timer.Stop()
	if s.status.drawn {
		s.write(eraseBehind)
	}
	s.status = nil
}
