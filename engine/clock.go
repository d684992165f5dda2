package engine

// This file is the engine's clock, and one on which waits take no time.

import (
	"slices"
	"time"
)

// Clock is the time of a run.
type Clock interface {
	Now() time.Time
	// After returns a channel that delivers once d has passed.
	After(d time.Duration) <-chan time.Time
}

// System is the system's clock.
type System struct{}

// Now returns the time.
func (System) Now() time.Time { return time.Now() }

// After waits.
func (System) After(d time.Duration) <-chan time.Time { return time.After(d) }

func (e *Engine) now() time.Time                  { return e.Clock.Now() }
func (e *Engine) since(t time.Time) time.Duration { return e.now().Sub(t) }

// Arithmetic is a clock on which waits take no time. One goroutine at a time may use it.
type Arithmetic struct {
	now     time.Time
	tickers []*ticker
}

// ticker is a function that is called again and again.
type ticker struct {
	next  time.Time
	every time.Duration
	call  func()
}

// NewArithmetic returns a clock that begins at now.
func NewArithmetic(now time.Time) *Arithmetic { return &Arithmetic{now: now} }

// Now returns the time.
func (c *Arithmetic) Now() time.Time { return c.now }

// After goes ahead by d.
func (c *Arithmetic) After(d time.Duration) <-chan time.Time {
	c.Advance(d)
	over := make(chan time.Time, 1)
	over <- c.now
	return over
}

// Advance goes ahead by d, and calls what is due on the way.
func (c *Arithmetic) Advance(d time.Duration) {
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

// Every calls f each time that d has passed, until it is stopped.
func (c *Arithmetic) Every(d time.Duration, f func()) (stop func()) {
	t := &ticker{c.now.Add(d), d, f}
	c.tickers = append(c.tickers, t)
	return func() {
		c.tickers = slices.DeleteFunc(c.tickers, func(other *ticker) bool { return other == t })
	}
}
