package operation

// This file times operations: what the loop costs one that succeeds, and whether
// many that wait hold one another up.

import (
	"context"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"
)

// measure runs the operations of b, atOnce at a time, and holds them to a rate
// and a 99th percentile.
func measure(b *testing.B, atOnce int, rate float64, limit time.Duration, fails int) {
	r := New(Policy{MaxRetries: 1, InitialDelay: 10 * time.Millisecond, MaxDelay: 10 * time.Millisecond, Multiplier: 1})
	took := make([]time.Duration, b.N)
	var next atomic.Int64
	done := make(chan struct{})
	b.ReportAllocs()
	b.ResetTimer()
	for range atOnce {
		go func() {
			for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
				start, calls := time.Now(), 0
				if !r.Execute(context.Background(), strconv.FormatInt(i, 10),
					func(context.Context) (bool, error) { calls++; return calls > fails, nil }) {
					b.Error("failed")
				}
				took[i-1] = time.Since(start)
			}
			done <- struct{}{}
		}()
	}
	for range atOnce {
		<-done
	}
	b.StopTimer()
	slices.Sort(took)
	achieved, p99 := float64(b.N)/b.Elapsed().Seconds(), took[len(took)*99/100]
	b.ReportMetric(achieved, "ops/s")
	b.ReportMetric(float64(p99)/1e6, "p99-ms")
	if enough := b.N >= 1000; enough && (achieved < rate || p99 > limit) {
		b.Errorf("%.0f a second, 99 of 100 within %v; want %.0f within %v", achieved, p99, rate, limit)
	}
}

func BenchmarkSuccess(b *testing.B) { measure(b, 1, 100_000, 25*time.Millisecond, 0) }

func BenchmarkSuccess64AtOnce(b *testing.B) { measure(b, 64, 100_000, 25*time.Millisecond, 0) }

// BenchmarkOneRetry has one retry after 10 ms in each operation.
func BenchmarkOneRetry(b *testing.B) { measure(b, 64, 2_000, 75*time.Millisecond, 1) }
