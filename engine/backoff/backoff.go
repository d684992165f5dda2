// Package backoff computes the wait before the next attempt: a curve gives the plain
// delay, a cap limits it, a jitter spreads it.
//
// Every function is pure: the number of the wait and the random number are arguments.
//
// With base 100ms, factor 2 and cap 1s, the plain delays of the curves are:
//
//	n             1      2      3      4      5      6
//	exponential   100ms  200ms  400ms  800ms  1s     1s
//	linear        100ms  200ms  300ms  400ms  500ms  600ms
//	constant      100ms  100ms  100ms  100ms  100ms  100ms
//	fibonacci     100ms  100ms  200ms  300ms  500ms  800ms
package backoff

import (
	"math"
	"time"
)

// Longest is the longest duration, about 292 years. No formula overflows beyond it.
const Longest = time.Duration(math.MaxInt64)

// Curve gives the plain delay of wait n, from 1, before cap and jitter. It is never
// negative, and at most Longest.
type Curve interface {
	Delay(n int) time.Duration
}

// Schedule determines the waits.
type Schedule struct {
	Curve  Curve
	Jitter Jitter
	// Base is the first delay of the curve and the least decorrelated wait. Cap is the
	// greatest wait, unless MinDelay is greater. Both are 0 or more.
	Base, Cap time.Duration
	// MinDelay is the least wait after jitter.
	MinDelay time.Duration
}

// Plain returns the capped delay of wait n before jitter. Decorrelated jitter uses no
// curve: there it is the greatest wait that can follow the wait previous.
func (s *Schedule) Plain(n int, previous time.Duration) time.Duration {
	if s.Jitter.Kind == Decorrelated {
		return min(s.decorrelatedLimit(previous), s.Cap)
	}
	return min(s.Curve.Delay(n), s.Cap)
}

// Wait returns wait n after jitter. The random number u is uniform in [0, 1). The wait
// before, previous, matters to decorrelated jitter only; First is that of the first.
func (s *Schedule) Wait(n int, previous time.Duration, u float64) time.Duration {
	d := s.Plain(n, previous)
	if s.Jitter.Kind == Decorrelated {
		d = min(between(s.Base, s.decorrelatedLimit(previous), u), s.Cap)
	} else {
		d = s.Jitter.spread(d, s.Cap, u)
	}
	return max(d, s.MinDelay)
}

// First stands for the wait before the first one.
func (s *Schedule) First() time.Duration { return s.Base }

// decorrelatedLimit is three times the wait before, at least base.
func (s *Schedule) decorrelatedLimit(previous time.Duration) time.Duration {
	if previous > Longest/3 {
		return Longest
	}
	return max(3*previous, s.Base)
}

// between returns low + u x (high - low), within [low, high] also after the rounding of
// large numbers.
func between(low, high time.Duration, u float64) time.Duration {
	d := low + FromFloat(u*float64(high-low))
	if d < low || d > high {
		return high
	}
	return d
}

// Add adds two delays of 0 or more, up to Longest.
func Add(a, b time.Duration) time.Duration {
	if a > Longest-b {
		return Longest
	}
	return a + b
}

// FromFloat converts a number of nanoseconds, limited to [0, Longest]. NaN is 0.
func FromFloat(ns float64) time.Duration {
	switch {
	case ns >= math.MaxInt64:
		return Longest
	case ns > 0:
		return time.Duration(ns)
	}
	return 0
}
