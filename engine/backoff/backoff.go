// Package backoff computes how long to wait before the next attempt: a curve
// gives the plain delay, a cap bounds it, a jitter spreads it.
//
// Every function is pure: the wait's number and the random number come in as
// arguments, so that each formula can be held against its definition in
// microseconds. The package will never sleep, draw or read a clock.
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

// Longest is the longest delay that can be expressed, about 292 years. Every
// formula ends here rather than overflow.
const Longest = time.Duration(math.MaxInt64)

// Curve gives the plain delay of wait number n, counted from 1, before cap and
// jitter. It is defined for every n from 1 on, never negative, and grows to
// Longest rather than overflow.
type Curve interface {
	Delay(n int) time.Duration
}

// Schedule is everything that turns a wait's number into a wait.
type Schedule struct {
	Curve  Curve
	Jitter Jitter
	// Base is the first delay of the curve and the least of a decorrelated
	// draw. Cap bounds every wait but a MinDelay above it. Both are 0 or more.
	Base, Cap time.Duration
	// MinDelay is a floor under the jittered wait.
	MinDelay time.Duration
}

// Plain returns the capped delay of wait n before jitter. Decorrelated jitter
// uses no curve: there it is the greatest wait that can be drawn after the
// wait previous.
func (s *Schedule) Plain(n int, previous time.Duration) time.Duration {
	if s.Jitter.Kind == Decorrelated {
		return min(s.decorrelatedLimit(previous), s.Cap)
	}
	return min(s.Curve.Delay(n), s.Cap)
}

// Wait returns the jittered wait number n. The random number u is uniform in
// [0, 1). The wait before it, previous, matters to decorrelated jitter only;
// First is the previous wait of the first.
func (s *Schedule) Wait(n int, previous time.Duration, u float64) time.Duration {
	d := s.Plain(n, previous)
	if s.Jitter.Kind == Decorrelated {
		d = min(between(s.Base, s.decorrelatedLimit(previous), u), s.Cap)
	} else {
		d = s.Jitter.spread(d, s.Cap, u)
	}
	return max(d, s.MinDelay)
}

// First is what stands for the wait before the first one.
func (s *Schedule) First() time.Duration { return s.Base }

// decorrelatedLimit is three times the wait before, and never under base.
func (s *Schedule) decorrelatedLimit(previous time.Duration) time.Duration {
	if previous > Longest/3 {
		return Longest
	}
	return max(3*previous, s.Base)
}

// between returns low + u x (high - low), within [low, high] whatever the
// rounding of large numbers does.
func between(low, high time.Duration, u float64) time.Duration {
	d := low + FromFloat(u*float64(high-low))
	if d < low || d > high {
		return high
	}
	return d
}

// Add adds two delays of 0 or more, and returns Longest rather than overflow.
func Add(a, b time.Duration) time.Duration {
	if a > Longest-b {
		return Longest
	}
	return a + b
}

// FromFloat converts a number of nanoseconds, with anything beyond Longest
// (and what is not a number, as infinity times zero) held within [0, Longest].
func FromFloat(ns float64) time.Duration {
	switch {
	case ns >= math.MaxInt64:
		return Longest
	case ns > 0:
		return time.Duration(ns)
	default:
		return 0
	}
}
