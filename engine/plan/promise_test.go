package plan

// This file holds the promises against the runs that they are about, and the
// closed form against the draw.

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
		Curve: backoff.Exponential{Base: second, Factor: 2}, Base: second, Cap: limit, Jitter: jitter,
	}}
}

func seeded(seed uint64) func() float64 { return rand.New(rand.NewPCG(seed, 0)).Float64 }

func TestPromises(t *testing.T) {
	none, full := backoff.Jitter{Kind: backoff.None}, backoff.Jitter{Kind: backoff.Full}
	constant := func(attempts int, base time.Duration) engine.Policy {
		p := exponential(attempts, none, time.Hour)
		p.Schedule.Curve, p.Schedule.Base = backoff.Constant{Base: base}, base
		return p
	}
	with := func(p engine.Policy, change func(*engine.Policy)) engine.Policy { change(&p); return p }
	for _, c := range []struct {
		name                string
		policy              engine.Policy
		longest, half, most time.Duration
	}{
		{"no limit of an attempt", exponential(5, none, 30*second), Unlimited, 15 * second, 15 * second},
		{"timeout", with(exponential(5, none, 30*second), func(p *engine.Policy) { p.Timeout = 10 * second }), 65 * second, 15 * second, 15 * second},
		{"before attempt 1", with(exponential(5, full, 30*second), func(p *engine.Policy) { p.Timeout, p.InitialDelay, p.Splay = second, 2*second, 3*second }), 25 * second, 7500 * time.Millisecond, 2012752305},
		{"one attempt", with(exponential(1, full, 30*second), func(p *engine.Policy) { p.Timeout = 7 * second }), 7 * second, 0, 0},
		{"deadline is less", with(exponential(5, none, 30*second), func(p *engine.Policy) { p.Timeout, p.Deadline = 10*second, 12*second }), 12 * second, 7 * second, 7 * second},
		{"deadline alone", with(exponential(0, none, 30*second), func(p *engine.Policy) { p.Deadline = 40 * second }), 40 * second, 31 * second, 31 * second},
		{"deadline before attempt 1", with(exponential(0, none, 30*second), func(p *engine.Policy) { p.Deadline, p.InitialDelay = second, 2*second }), second, 0, 0},
		{"for ever", exponential(0, full, 30*second), Unlimited, Unlimited, Unlimited},
		{"for ever, at once", with(constant(0, 0), func(p *engine.Policy) { p.Timeout = second }), Unlimited, Unlimited, Unlimited},
		{"at once, with a deadline", with(constant(0, 0), func(p *engine.Policy) { p.Deadline = 9 * second }), 9 * second, 9 * second, 9 * second},
		{"very many", with(constant(math.MaxInt32, second), func(p *engine.Policy) { p.Timeout = 1 }), (math.MaxInt32-1)*second + math.MaxInt32, (math.MaxInt32 - 1) * second, (math.MaxInt32 - 1) * second},
		{"beyond all durations", exponential(70, none, Unlimited), Unlimited, Unlimited, Unlimited},
		{"a hunt for a failure", with(exponential(4, full, 30*second), func(p *engine.Policy) { p.UntilFailure, p.Timeout = true, second }), 7 * second, 0, 0},
		{"one uniform wait", exponential(2, full, 30*second), Unlimited, second / 2, second / 100},
	} {
		got := Promises(c.policy, seeded(1))
		if got != (Promise{c.longest, c.half, c.most}) {
			t.Errorf("%s: %v, want %v %v %v", c.name, got, c.longest, c.half, c.most)
		}
	}
}

// anyPolicy draws a policy of few waits.
func anyPolicy(r *rand.Rand) engine.Policy {
	base := time.Duration(1+r.IntN(1000)) * time.Millisecond
	curves := []backoff.Curve{
		backoff.Exponential{Base: base, Factor: 1 + 2*r.Float64()}, backoff.Linear{Base: base},
		backoff.Constant{Base: base}, backoff.Fibonacci{Base: base}, backoff.List{base, 0, 3 * base},
	}
	jitters := []backoff.Jitter{{Kind: backoff.Full}, {Kind: backoff.Equal}, {Kind: backoff.Percent, P: 100 * r.Float64()}, {Kind: backoff.None}}
	p := engine.Policy{Attempts: 1 + r.IntN(14), Schedule: backoff.Schedule{
		Curve: curves[r.IntN(len(curves))], Base: base, Cap: time.Duration(1+r.IntN(30)) * base, Jitter: jitters[r.IntN(len(jitters))],
	}}
	if r.IntN(3) == 0 {
		p.Deadline = 1000 * time.Hour // which no such run reaches
	}
	return p
}

// The median and the first percentile of a draw lie where the closed form has
// as much probability below them: within six standard errors of a share.
func TestClosedFormIsWhatRunsDraw(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	compared := 0
	for range 60 {
		p := anyPolicy(r)
		exact, ok := sumOf(&p)
		if !ok {
			continue
		}
		compared++
		sums := drawn(&p, 30_000, r.Float64)
		for _, share := range []float64{0.5, most} {
			got := sums[int(share*float64(len(sums)))]
			want := exact.percentile(share)
			if share == 0.5 {
				want = exact.median()
			}
			if exact.count == 0 {
				if diff := got - want; diff.Abs() > 20 {
					t.Errorf("%+v: drawn %v, by arithmetic %v", p, got, want)
				}
				continue
			}
			below := exact.below(float64(got) - exact.fixed)
			if limit := 6*math.Sqrt(share*(1-share)/float64(len(sums))) + 1/float64(len(sums)); math.Abs(below-share) > limit {
				t.Errorf("%+v: drawn %v has a share of %.4f below it, by arithmetic, where %.2f±%.4f is due; by arithmetic %v", p, got, below, share, limit, want)
			}
		}
	}
	if compared < 40 {
		t.Errorf("only %d policies have a closed form", compared)
	}
}

// A sum of many waits goes on by its mean and spread: two ways to cut it agree.
func TestLongRunsAreExtended(t *testing.T) {
	if testing.Short() {
		t.Skip("works for long on one goroutine")
	}
	for _, kind := range []backoff.JitterKind{backoff.Full, backoff.Decorrelated} {
		p := exponential(2*longestWalk+1, backoff.Jitter{Kind: kind}, 30*second)
		got := Promises(p, seeded(1))
		sums := make([]time.Duration, 150)
		draw := seeded(2)
		for i := range sums {
			sums[i], _, _ = walk(&p, p.Attempts-1, draw)
		}
		mean := 0.0
		for _, sum := range sums {
			mean += float64(sum) / float64(len(sums))
		}
		spread := 0.0
		for _, sum := range sums {
			spread += math.Pow(float64(sum)-mean, 2) / float64(len(sums))
		}
		want := mean - 2.326*math.Sqrt(spread) // of a normal distribution
		if off := math.Abs(float64(got.OutlivesMost)/want - 1); off > 0.012 {
			t.Errorf("kind %d: 99 of 100 outlive %v, want %v", kind, got.OutlivesMost, time.Duration(want))
		}
		if off := math.Abs(float64(got.OutlivesHalf)/mean - 1); off > 0.012 {
			t.Errorf("kind %d: half outlive %v, want %v", kind, got.OutlivesHalf, time.Duration(mean))
		}
	}
}

// No run outlives more than its deadline leaves, and none that has an attempt
// past an outage counts as ended by it.
func TestDeadlineCutsTheOutage(t *testing.T) {
	if testing.Short() {
		t.Skip("works for long on one goroutine")
	}
	p := exponential(0, backoff.Jitter{Kind: backoff.Full}, 30*second)
	p.Deadline, p.InitialDelay, p.Splay = 60*second, 5*second, 10*second
	got := Promises(p, seeded(1))
	again := Promises(p, seeded(1))
	if got != again || got.Longest != 60*second || got.OutlivesHalf > 55*second || got.OutlivesHalf < 30*second || got.OutlivesMost >= got.OutlivesHalf {
		t.Errorf("%v, then %v", got, again)
	}
	for _, base := range []time.Duration{0, time.Millisecond} { // more waits than anybody follows
		p := exponential(0, backoff.Jitter{Kind: backoff.Full}, base)
		p.Schedule.Base, p.Schedule.Curve, p.Deadline = base, backoff.Constant{Base: base}, 24*time.Hour
		if got := Promises(p, seeded(1)); got.OutlivesMost != 24*time.Hour {
			t.Errorf("base %v: outlives %v", base, got.OutlivesMost)
		}
	}
}

func TestTotalIsTheSum(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		p := anyPolicy(r)
		p.Attempts = 1 + r.IntN(3000)
		p.Schedule.MinDelay = time.Duration(r.IntN(2)) * p.Schedule.Base
		want := 0.0
		for n := 1; n < p.Attempts; n++ {
			want += float64(p.Schedule.Wait(n, 0, 1))
		}
		if got := float64(greatestWaits(&p)); math.Abs(got-want) > 1e-8*want+1 {
			t.Errorf("%+v: %v, want %v", p, got, want)
		}
	}
}

// Every promise takes a moment, however many attempts there are.
func BenchmarkPromises(b *testing.B) {
	for _, c := range []struct {
		name     string
		attempts int
		kind     backoff.JitterKind
	}{{"closed", 5, backoff.Full}, {"capped", 50, backoff.Full}, {"decorrelated", 5, backoff.Decorrelated}, {"many", math.MaxInt32, backoff.Full}} {
		b.Run(c.name, func(b *testing.B) {
			p := exponential(c.attempts, backoff.Jitter{Kind: c.kind}, 30*second)
			for b.Loop() {
				Promises(p, seeded(1))
			}
		})
	}
}
