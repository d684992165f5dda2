package guard

import (
	"math/rand/v2"
	"testing"
)

// TestTurnsAreAnIntervalApart holds the generic cell rate algorithm: of any burst+k turns the last
// comes at least k intervals after the first, and no turn is later than it has to be.
func TestTurnsAreAnIntervalApart(t *testing.T) {
	histories(t, 1000, func(t *testing.T, r *rand.Rand) {
		limit := RateLimit{Interval: 1 + r.Int64N(50_000), Burst: 1 + r.Int64N(5)}
		g, s, now := &Guards{RateLimit: limit}, State{}, int64(epoch)
		var turns []int64
		for id := range int64(200) {
			now += r.Int64N(2 * max(limit.Interval/1000, 1))
			a := Do(g, &s, &Request{Op: Admit, Attempt: 1 + r.Int64N(2), ID: id + 1, Turn: true, Patience: -1}, now)
			turn := now*1000 + a.Delay
			if n := int64(len(turns)); n >= limit.Burst && turn-turns[n-limit.Burst] < limit.Interval {
				t.Errorf("%+v: turn %d comes %d µs after that %d before", limit, n, turn-turns[n-limit.Burst],
					limit.Burst)
			}
			if a.Delay > 0 && a.Delay > s.Turns.Free-now*1000 {
				t.Errorf("delay %d", a.Delay)
			}
			if n := len(turns); n > 0 && turn < turns[n-1] {
				t.Errorf("turn %d comes before the one before it", n)
			}
			turns = append(turns, turn)
		}
	})
}

func TestRateLimitSteps(t *testing.T) {
	type step struct{ at, patience, delay, refused int64 } // ms, ms, µs, ms
	for name, c := range map[string]struct {
		flag  string
		steps []step
	}{
		"one after another": {"5/s",
			[]step{{0, -1, 0, 0}, {0, -1, 200_000, 0}, {0, -1, 400_000, 0}, {500, -1, 100_000, 0}, {1000, -1, 0, 0}}},
		"a third of a second is rounded up": {"3/s", []step{{0, -1, 0, 0}, {0, -1, 333_334, 0}, {0, -1, 666_668, 0}}},
		"a burst after a pause": {"1/s,burst=3",
			[]step{{0, -1, 0, 0}, {0, -1, 0, 0}, {0, -1, 0, 0}, {0, -1, 1_000_000, 0}, {3000, -1, 0, 0},
				{3000, -1, 0, 0}, {3000, -1, 1_000_000, 0}}},
		"a refusal reserves nothing": {"1/s",
			[]step{{0, 0, 0, 0}, {100, 0, 0, 900}, {100, 899, 0, 900}, {100, 900, 900_000, 0}, {1100, 0, 0, 900}}},
		"a clock that was set back": {"1/s",
			[]step{{10_000, -1, 0, 0}, {10_000, -1, 1_000_000, 0}, {5000, -1, 2_000_000, 0}, {8000, -1, 0, 0}}},
	} {
		t.Run(name, func(t *testing.T) {
			var g Guards
			if err := g.RateLimit.UnmarshalText([]byte(c.flag)); err != nil {
				t.Fatal(err)
			}
			var s State
			for i, step := range c.steps {
				a := Do(&g, &s, &Request{Op: Admit, Attempt: 1, ID: 1, Turn: true, Patience: step.patience},
					epoch+step.at)
				if a.Delay != step.delay || a.Refusal.RetryIn != step.refused ||
					(a.Refusal.Guard == KindRateLimit) != (step.refused > 0) {
					t.Errorf("step %d: delay %d, %+v", i, a.Delay, a.Refusal)
				}
			}
		})
	}
}

// A turn comes first: a slot that is not free and an open breaker cost the turn, nothing else.
func TestATurnThatIsNotUsedIsLost(t *testing.T) {
	g := &Guards{RateLimit: RateLimit{Interval: 1e6, Burst: 1}, Breaker: Breaker{Row: 1, Open: 10_000, Probes: 1}}
	var s State
	a := Do(g, &s, &Request{Op: Admit, Attempt: 1, ID: 1, Turn: true, Patience: -1}, epoch)
	Do(g, &s, &Request{Op: Report, Pass: a.Pass, Outcome: Failure}, epoch)
	if a = Do(g, &s, &Request{Op: Admit, Attempt: 1, ID: 2, Turn: true}, epoch+500); a.Refusal.Guard != KindRateLimit {
		t.Errorf("not the first guard refuses: %+v", a.Refusal)
	}
	if a = Do(g, &s, &Request{Op: Admit, Attempt: 1, ID: 3, Turn: true}, epoch+1000); a.Refusal.Guard != KindBreaker {
		t.Errorf("%+v", a.Refusal)
	}
	if a = Do(g, &s, &Request{Op: Admit, Attempt: 1, ID: 4, Turn: true}, epoch+1000); a.Refusal.Guard != KindRateLimit {
		t.Errorf("the turn was given back: %+v", a.Refusal)
	}
}

// A copy of a hedge takes a turn only if that is now.
func TestACopyDoesNotWaitForATurn(t *testing.T) {
	g := &Guards{RateLimit: RateLimit{Interval: 1e6, Burst: 2}, Tokens: Tokens{Capacity: 10, Cost: 5, TimeoutCost: 5}}
	var s State
	for i, want := range []Kind{None, None, KindRateLimit} {
		op := AdmitCopy
		if i == 0 {
			op = Admit
		}
		if a := Do(g, &s, &Request{Op: op, Attempt: 1, ID: int64(i + 1), Turn: true},
			epoch); a.Refusal.Guard != want || a.Delay != 0 {
			t.Errorf("%d: %+v", i, a)
		}
	}
	if s.Bucket.Missing != 5*million {
		t.Errorf("a refused copy has taken tokens: %d missing", s.Bucket.Missing)
	}
}

func TestTurnsAreKeptUntilTheyHavePassed(t *testing.T) {
	g := &Guards{RateLimit: RateLimit{Interval: 2 * day * 1000, Burst: 1}}
	var s State
	for range 3 {
		Do(g, &s, &Request{Op: Admit, Attempt: 1, ID: 1, Turn: true, Patience: -1}, epoch)
	}
	later := int64(epoch + 5*day)
	if a := Do(g, &s, &Request{Op: Admit, Attempt: 1, ID: 1, Turn: true, Patience: -1}, later); a.Delay != day*1000 {
		t.Errorf("delay %d", a.Delay)
	}
	Do(g, &s, &Request{Op: Reset}, later)
	if a := Do(g, &s, &Request{Op: Admit, Attempt: 1, ID: 1, Turn: true}, later); a.Delay != 0 ||
		a.Refusal.Guard != None {
		t.Errorf("after a reset: %+v", a)
	}
}

// A request that is repeated since its answer was lost finds what it took.
func TestARepeatedRequestTakesOnce(t *testing.T) {
	g := &Guards{Slots: Slots{N: 1}, Breaker: Breaker{Row: 1, Open: 1, Probes: 1}}
	var s State
	a := Do(g, &s, &Request{Op: Admit, Attempt: 1, ID: 1, Held: -1}, epoch)
	Do(g, &s, &Request{Op: Report, Pass: a.Pass, Outcome: Failure}, epoch)
	for range 2 {
		a = Do(g, &s, &Request{Op: Admit, Attempt: 1, ID: 2, Slot: true, Held: -1}, epoch+10)
		if a.Refusal.Guard != None || len(s.Slots) != 1 || len(s.Breaker.Probes) != 1 {
			t.Errorf("%+v: %+v", a, s)
		}
	}
	if a = Do(g, &s, &Request{Op: Admit, Attempt: 1, ID: 3, Slot: true, Held: -1},
		epoch+10); a.Refusal.Guard != KindSlots {
		t.Errorf("%+v", a)
	}
}

func TestALostSlotIsTold(t *testing.T) {
	g := &Guards{Slots: Slots{N: 1}}
	for name, c := range map[string]struct {
		state State
		lost  bool
	}{
		"held":                     {State{Slots: []Lease{{1, epoch + 5}}}, false},
		"run out":                  {State{Slots: []Lease{{1, epoch}}}, false},
		"forgotten":                {State{}, false},
		"another holds it":         {State{Slots: []Lease{{2, epoch + 5}}}, true},
		"both hold one, from loss": {State{Slots: []Lease{{2, epoch + 5}, {1, epoch + 5}}}, false},
	} {
		a := Do(g, &c.state, &Request{Op: Renew, Pass: Pass{ID: 1, Slot: true}}, epoch)
		if a.Lost != c.lost || c.state.Slots[len(c.state.Slots)-1] != (Lease{1, epoch + LeaseFor}) {
			t.Errorf("%s: %+v, %+v", name, a, c.state.Slots)
		}
	}
}
