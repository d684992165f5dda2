package human

// This file draws the live countdown: one line on a terminal, redrawn in
// place, erased without a trace before anything else is written.

import (
	"strings"
	"time"
)

// erase clears what was drawn from the first column on (ECMA-48, ED and EL).
// The cursor waits in that column, so that this holds where a narrower terminal
// has folded the line.
const erase = "\x1b[J\r\x1b[K"

// clear takes away whatever is drawn, and lets another run draw.
func (s *Sink) clear() {
	s.stopCountdown()
	s.stopStatus()
	if s.claimed {
		s.claimed = false
		s.options.Screen.Release()
	}
}

// claim reports whether a line can be redrawn now: the terminal is to be seen, and
// no other run draws on it.
func (s *Sink) claim() bool {
	if s.options.Screen != nil && !s.claimed && s.options.Screen.Width() > 0 {
		s.claimed = s.options.Screen.Claim()
	}
	return s.claimed
}

// countdown is one that is running.
type countdown struct {
	stop    chan struct{}
	stopped chan struct{}
}

// startCountdown begins to draw the time that is left of a wait, and what comes
// then. Without a terminal it does nothing, so that a sleeping program never
// wakes up.
func (s *Sink) startCountdown(to string, wait time.Duration) {
	if wait > 0 && s.claim() {
		prefix := s.prefix()
		s.startDrawing(func(left string) string { return prefix + to + " in " + left }, wait)
	}
}

// startDrawing begins to draw a text with the time left of a wait. With
// a wait of 0 there is nothing to draw, only to erase.
func (s *Sink) startDrawing(text func(left string) string, wait time.Duration) {
	c := &countdown{stop: make(chan struct{}), stopped: make(chan struct{})}
	s.countdown = c
	end := time.Now().Add(wait)
	go func() {
		defer close(c.stopped)
		for left := wait; left > 0; left = time.Until(end) {
			s.draw(text(remaining(left)))
			timer := time.NewTimer(untilChange(left))
			select {
			case <-timer.C:
			case <-c.stop:
				timer.Stop()
				return
			}
		}
	}()
}

// stopCountdown ends the drawing and erases what it drew.
func (s *Sink) stopCountdown() {
	if s.countdown == nil {
		return
	}
	close(s.countdown.stop)
	<-s.countdown.stopped
	s.countdown = nil
	s.show("", erase)
}

// draw writes text over what stood there, on the rows below too: a terminal that
// has become narrower has folded it. It is cut to one column less than the
// terminal has, since a line that wraps cannot be erased.
func (s *Sink) draw(text string) {
	if width := s.options.Screen.Width(); width > 0 {
		s.show(erase+fit(text, width-1)+"\r", erase)
	}
}

// show writes what draws something, and remembers it and what takes it away, for
// when the program is stopped. An empty drawing is that end.
func (s *Sink) show(drawing, undo string) {
	s.writing.Lock()
	defer s.writing.Unlock()
	was := s.shown
	if s.shown, s.undo = drawing, undo; drawing == "" {
		s.undo = ""
		if drawing = undo; was == "" {
			return
		}
	}
	if !s.hidden {
		s.put(drawing)
	}
}

// Hide erases what is drawn, since the program is about to be stopped. It waits for a
// write for at most hideLimit: that of a stopped terminal does not end.
func (s *Sink) Hide() {
	for end := time.Now().Add(hideLimit); !s.writing.TryLock(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			return
		}
	}
	defer s.writing.Unlock()
	s.hidden = true
	s.put(s.undo)
}

const hideLimit = 50 * time.Millisecond

// Unhide draws it again.
func (s *Sink) Unhide() {
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.hidden && s.options.Screen.Width() > 0 {
		s.put(s.shown)
	}
	s.hidden = false
}

// fit cuts text to so many columns.
func fit(text string, columns int) string {
	for i, r := range text {
		if columns -= columnsOf(r); columns < 0 {
			return text[:i]
		}
	}
	return text
}

// step is how often the countdown changes: tenths of a second in the last ten
// seconds, seconds before.
func step(left time.Duration) time.Duration {
	if left <= 10*time.Second {
		return 100 * time.Millisecond
	}
	return time.Second
}

// remaining rounds up, so that the countdown never shows 0 while it waits.
func remaining(left time.Duration) string {
	unit := step(left)
	left = (left + unit - 1) / unit * unit
	text := left.String()
	if unit < time.Second && !strings.Contains(text, ".") && left >= time.Second {
		text = strings.TrimSuffix(text, "s") + ".0s"
	}
	return text
}

// untilChange is the time after which remaining shows another text.
func untilChange(left time.Duration) time.Duration {
	unit := step(left)
	if rest := left % unit; rest > 0 {
		return rest
	}
	return unit
}
