package human

// This file draws which attempt runs, once it has run for a while. The lines are
// the command's, which writes when it likes, so the terminal's last row is set
// apart: what the command writes scrolls above it, as in the margins that apt
// sets for its progress.

import (
	"fmt"
	"time"

	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/message"
)

// statusAfter is how long an attempt runs before it is shown (SPEC section 15),
// statusLook how often it is looked whether it may stay.
const (
	statusAfter = time.Second
	statusLook  = 200 * time.Millisecond
)

// leastHeight is the lowest terminal that has a row to spare.
const leastHeight = 4

// The cursor's place is saved and restored (DECSC, DECRC), since setting the
// margins (DECSTBM) moves it. A step down and up again makes room on the last row
// (IND, RI).
const (
	makeRoom      = "\x1bD\x1bM"
	saveCursor    = "\x1b7"
	restoreCursor = "\x1b8"
	noMargins     = "\x1b[r"
	eraseBehind   = "\x1b[J"
)

// status is what is, or will be, drawn of the attempt that runs.
type status struct {
	text  string
	timer *time.Timer
	drawn bool
}

// startStatus shows the attempt when it has run for a while, and at once where
// attempts are counted. Without a terminal it does nothing.
func (s *Sink) startStatus(e *event.AttemptStarted) {
	if s.options.Width == nil || s.options.Status == nil {
		return
	}
	text := prefix + "attempt " + message.Position(&e.Header) + " runs"
	if e.Timeout > 0 {
		text += ", for " + message.Limit(e.Timeout) + " at most"
	}
	if e.Repeats {
		text = prefix + fmt.Sprintf("%s, %d failed", message.Position(&e.Header), e.Failed)
	}
	now := &status{text: text}
	now.timer = time.AfterFunc(statusAfter, func() { s.look(now) })
	if s.status = now; e.Repeats {
		s.drawStatus(now)
	}
}

// look draws the status, and erases it where the command has taken the screen.
func (s *Sink) look(now *status) {
	s.telling.Lock()
	defer s.telling.Unlock()
	if s.status == now {
		s.drawStatus(now)
	}
}

// drawStatus draws it, and looks again later.
func (s *Sink) drawStatus(now *status) {
	if !s.options.Status() {
		s.stopStatus()
		return
	}
	if !now.drawn {
		width, height := s.options.Width(), s.options.Height()
		if width < leastWidth || height < leastHeight {
			return
		}
		now.drawn = true
		s.write(makeRoom + saveCursor + fmt.Sprintf("\x1b[1;%dr\x1b[%d;1H", height-1, height) + fit(now.text, width-1) + restoreCursor)
	}
	now.timer.Reset(statusLook)
}

// stopStatus erases it, and gives the row back.
func (s *Sink) stopStatus() {
	if s.status == nil {
		return
	}
	s.status.timer.Stop()
	if s.status.drawn {
		s.write(saveCursor + noMargins + restoreCursor + eraseBehind)
	}
	s.status = nil
}
