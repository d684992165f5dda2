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
		name   string
		policy engine.Policy
		outage time.Duration
		want   Need
	}{
		{"the sum of the waits", exponential(5, none, 30*second), 31 * second, Need{6, 31 * second}},
		{"and a little more", exponential(5, none, 30*second), 31*second + 1, Need{7, 61 * second}},
		{"nothing is to be outlived", exponential(5, none, 30*second), 0, Need{1, 0}},
		{"the deadline is in the way", engine.Policy{Attempts: 5, Deadline: 30 * second, Schedule: exponential(5, none, 30*second).Schedule}, 31 * second, Need{0, 31 * second}},
		{"no wait at all", engine.Policy{Schedule: backoff.Schedule{Curve: backoff.Constant, Jitter: none}}, second, Need{0, Unlimited}},
		{"beyond all durations", exponential(70, none, Unlimited), 100_000 * 24 * time.Hour, Need{35, Unlimited}},
		{"a hunt for a failure", engine.Policy{UntilFailure: true, Schedule: exponential(5, none, 30*second).Schedule}, second, Need{0, Unlimited}},
	} {
		if got := Needs(c.policy, c.outage, draw); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	p := exponential(5, full, 30*second)
	need := Needs(p, 2*time.Minute, draw)
	for _, c := range []struct {
		attempts int
		deadline time.Duration
		survives bool
	}{{need.Attempts, 0, true}, {need.Attempts - 1, 0, false}, {0, need.Deadline + 2*second, true}, {0, need.Deadline - 2*second, false}} {
		p.Attempts, p.Deadline = c.attempts, c.deadline
		if got := Promises(p, seeded(2)).OutlivesMost; (got >= 2*time.Minute) != c.survives {
			t.Errorf("%d attempts and a deadline of %v survive %v, of needed %v", c.attempts, c.deadline, got, need)
		}
	}
	if n := least(math.MaxInt8, func(n int) bool { return n >= 5000 }); n != 5000 {
		t.Errorf("from below: %d", n)
	}
}
