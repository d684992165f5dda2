package human

// This file draws on a terminal: the countdown of a wait and the targets that are
// waited for, on the current line, and which attempt runs, on the last row. Whatever
// is drawn is redrawn in place by a timer, and erased before anything else is written.

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"

	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/message"
)

// Screen is a terminal on which a line may be drawn and redrawn.
type Screen interface {
	// Size returns the columns, 0 if nothing should be drawn now, and the rows, 0
	// if they are not known.
	Size() (columns, rows int)
	// Status reports whether the running attempt may be shown beside the output of
	// the command.
	Status() bool
	// Raw reports whether a line feed leaves the column as it is now.
	Raw() bool
	// Claim asks for the right to draw, and reports whether it was given: until
	// Release no other run gets it.
	Claim() bool
	Release()
	// OnStop has hide called before the program is stopped, and show after.
	OnStop(hide, show func())
}

// columns are those of the terminal, 0 if nothing can be drawn now.
func (s *Sink) columns() int {
	if s.Screen == nil {
		return 0
	}
	columns, _ := s.Screen.Size()
	return columns
}

// claim reports whether a line can be redrawn now: the program is in the foreground,
// and no other run draws on the terminal.
func (s *Sink) claim() bool {
	if !s.claimed && s.columns() > 0 {
		if s.claimed = s.Screen.Claim(); s.claimed {
			s.Screen.OnStop(s.hide, s.show)
		}
	}
	return s.claimed
}

// draw has a function draw after a time. It returns when it is to draw again, 0 for
// never. Without a terminal nothing is drawn, so that a sleeping program never wakes up.
func (s *Sink) draw(after time.Duration, redraw func() time.Duration) {
	var timer *time.Timer
	timer = time.AfterFunc(after, func() {
		s.emitting.Lock()
		defer s.emitting.Unlock()
		if s.timer != timer {
			return
		}
		if next := redraw(); next > 0 {
			timer.Reset(next)
		}
	})
	s.timer = timer
}

// clear erases whatever is drawn, and lets another run draw.
func (s *Sink) clear() {
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
	s.wipe()
	if s.claimed {
		s.claimed = false
		s.Screen.Release()
	}
}

// wipe erases what is drawn.
func (s *Sink) wipe() { s.replace(s.undo, "", "") }

// replace writes what turns the last drawing into this one. It keeps the drawing and what
// erases it, for when the program is stopped.
func (s *Sink) replace(written, drawing, undo string) {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.shown, s.undo = drawing, undo
	if !s.hidden {
		s.write(written)
	}
}

// erase clears what was drawn from the first column on (ECMA-48, ED and EL).
// The cursor waits in that column, so that all is cleared even if a terminal that
// became narrower has folded the line.
const erase = "\x1b[J\r\x1b[K"

// countdown draws a text with the time that is left of a wait.
func (s *Sink) countdown(wait time.Duration, text func(left string) string) {
	if wait <= 0 || !s.claim() {
		return
	}
	prefix := s.prefix()
	end := time.Now().Add(wait)
	redraw := func() time.Duration {
		left := time.Until(end)
		if left <= 0 {
			return 0
		}
		shown, change := remaining(left)
		s.overwrite(prefix + message.Printable(text(shown)))
		return change
	}
	s.draw(redraw(), redraw)
}

// targets draws the targets that are waited for, after the time that is left, since
// the end of a long line is cut.
func (s *Sink) targets(e *event.TargetsPending) {
	var texts []string
	for i := range e.Pending {
		texts = append(texts, message.Pending(&e.Pending[i]))
	}
	room := 0
	if columns := s.columns(); columns > 0 {
		room = max(columns-1-runewidth.StringWidth(s.prefix()+message.WaitingFor("", "99m59s")), 1)
	}
	text := counted(texts, room)
	if !e.Limited {
		s.overwrite(s.prefix() + message.WaitingFor(text, ""))
		return
	}
	s.countdown(e.Left, func(left string) string { return message.WaitingFor(text, left) })
}

// counted joins texts as far as they fit into so many columns (0 is no limit), and counts the
// others. The first is cut if it does not fit.
func counted(texts []string, columns int) string {
	for n := len(texts); n > 0; n-- {
		some := message.Printable(strings.Join(texts[:n], "; "))
		more := ""
		if n < len(texts) {
			more = fmt.Sprintf("; %d more", len(texts)-n)
		}
		switch {
		case columns == 0, runewidth.StringWidth(some+more) <= columns:
			return some + more
		case n == 1:
			return strings.TrimRight(fit(some, max(columns-len(more), 0)), ": ") + more
		}
	}
	return ""
}

// overwrite writes text over what stood there, on the rows below too: a terminal that
// has become narrower has folded it. It is cut to one column less than the
// terminal has, since a line that wraps cannot be erased.
func (s *Sink) overwrite(text string) {
	if columns := s.columns(); columns > 0 {
		drawing := erase + fit(text, columns-1) + "\r"
		s.replace(s.newLine()+drawing, drawing, erase)
	}
}

// fit cuts text to so many columns.
func fit(text string, columns int) string {
	for i, r := range text {
		if columns -= runewidth.RuneWidth(r); columns < 0 {
			return text[:i]
		}
	}
	return text
}

// remaining is a time that is left, and the time after which its text changes: tenths of
// a second in the last ten seconds, seconds before. It is rounded up, so that the
// countdown never shows 0 while it waits.
func remaining(left time.Duration) (text string, change time.Duration) {
	unit := time.Second
	if left <= 10*time.Second {
		unit = 100 * time.Millisecond
	}
	change = cmp.Or(left%unit, unit)
	left = (left + unit - 1).Truncate(unit)
	if unit < time.Second && left >= time.Second {
		return fmt.Sprintf("%.1fs", left.Seconds()), change
	}
	return left.String(), change
}

// statusAfter is how long an attempt runs before it is shown (docs/logs.md),
// statusLook how often the size of the terminal is looked at.
const (
	statusAfter = time.Second
	statusLook  = 200 * time.Millisecond
)

// leastRows is the lowest terminal that has a row to spare.
const leastRows = 4

// The cursor's place is saved and restored (DECSC, DECRC), since setting the
// margins (DECSTBM) moves it. A step down and up again makes room on the last row
// (IND, RI). After the cursor there is only the row.
const (
	makeRoom      = "\x1bD\x1bM"
	saveCursor    = "\x1b7"
	restoreCursor = "\x1b8"
	clearLine     = "\x1b[K" // from the cursor on
	giveBack      = saveCursor + "\x1b[r" + restoreCursor + "\x1b[J"
)

// status shows the attempt after statusAfter, and at once if attempts are counted. The
// command may write at any time, so the last row of the terminal is reserved and the
// output of the command scrolls above it, within margins such as apt sets for its
// progress. If the command takes the screen, the row is given back.
func (s *Sink) status(e *event.AttemptStarted) {
	if s.Screen == nil {
		return
	}
	row := &statusRow{sink: s, attempt: e, deadline: s.Run.Start.Deadline}
	after := statusAfter
	if e.Repeats {
		after = row.redraw()
	}
	if after > 0 {
		s.draw(after, row.redraw)
	}
}

// statusRow is the last row of the terminal while an attempt runs.
type statusRow struct {
	sink          *Sink
	attempt       *event.AttemptStarted
	deadline      time.Time // of the run
	columns, rows int       // of the terminal when it was drawn; 0 before
	text          string
}

// redraw draws the row if the terminal or its text has changed. It returns when to look
// again, 0 for never.
func (r *statusRow) redraw() time.Duration {
	s := r.sink
	if !s.Screen.Status() {
		s.clear()
		return 0
	}
	columns, rows := s.Screen.Size()
	text := message.Running(r.attempt, r.deadline, time.Now())
	same := columns == r.columns && rows == r.rows
	if same && text == r.text || columns < leastColumns || rows < leastRows || !s.claim() {
		return statusLook
	}
	if r.columns > 0 && !same {
		s.wipe()
	}
	margins := fmt.Sprintf("\x1b[1;%dr", rows-1)
	row := fmt.Sprintf("\x1b[%d;1H", rows) + fit(s.prefix()+text, columns-1)
	drawing := makeRoom + saveCursor + margins + row + restoreCursor
	written := drawing
	if same {
		written = saveCursor + row + clearLine + restoreCursor
	}
	r.columns, r.rows, r.text = columns, rows, text
	s.replace(written, drawing, giveBack)
	return statusLook
}

// hide erases what is drawn, since the program is about to be stopped. It waits for a
// write for at most hideLimit: that of a stopped terminal does not end.
func (s *Sink) hide() {
	for end := time.Now().Add(hideLimit); !s.writing.TryLock(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			return
		}
	}
	defer s.writing.Unlock()
	s.hidden = true
	s.write(s.undo)
}

const hideLimit = 50 * time.Millisecond

// show draws it again.
func (s *Sink) show() {
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.hidden && s.columns() > 0 {
		s.write(s.shown)
	}
	s.hidden = false
}
