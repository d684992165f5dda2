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

// statusAfter is how long an attempt runs before it is shown (docs/logs.md),
// statusLook how often it is looked whether it may stay.
const (
	statusAfter = time.Second
	statusLook  = 200 * time.Millisecond
)

// leastHeight is the lowest terminal that has a row to spare.
const leastHeight = 4

// The cursor's place is saved and restored (DECSC, DECRC), since setting the
// margins (DECSTBM) moves it. A step down and up again makes room on the last row
// (IND, RI). What is behind the cursor is the row and nothing else.
const (
	makeRoom      = "\x1bD\x1bM"
	saveCursor    = "\x1b7"
	restoreCursor = "\x1b8"
	giveBack      = saveCursor + "\x1b[r" + restoreCursor + "\x1b[J"
)

// status is what is, or will be, drawn of the attempt that runs.
type status struct {
	text          string
	timer         *time.Timer
	width, height int // of the terminal that it is drawn on; 0 before
}

// startStatus shows the attempt when it has run for a while, and at once where
// attempts are counted. Without a terminal it does nothing.
func (s *Sink) startStatus(e *event.AttemptStarted) {
	if s.options.Screen == nil || s.options.Level == Quiet {
		return
	}
	text := "attempt " + message.Position(&e.Header) + " runs"
	if e.Timeout > 0 {
		text += ", for " + message.Limit(e.Timeout) + " at most"
	}
	if e.Repeats {
		text = fmt.Sprintf("%s, %d failed", message.Position(&e.Header), e.Failed)
	}
	now := &status{text: text}
	now.timer = time.AfterFunc(statusAfter, func() { s.look(now) })
	if s.status = now; e.Repeats {
		s.drawStatus(now)
	}
}

// look draws the status, again where the terminal has another size, and erases it
// where the command has taken the screen.
func (s *Sink) look(now *status) {
	s.telling.Lock()
	defer s.telling.Unlock()
	if s.status == now {
		s.drawStatus(now)
	}
}

// drawStatus draws it, and looks again later.
func (s *Sink) drawStatus(now *status) {
	if !s.options.Screen.Status() {
		s.clear()
		return
	}
	now.timer.Reset(statusLook)
	width, height := s.options.Screen.Width(), s.options.Screen.Height()
	if width == now.width && height == now.height || width < leastWidth || height < leastHeight || !s.claim() {
		return
	}
	if now.width > 0 {
		s.show("", giveBack)
	}
	now.width, now.height = width, height
	s.show(makeRoom+saveCursor+fmt.Sprintf("\x1b[1;%dr\x1b[%d;1H", height-1, height)+fit(s.prefix()+now.text, width-1)+restoreCursor, giveBack)
}

// stopStatus erases it, and gives the row back.
func (s *Sink) stopStatus() {
	if s.status == nil {
		return
	}
	s.status.timer.Stop()
	s.status = nil
	s.show("", giveBack)
}
