package plan

import (
	"math"
	"testing"
	"time"

	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/backoff"
)

func TestNeeds(t *testing.T) {
	none, full := backoff.Jitter{Kind: backoff.None}, backoff.Jitter{Kind: backoff.Full}
	draw := func() func() float64 { return seeded(1) }
	for _, c := range []struct {
		name     string
		policy   engine.Policy
		outage   time.Duration
		attempts int // 0 for none
		deadline time.Duration
	}{
		{"the sum of the waits", exponential(5, none, 30*second), 31 * second, 6, 31 * second},
		{"and a little more", exponential(5, none, 30*second), 31*second + 1, 7, 61 * second},
		{"nothing is to be outlived", exponential(5, none, 30*second), 0, 1, 0},
		{"the deadline is in the way",
			engine.Policy{Attempts: 5, Deadline: 30 * second, Schedule: exponential(5, none, 30*second).Schedule},
			31 * second, 0, 31 * second},
		{"no wait at all", engine.Policy{Schedule: backoff.Schedule{Curve: backoff.Constant, Jitter: none}}, second,
			0, Unlimited},
		{"beyond all durations", exponential(70, none, Unlimited), 100_000 * 24 * time.Hour, 35, Unlimited},
		{"a hunt for a failure", engine.Policy{UntilFailure: true,
			Schedule: exponential(5, none, 30*second).Schedule}, second, 0, Unlimited},
	} {
		got, attempts := Needs(c.policy, c.outage, draw), 0
		if got.Attempts != nil {
			attempts = *got.Attempts
		}
		if attempts != c.attempts || time.Duration(got.Deadline) != c.deadline {
			t.Errorf("%s: %d attempts and %v, want %d and %v", c.name, attempts, got.Deadline, c.attempts, c.deadline)
		}
	}
	p := exponential(5, full, 30*second)
	need := Needs(p, 2*time.Minute, draw)
	attempts, deadline := *need.Attempts, time.Duration(need.Deadline)
	for _, c := range []struct {
		attempts int
		deadline time.Duration
		survives bool
	}{{attempts, 0, true}, {attempts - 1, 0, false}, {0, deadline + 2*second, true}, {0, deadline - 2*second, false}} {
		p.Attempts, p.Deadline = c.attempts, c.deadline
		if got := Promises(p, seeded(2)).OutlivesMost; (time.Duration(got) >= 2*time.Minute) != c.survives {
			t.Errorf("%d attempts and a deadline of %v survive %v, of needed %d and %v", c.attempts, c.deadline, got,
				attempts, deadline)
		}
	}
	if n := least(math.MaxInt8, func(n int) bool { return n >= 5000 }); n != 5000 {
		t.Errorf("from below: %d", n)
	}
}
