package engine

// This file times one decision, which each attempt pays for.

import (
	"testing"
	"time"

	"github.com/retrysh/retry/engine/attempt"
)

func BenchmarkDecide(b *testing.B) {
	policy := testPolicy()
	state := State{Attempt: 2, Argv: []string{"make", "test"}}
	failed := attempt.Result{ExitCode: 1, Duration: time.Second}
	now := time.Unix(1_800_000_000, 0)
	b.ReportAllocs()
	for b.Loop() {
		if d := Decide(&policy, state, failed, Evidence{}, now, 0.5); !d.Retry {
			b.Fatalf("the benchmark times the wrong thing: %+v", d)
		}
	}
}
