package backoff

// This file holds the curves.

import (
	"math"
	"time"
)

// Constant is base, always.
type Constant struct{ Base time.Duration }

// Delay returns base.
func (c Constant) Delay(int) time.Duration { return c.Base }

// Linear is base x n.
type Linear struct{ Base time.Duration }

// Delay returns base x n.
func (l Linear) Delay(n int) time.Duration {
	if l.Base > 0 && time.Duration(n) > Longest/l.Base {
		return Longest
	}
	return l.Base * time.Duration(n)
}

// Exponential is base x factor^(n-1), the truncated exponential backoff of IEEE 802.3 and
// of the AWS Architecture Blog, "Exponential Backoff And Jitter" (2015). Factor is at least
// 1.
type Exponential struct {
	Base   time.Duration
	Factor float64
}

// Delay returns base x factor^(n-1).
func (e Exponential) Delay(n int) time.Duration {
	if e.Base == 0 {
		return 0
	}
	return FromFloat(float64(e.Base) * math.Pow(e.Factor, float64(n-1)))
}

// Fibonacci is base x 1, 1, 2, 3, 5, ...
type Fibonacci struct{ Base time.Duration }

// Delay returns base times the n-th Fibonacci number. The loop is short for any n: the
// 93rd is beyond Longest.
func (f Fibonacci) Delay(n int) time.Duration {
	d, next := f.Base, f.Base
	for i := 1; i < n && d < Longest && d > 0; i++ {
		d, next = next, Add(d, next)
	}
	return d
}

// List gives delays one by one and repeats the last. It is never empty.
type List []time.Duration

// Delay returns the n-th delay, or the last one.
func (l List) Delay(n int) time.Duration { return l[min(n, len(l))-1] }
