package plan

// This file holds the promises against figures that are known by arithmetic.

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/backoff"
)

const second = time.Second

// exponential is a policy of a base of 1s.
func exponential(attempts int, jitter backoff.Jitter, limit time.Duration) engine.Policy {
	return engine.Policy{Attempts: attempts, Schedule: backoff.Schedule{
		Curve: backoff.Exponential(2), Base: second, Cap: limit, Jitter: jitter,
	}}
}

func seeded(seed uint64) func() float64 { return rand.New(rand.NewPCG(seed, 0)).Float64 }

func TestPromises(t *testing.T) {
	none, full := backoff.Jitter{Kind: backoff.None}, backoff.Jitter{Kind: backoff.Full}
	constant := func(attempts int, base time.Duration) engine.Policy {
		p := exponential(attempts, none, time.Hour)
		p.Schedule.Curve, p.Schedule.Base = backoff.Constant, base
		return p
	}
	with := func(p engine.Policy, change func(*engine.Policy)) engine.Policy { change(&p); return p }
	for _, c := range []struct {
		name                string
		policy              engine.Policy
		longest, half, most time.Duration
	}{
		{"no limit of an attempt", exponential(5, none, 30*second), Unlimited, 15 * second, 15 * second},
		{"timeout", with(exponential(5, none, 30*second), func(p *engine.Policy) { p.Timeout = 10 * second }),
			65 * second, 15 * second, 15 * second},
		{"before attempt 1", with(exponential(5, full, 30*second),
			func(p *engine.Policy) { p.Timeout, p.InitialDelay, p.Splay = second, 2*second, 3*second }), 25 * second,
			7500 * time.Millisecond, 2012 * time.Millisecond},
		{"one attempt", with(exponential(1, full, 30*second), func(p *engine.Policy) { p.Timeout = 7 * second }),
			7 * second, 0, 0},
		{"deadline is less", with(exponential(5, none, 30*second),
			func(p *engine.Policy) { p.Timeout, p.Deadline = 10*second, 12*second }), 12 * second, 7 * second,
			7 * second},
		{"deadline alone", with(exponential(0, none, 30*second), func(p *engine.Policy) { p.Deadline = 40 * second }),
			40 * second, 31 * second, 31 * second},
		{"deadline before attempt 1", with(exponential(0, none, 30*second),
			func(p *engine.Policy) { p.Deadline, p.InitialDelay = second, 2*second }), second, 0, 0},
		{"for ever", exponential(0, full, 30*second), Unlimited, Unlimited, Unlimited},
		{"for ever, at once", with(constant(0, 0), func(p *engine.Policy) { p.Timeout = second }), Unlimited,
			Unlimited, Unlimited},
		{"at once, with a deadline", with(constant(0, 0), func(p *engine.Policy) { p.Deadline = 9 * second }),
			9 * second, 9 * second, 9 * second},
		{"as many as are planned", with(constant(MostAttempts, second), func(p *engine.Policy) { p.Timeout = 1 }),
			(MostAttempts-1)*second + MostAttempts, (MostAttempts - 1) * second, (MostAttempts - 1) * second},
		{"beyond all durations", exponential(70, none, Unlimited), Unlimited, Unlimited, Unlimited},
		{"a hunt for a failure", with(exponential(4, full, 30*second),
			func(p *engine.Policy) { p.UntilFailure, p.Timeout = true, second }), 7 * second, 0, 0},
		{"one uniform wait", exponential(2, full, 30*second), Unlimited, second / 2, second / 100},
		// A share of x^2/2 of the sums of two is below x.
		{"two uniform waits", exponential(3, full, second), Unlimited, second, 141421356},
	} {
		got := Promises(c.policy, seeded(1))
		// A share of 0.01 of 100,000 runs is within 0.0011, three and a half standard errors.
		off := math.Abs(float64(got.OutlivesMost)-float64(c.most)) / max(float64(c.most), 1)
		if time.Duration(got.Longest) != c.longest ||
			(time.Duration(got.OutlivesHalf)-c.half).Abs() > time.Microsecond || off > 0.11 {
			t.Errorf("%s: %v, want %v %v %v", c.name, got, c.longest, c.half, c.most)
		}
	}
}

// No run survives a longer outage than its deadline leaves, and none that has an attempt
// past an outage counts as ended by it.
func TestDeadlineCutsTheOutage(t *testing.T) {
	if testing.Short() {
		t.Skip("works for long on one goroutine")
	}
	p := exponential(0, backoff.Jitter{Kind: backoff.Full}, 30*second)
	p.Deadline, p.InitialDelay, p.Splay = 60*second, 5*second, 10*second
	got := Promises(p, seeded(1))
	again, half := Promises(p, seeded(1)), time.Duration(got.OutlivesHalf)
	if got != again || time.Duration(got.Longest) != 60*second || half > 55*second || half < 30*second ||
		got.OutlivesMost >= got.OutlivesHalf {
		t.Errorf("%v, then %v", got, again)
	}
	for _, base := range []time.Duration{0, time.Millisecond} { // more waits than are simulated
		p := exponential(0, backoff.Jitter{Kind: backoff.Full}, base)
		p.Schedule.Base, p.Schedule.Curve, p.Deadline = base, backoff.Constant, 24*time.Hour
		if got := Promises(p, seeded(1)); time.Duration(got.OutlivesMost) != 24*time.Hour {
			t.Errorf("base %v: survives %v", base, got.OutlivesMost)
		}
	}
}

// Every promise takes a moment, however many attempts there are.
func BenchmarkPromises(b *testing.B) {
	for _, c := range []struct {
		name     string
		attempts int
		kind     backoff.JitterKind
	}{{"default", 5, backoff.Full}, {"capped", 50, backoff.Full}, {"decorrelated", 5, backoff.Decorrelated},
		{"most", MostAttempts, backoff.Full}} {
		b.Run(c.name, func(b *testing.B) {
			p := exponential(c.attempts, backoff.Jitter{Kind: c.kind}, 30*second)
			for b.Loop() {
				Promises(p, seeded(1))
			}
		})
	}
}
