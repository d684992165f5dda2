package backoff

// This file times one wait of each curve, late in a long run.

import (
	"testing"
	"time"
)

func BenchmarkWait(b *testing.B) {
	const base = 100 * time.Millisecond
	for name, curve := range map[string]Curve{
		"exponential": Exponential(1.5), "linear": Linear,
		"constant": Constant, "fibonacci": Fibonacci,
	} {
		b.Run(name, func(b *testing.B) {
			s := Schedule{Curve: curve, Base: base, Cap: time.Hour, Jitter: Jitter{Kind: Full}}
			b.ReportAllocs()
			for b.Loop() {
				_ = s.Wait(1_000_000, time.Second, 0.5)
			}
		})
	}
}
