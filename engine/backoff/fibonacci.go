package backoff

import "time"

// Fibonacci is base x 1, 1, 2, 3, 5, ...: it grows by the golden ratio, 1.618,
// where the exponential curve doubles.
type Fibonacci struct{ Base time.Duration }

// Delay returns base times the n-th Fibonacci number. The numbers pass Longest
// before the 93rd, so that the loop is short for any n.
func (f Fibonacci) Delay(n int) time.Duration {
	d, next := f.Base, f.Base
	for i := 1; i < n && d < Longest && d > 0; i++ {
		d, next = next, sum(d, next)
	}
	return d
}

// sum adds two delays and ends at Longest.
func sum(a, b time.Duration) time.Duration {
	if a > Longest-b {
		return Longest
	}
	return a + b
}
