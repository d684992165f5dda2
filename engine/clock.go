package engine

// This file is the clock of a run.

import (
	"slices"
	"time"
)

// Clock is the time of a run. Nil is the system's; NewClock returns one on which waits take
// no time, and which one goroutine at a time may use.
type Clock struct {
	now     time.Time
	tickers []*ticker
}

// ticker is a function that is called again and again.
type ticker struct {
	next  time.Time
	every time.Duration
	call  func()
}

// NewClock returns a clock that begins at now.
func NewClock(now time.Time) *Clock { return &Clock{now: now} }

// Now returns the time.
func (c *Clock) Now() time.Time {
	if c == nil {
		return time.Now()
	}
	return c.now
}

// After returns a channel that delivers once d has passed.
func (c *Clock) After(d time.Duration) <-chan time.Time {
	if c == nil {
		return time.After(d)
	}
	c.Advance(d)
	over := make(chan time.Time, 1)
	over <- c.now
	return over
}

// Advance goes ahead by d, and calls what is due on the way.
func (c *Clock) Advance(d time.Duration) {
	end := c.now.Add(max(d, 0))
	for len(c.tickers) > 0 {
		t := slices.MinFunc(c.tickers, func(a, b *ticker) int { return a.next.Compare(b.next) })
		if t.next.After(end) {
			break
		}
		c.now, t.next = t.next, t.next.Add(t.every)
		t.call()
	}
	c.now = end
}

// Every calls f each time that d has passed, until stop is called; f has returned when stop
// returns.
func (c *Clock) Every(d time.Duration, f func()) (stop func()) {
	if c != nil {
		t := &ticker{c.now.Add(d), d, f}
		c.tickers = append(c.tickers, t)
		return func() {
			c.tickers = slices.DeleteFunc(c.tickers, func(other *ticker) bool { return other == t })
		}
	}
	over, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		ticker := time.NewTicker(d)
		defer ticker.Stop()
		for {
			select {
			case <-over:
				return
			case <-ticker.C:
				f()
			}
		}
	}()
	return func() { close(over); <-stopped }
}

func (e *Engine) now() time.Time                  { return e.Clock.Now() }
func (e *Engine) since(t time.Time) time.Duration { return e.now().Sub(t) }
