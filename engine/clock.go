package engine

// This file is the clock of a run.

import "time"

// Clock is the time of a run. Nil is the system's; NewClock returns one on which waits take
// no time, and which one goroutine at a time may use.
type Clock struct{ now time.Time }

// NewClock returns a clock that begins at now.
func NewClock(now time.Time) *Clock { return &Clock{now} }

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

// Advance goes ahead by d.
func (c *Clock) Advance(d time.Duration) { c.now = c.now.Add(max(d, 0)) }

func (e *Engine) now() time.Time                  { return e.Clock.Now() }
func (e *Engine) since(t time.Time) time.Duration { return e.now().Sub(t) }
