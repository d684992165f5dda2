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
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Longest is the longest duration, about 292 years. No formula overflows beyond it.
const Longest = time.Duration(math.MaxInt64)

// Curve returns the plain delay of wait n, from 1, before cap and jitter. It is never
// negative, and at most Longest.
type Curve func(base time.Duration, n int) time.Duration

// Constant is base, always.
func Constant(base time.Duration, _ int) time.Duration { return base }

// Linear is base x n.
func Linear(base time.Duration, n int) time.Duration {
	if base > 0 && time.Duration(n) > Longest/base {
		return Longest
	}
	return base * time.Duration(n)
}

// Exponential is base x factor^(n-1), the truncated exponential backoff of IEEE 802.3 and of
// the AWS Architecture Blog, "Exponential Backoff And Jitter" (2015). The factor is at least 1.
func Exponential(factor float64) Curve {
	return func(base time.Duration, n int) time.Duration {
		return FromFloat(float64(base) * math.Pow(factor, float64(n-1)))
	}
}

// Fibonacci is base x 1, 1, 2, 3, 5, ... The loop is short for any n: the 93rd number is
// beyond Longest.
func Fibonacci(base time.Duration, n int) time.Duration {
	d, next := base, base
	for i := 1; i < n && d < Longest && d > 0; i++ {
		d, next = next, Add(d, next)
	}
	return d
}

// List gives delays one by one and repeats the last. It is never empty.
func List(delays []time.Duration) Curve {
	return func(_ time.Duration, n int) time.Duration { return delays[min(n, len(delays))-1] }
}

// JitterKind names a way to spread the waits of clients that failed at the same time.
type JitterKind int

// The ways to spread a delay d by a uniform random number u in [0, 1). The first three are
// those of the AWS Architecture Blog.
const (
	// Full is u x d.
	Full JitterKind = iota
	// Equal is d/2 + u x d/2.
	Equal
	// Decorrelated is min(cap, base + u x (3 x previous wait - base)).
	Decorrelated
	// None is d.
	None
	// Percent is d' x (1 - P/100 + u x 2P/100) with d' = min(d, cap/(1 + P/100)): no wait
	// is above cap, and waits do not pile up there.
	Percent
)

// kindNames are the names of the kinds but Percent, in their order.
var kindNames = []string{"full", "equal", "decorrelated", "none"}

// Jitter is a way to spread a delay, with P in [0, 100] for Percent.
type Jitter struct {
	Kind JitterKind
	P    float64
}

// ParseJitter reads full, equal, decorrelated, none or a percentage such as "25%" from 0%
// to 100%.
func ParseJitter(s string) (Jitter, error) {
	if kind := slices.Index(kindNames, s); kind >= 0 {
		return Jitter{Kind: JitterKind(kind)}, nil
	}
	number, isPercent := strings.CutSuffix(s, "%")
	p, err := strconv.ParseFloat(number, 64)
	if isPercent && err == nil && p >= 0 && p <= 100 {
		return Jitter{Kind: Percent, P: p}, nil
	}
	return Jitter{}, fmt.Errorf("%q is not a jitter; use full, equal, decorrelated, none, or a percentage from 0%% "+
		"to 100%% such as 25%%", s)
}

// UnmarshalText is ParseJitter.
func (j *Jitter) UnmarshalText(text []byte) (err error) {
	*j, err = ParseJitter(string(text))
	return err
}

// String is what ParseJitter reads.
func (j Jitter) String() string {
	if j.Kind == Percent {
		return strconv.FormatFloat(j.P, 'g', -1, 64) + "%"
	}
	return kindNames[j.Kind]
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
	return min(s.Curve(s.Base, n), s.Cap)
}

// Wait returns wait n after jitter. The random number u is uniform in [0, 1). The wait before,
// previous, matters to decorrelated jitter only; Base stands for that before the first.
func (s *Schedule) Wait(n int, previous time.Duration, u float64) time.Duration {
	low, high := s.bounds(n, previous)
	part := min(FromFloat(u*float64(high-low)), high-low) // also after the rounding of large numbers
	return max(min(low+part, s.Cap), s.MinDelay)
}

// bounds returns the least and the greatest wait n by its jitter.
func (s *Schedule) bounds(n int, previous time.Duration) (low, high time.Duration) {
	d := s.Plain(n, previous)
	switch s.Jitter.Kind {
	case Full:
		return 0, d
	case Equal:
		return d / 2, d
	case Decorrelated:
		return s.Base, s.decorrelatedLimit(previous)
	case Percent:
		p := s.Jitter.P / 100
		d = min(d, FromFloat(float64(s.Cap)/(1+p)))
		return FromFloat(float64(d) * (1 - p)), FromFloat(float64(d) * (1 + p))
	}
	return d, d
}

// decorrelatedLimit is three times the wait before, at least base.
func (s *Schedule) decorrelatedLimit(previous time.Duration) time.Duration {
	if previous > Longest/3 {
		return Longest
	}
	return max(3*previous, s.Base)
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
