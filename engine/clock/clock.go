// Package clock is the time of a run: the system's, or one on which waits take no time.
package clock

import "time"

// Clock is a time that goes on by waits alone, for one goroutine at a time. Nil is the
// system's.
type Clock struct{ now time.Time }

// New returns a clock that begins at now.
func New(now time.Time) *Clock { return &Clock{now} }

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
