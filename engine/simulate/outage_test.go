package simulate

// This file holds the outage to cases that can be worked out by hand, and to
// what must hold whatever the policy is.

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/backoff"
	"github.com/retrysh/retry/engine/guard"
)

const ms = time.Millisecond

// after is a policy of these waits, without jitter.
func after(waits ...time.Duration) engine.Policy {
	return engine.Policy{Attempts: len(waits) + 1, Schedule: backoff.Schedule{
		Curve: backoff.List(waits), Base: waits[0], Cap: backoff.Longest, Jitter: backoff.Jitter{Kind: backoff.None},
	}}
}

// jittered is a policy of base 1s and cap 30s.
func jittered(attempts int, kind backoff.JitterKind) engine.Policy {
	return engine.Policy{Attempts: attempts, Schedule: backoff.Schedule{
		Curve: backoff.Exponential(2), Base: time.Second, Cap: 30 * time.Second, Jitter: backoff.Jitter{Kind: kind},
	}}
}

// small is ten clients of a server that takes ten calls a second.
func small() Outage {
	return Outage{Clients: 10, Capacity: 10, Down: 1500 * ms, AttemptTime: 50 * ms, Queue: time.Second}
}

func seeded() func() float64 { return rand.New(rand.NewPCG(1, 0)).Float64 }

func times(n int, first, step time.Duration) (all []time.Duration) {
	for i := range n {
		all = append(all, first+time.Duration(i)*step)
	}
	return all
}

// All ten fail at 0, at 1 s until 1.05 s, and at 2.05 s are served one by one.
func TestOutageByHand(t *testing.T) {
	with := func(p engine.Policy, change func(*engine.Policy)) engine.Policy { change(&p); return p }
	server := func(change func(*Outage)) Outage { o := small(); change(&o); return o }
	for _, c := range []struct {
		name             string
		outage           Outage
		policy           engine.Policy
		finished         []time.Duration
		calls, gaveUp    int
		peakDown, peakUp int
	}{
		{"served one by one", small(), after(time.Second, time.Second), times(10, 2100*ms, 100*ms), 30, 0, 100, 100},
		{"what would wait longer than the queue is rejected",
			server(func(o *Outage) { o.Queue = 450 * ms }), after(time.Second, time.Second),
			times(5, 2100*ms, 100*ms), 30, 5, 100, 100},
		{"a wait of exactly the queue is not", server(func(o *Outage) { o.Queue = 400 * ms }),
			after(time.Second, time.Second), times(5, 2100*ms, 100*ms), 30, 5, 100, 100},
		{"what is rejected comes again, after the attempt's time", server(func(o *Outage) { o.Queue = 450 * ms }),
			after(time.Second, time.Second, time.Second),
			slices.Concat(times(5, 2100*ms, 100*ms), times(5, 3150*ms, 100*ms)), 35, 0, 100, 100},
		{"timed out calls are served for nothing", small(),
			with(after(time.Second, time.Second, 100*ms), func(p *engine.Policy) { p.Timeout = 250 * ms }),
			times(3, 2100*ms, 100*ms), 37, 7, 100, 100},
		{"the deadline ends a call", small(),
			with(after(time.Second, time.Second), func(p *engine.Policy) { p.Deadline = 2500 * ms }),
			times(5, 2100*ms, 100*ms), 30, 5, 100, 100},
		{"a wait past the deadline is not begun", small(),
			with(after(time.Second, time.Second), func(p *engine.Policy) { p.Deadline = 2 * time.Second }), nil, 20,
			10, 100, 0},
		{"an outage longer than the policy", server(func(o *Outage) { o.Down = time.Hour }),
			after(time.Second, time.Second), nil, 30, 10, 100, 0},
		{"no outage but the first call's", server(func(o *Outage) { o.Down = 0 }), after(time.Second),
			times(10, 1050*ms, 100*ms), 20, 0, 0, 100},
		{"one attempt", small(), engine.Policy{Attempts: 1}, nil, 10, 10, 0, 0},
	} {
		c.policy.InitialDelay, c.policy.Splay = time.Hour, time.Hour // which play no part
		h := c.outage.Run(c.policy, guard.Guards{}, seeded())
		if !slices.Equal(h.FinishedAt, c.finished) || h.Finished != len(c.finished) || h.Calls != c.calls ||
			h.GaveUp != c.gaveUp || h.PeakDown != c.peakDown || h.PeakBack != c.peakUp {
			t.Errorf("%s: finished at %v with %d calls, %d gave up, peaks %d and %d; want %v", c.name, h.FinishedAt,
				h.Calls, h.GaveUp, h.PeakDown, h.PeakBack, c)
		}
	}
}

// A peak is of calls begun between two multiples of a tenth of a second, and
// not of those on both sides of the outage's end.
func TestPeaksAreOfTenths(t *testing.T) {
	o := Outage{Clients: 1, Capacity: 1000, Down: 1050 * ms, AttemptTime: 0}
	down, back := 0, 0
	for _, waits := range [][]time.Duration{{1010 * ms, 30 * ms}, {1010 * ms, 41 * ms}, {1010 * ms, 85 * ms}} {
		h := o.Run(after(waits...), guard.Guards{}, seeded())
		down, back = h.PeakDown, h.PeakBack
		if waits[1] == 30*ms && (down != 20 || back != 0) || waits[1] != 30*ms && (down != 10 || back != 10) {
			t.Errorf("waits %v: peaks of %d and %d", waits, down, back)
		}
	}
}

func TestBestPossible(t *testing.T) {
	o := Outage{Clients: 1000, Capacity: 100, Down: 30 * time.Second}
	for capacity, want := range map[float64]time.Duration{100: 40 * time.Second, 1e-300: backoff.Longest} {
		o.Capacity = capacity
		if got := o.Run(engine.Policy{Attempts: 1}, guard.Guards{}, seeded()).BestPossible; time.Duration(got) != want {
			t.Errorf("capacity %v: %v, want %v", capacity, got, want)
		}
	}
}

func TestQuantiles(t *testing.T) {
	h := Herd{Finished: 200, FinishedAt: times(200, 1, 1)}
	for share, want := range map[float64]time.Duration{0.5: 100, 0.99: 198, 1: 200, 0: 1} {
		if got := h.Quantile(share); time.Duration(*got) != want {
			t.Errorf("%v: %v", share, *got)
		}
	}
	if (&Herd{}).Quantile(0.5) != nil {
		t.Error("no client has a median")
	}
}

// Attempts without limit, against a server that is away for years, and calls
// that take no time end the simulation, which counts whom it left.
func TestSimulationEnds(t *testing.T) {
	o := small()
	o.Down = 10 * 365 * 24 * time.Hour
	for _, c := range []struct {
		name    string
		policy  engine.Policy
		attempt time.Duration
	}{
		{"by the horizon", engine.Policy{Schedule: backoff.Schedule{Curve: backoff.Constant, Base: time.Hour,
			Cap: time.Hour}}, time.Second},
		{"by the calls", engine.Policy{}, 0},
		{"by a wait beyond all times",
			engine.Policy{Attempts: 5, Schedule: backoff.Schedule{Curve: backoff.Constant, Base: backoff.Longest,
				Cap: backoff.Longest, Jitter: backoff.Jitter{Kind: backoff.None}}}, time.Second},
	} {
		if c.policy.Schedule.Curve == nil {
			c.policy.Schedule.Curve = backoff.Constant
		}
		o.AttemptTime = c.attempt
		h := o.run(c.policy, guard.Guards{}, seeded(), 20_000)
		if h.LeftOut != 10 || h.End > Horizon || h.Calls > 20_000 {
			t.Errorf("%s: %d left out at %v after %d calls", c.name, h.LeftOut, h.End, h.Calls)
		}
	}
}

// Whatever the policy, every client is counted once, each finishes when the
// server is back, and no faster than it can be.
func TestOutageAddsUp(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 200 {
		p := jittered(1+r.IntN(12), backoff.JitterKind(r.IntN(4)))
		p.Timeout, p.Deadline = time.Duration(r.IntN(2))*time.Second, time.Duration(r.IntN(3))*20*time.Second
		o := Outage{Clients: 1 + r.IntN(300), Capacity: 1 + 100*r.Float64(),
			Down:        time.Duration(r.Int64N(int64(40 * time.Second))),
			AttemptTime: time.Duration(r.IntN(100)) * ms, Queue: time.Duration(r.IntN(3)) * time.Second}
		h := o.Run(p, guard.Guards{}, r.Float64)
		if h.Finished+h.GaveUp != o.Clients || h.LeftOut != 0 || len(h.FinishedAt) != h.Finished ||
			!slices.IsSorted(h.FinishedAt) {
			t.Fatalf("%+v: %d finished, %d gave up, %d left out", o, h.Finished, h.GaveUp, h.LeftOut)
		}
		calls, last := 0, -1
		for _, l := range h.Tenths {
			if l.At < last || l.Calls == 0 {
				t.Fatalf("load %v", h.Tenths)
			}
			calls, last = calls+l.Calls, l.At
		}
		if calls != h.Calls || h.Tenths[0].Calls < o.Clients {
			t.Fatalf("the load has %d calls of %d", calls, h.Calls)
		}
		for i, at := range h.FinishedAt {
			if least := o.Down + o.AttemptTime + time.Duration(float64(i)/o.Capacity*1e9) - 1; at < least {
				t.Fatalf("%+v: client %d is done at %v, before %v", o, i, at, least)
			}
		}
	}
}

func TestSameNumbersSameRun(t *testing.T) {
	o := Outage{Clients: 500, Capacity: 50, Down: 10 * time.Second, AttemptTime: 50 * ms, Queue: time.Second}
	first, second := o.Run(jittered(8, backoff.Full), guard.Guards{}, seeded()),
		o.Run(jittered(8, backoff.Full), guard.Guards{}, seeded())
	if !slices.Equal(first.FinishedAt, second.FinishedAt) || first.Calls != second.Calls {
		t.Errorf("%d and %d calls", first.Calls, second.Calls)
	}
}

// A budget of 10 % shows as 1.1 calls a client: a hundred retries for a thousand
// runs within its window.
func TestBudgetBoundsTheCalls(t *testing.T) {
	var budget guard.Budget
	err := budget.UnmarshalText([]byte("10%"))
	if err != nil {
		t.Fatal(err)
	}
	o := Outage{Clients: 1000, Capacity: 100, Down: 30 * time.Second, AttemptTime: 50 * ms, Queue: time.Second}
	h := o.Run(jittered(5, backoff.Full), guard.Guards{Budget: budget}, seeded())
	if h.Calls != 1100 || h.Refused != 1000 || h.RefusedBy[guard.KindBudget.String()] != 1000 {
		t.Errorf("%d calls, %d refused: %v", h.Calls, h.Refused, h.RefusedBy)
	}
}

// A breaker lets all first calls through, since they begin together, and then
// nothing: an open one refuses before a wait.
func TestBreakerEndsTheCalls(t *testing.T) {
	var breaker guard.Breaker
	err := breaker.UnmarshalText([]byte("50%"))
	if err != nil {
		t.Fatal(err)
	}
	o := Outage{Clients: 1000, Capacity: 100, Down: 30 * time.Second, AttemptTime: 50 * ms, Queue: time.Second}
	h := o.Run(jittered(5, backoff.Full), guard.Guards{Breaker: breaker}, seeded())
	if h.Refused != 1000 || h.Calls < 1000 || h.Calls > 1009 || h.RefusedBy[guard.KindBreaker.String()] != 1000 {
		t.Errorf("%d calls, %d refused", h.Calls, h.Refused)
	}
}

// A breaker that opens again and again lets probes through, which close it once
// the server is back. A probe of more than its lease renews it.
func TestBreakerProbes(t *testing.T) {
	var breaker guard.Breaker
	err := breaker.UnmarshalText([]byte("2,open=5s"))
	if err != nil {
		t.Fatal(err)
	}
	o := Outage{Clients: 1, Capacity: 100, Down: 9 * time.Second, AttemptTime: 25 * time.Second, Queue: time.Second}
	p := after(100*ms, 6*time.Second, 6*time.Second)
	p.Attempts = 0
	h := o.Run(p, guard.Guards{Breaker: breaker}, seeded())
	// 0, 0.1 to 25.1: two failures in a row open it, and it refuses at once.
	if h.Calls != 2 || h.Refused != 1 {
		t.Errorf("%d calls, %d refused", h.Calls, h.Refused)
	}
	// Two clients: the second's first attempt of its own opened it, but its wait
	// had been permitted before; after it the second is the probe.
	o = Outage{Clients: 2, Capacity: 100, Down: 9 * time.Second, AttemptTime: 25 * time.Second, Queue: time.Second}
	h = o.Run(after(10*time.Second), guard.Guards{Breaker: breaker}, seeded())
	if h.Calls != 3 || h.Finished != 1 || h.Refused != 1 || h.FinishedAt[0] != 35*time.Second {
		t.Errorf("%d calls, %d finished at %v, %d refused", h.Calls, h.Finished, h.FinishedAt, h.Refused)
	}
}

func TestTokensAndAdaptive(t *testing.T) {
	var tokens guard.Tokens
	err := tokens.UnmarshalText([]byte("500"))
	if err != nil {
		t.Fatal(err)
	}
	o := Outage{Clients: 1000, Capacity: 100, Down: 30 * time.Second, AttemptTime: 50 * ms, Queue: time.Second}
	if h := o.Run(jittered(5, backoff.Full), guard.Guards{Tokens: tokens}, seeded()); h.Calls != 1100 ||
		h.RefusedBy[guard.KindTokens.String()] != 1000 {
		t.Errorf("tokens: %d calls, %v", h.Calls, h.RefusedBy)
	}
	// The first nine failures say nothing yet; from the tenth on no client retries.
	if h := o.Run(jittered(5, backoff.Full), guard.Guards{Adaptive: true, Attempts: 5}, seeded()); h.Calls != 1000 ||
		h.Refused != 1000 {
		if h.Calls > 1036 {
			t.Errorf("adaptive: %d calls, %v", h.Calls, h.RefusedBy)
		}
	}
}

// Slots bound how many are at it at a time. Without a wait the others are
// refused; with one they come in turn.
func TestSlots(t *testing.T) {
	run := func(value string, p engine.Policy) Herd {
		var slots guard.Slots
		err := slots.UnmarshalText([]byte(value))
		if err != nil {
			t.Fatal(err)
		}
		o := Outage{Clients: 10, Capacity: 100, Down: time.Second, AttemptTime: 100 * ms, Queue: time.Second}
		return o.Run(p, guard.Guards{Slots: slots}, seeded())
	}
	p := after(2 * time.Second)
	if h := run("3", p); h.Finished != 3 || h.Refused != 7 || h.Calls != 13 {
		t.Errorf("no wait: %d finished, %d refused, %d calls", h.Finished, h.Refused, h.Calls)
	}
	if h := run("3,wait=10s", p); h.Finished != 10 || h.Calls != 20 {
		t.Errorf("wait: %d finished, %d calls", h.Finished, h.Calls)
	} else if last := time.Duration(*h.Last); last < 2400*ms || last > 2500*ms {
		t.Errorf("four rounds of 100 ms end at %v", last)
	}
	if h := run("3,wait=150ms,of=retries", p); h.Finished != 6 || h.Refused != 4 {
		t.Errorf("short wait: %d finished, %d refused", h.Finished, h.Refused)
	}
	if h := run("3,of=runs", p); h.Finished != 3 || h.Refused != 7 || h.Calls != 6 {
		t.Errorf("runs: %d finished, %d refused, %d calls", h.Finished, h.Refused, h.Calls)
	}
	// The others make their first call when a run has ended, and it succeeds.
	if h := run("3,of=runs,wait=1m", p); h.Finished != 10 || h.Calls != 13 {
		t.Errorf("runs in turn: %d finished, %d calls", h.Finished, h.Calls)
	}
	p.Deadline = 2150 * ms
	if h := run("3,wait=10s", p); h.Finished != 3 || h.GaveUp != 7 {
		t.Errorf("deadline: %d finished, %d gave up", h.Finished, h.GaveUp)
	}
}

func BenchmarkOutage(b *testing.B) {
	for _, clients := range []int{1000, 10_000, 100_000} {
		b.Run(strconv.Itoa(clients), func(b *testing.B) {
			o := Outage{Clients: clients, Capacity: float64(clients) / 10, Down: 30 * time.Second,
				AttemptTime: 50 * ms, Queue: time.Second}
			for b.Loop() {
				if h := o.Run(jittered(10, backoff.Full), guard.Guards{},
					seeded()); math.Abs(float64(h.Finished)-float64(clients)) > float64(clients)/20 {
					b.Fatal(h.Finished)
				}
			}
		})
	}
}
