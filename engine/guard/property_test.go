package guard

// This file holds the guards against their definitions over random histories:
// many runs that share a key, with clocks that jump and programs that die.

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/retrysh/retry/testdata/tries"
)

// histories calls f with differently seeded draws.
func histories(t *testing.T, n int, f func(t *testing.T, r *rand.Rand)) {
	t.Helper()
	n = tries.Of(n)
	if testing.Short() {
		n /= 3
	}
	for seed := range n {
		f(t, rand.New(rand.NewPCG(uint64(seed), 15)))
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// happened is a run or a retry that was permitted, by the number of its slice.
type happened struct {
	slice int64
	retry bool
}

func TestBudgetNeverLetsMoreIntoAWindow(t *testing.T) {
	histories(t, 600, func(t *testing.T, r *rand.Rand) {
		b := Budget{On: true, Ratio: r.Int64N(million + 1), Min: r.Int64N(6), Window: 10 + r.Int64N(5000)}
		g, s, now := &Guards{Budget: b}, State{}, epoch+r.Int64N(10_000)
		var all []happened
		for range 300 {
			now += r.Int64N(b.Window/5 + 1)
			current := now * 10 / b.Window
			if r.IntN(3) > 0 {
				Do(g, &s, &Request{Op: Admit, Attempt: 1}, now)
				all = append(all, happened{current, false})
				continue
			}
			let := Do(g, &s, &Request{Op: Permit, Attempt: 2}, now).Refusal.Guard == None
			var runs, retries int64
			for _, h := range all {
				if in := h.slice > current-10; in && h.retry {
					retries++
				} else if in {
					runs++
				}
			}
			// The definition: retries < max(min, ratio x runs).
			if want := float64(retries) < max(float64(b.Min), float64(b.Ratio)*float64(runs)/1e6); let != want {
				t.Errorf("%+v: %d runs, %d retries: permitted %v", b, runs, retries, let)
				return
			}
			if let {
				all = append(all, happened{current, true})
			}
		}
	})
}

func TestBudgetSaysWhenItWillPermit(t *testing.T) {
	histories(t, 1000, func(t *testing.T, r *rand.Rand) {
		g := &Guards{Budget: Budget{On: true, Ratio: r.Int64N(million), Min: r.Int64N(4), Window: 10 + r.Int64N(5000)}}
		s, now := State{}, epoch+r.Int64N(10_000)
		for range 100 {
			now += r.Int64N(g.Budget.Window / 5)
			Do(g, &s, &Request{Op: []Op{Admit, Permit}[r.IntN(2)], Attempt: 1}, now)
		}
		a := Do(g, &s, &Request{Op: Permit, Attempt: 2}, now)
		if a.Refusal.Guard == None {
			return
		}
		if a.Refusal.RetryIn < 0 {
			if end := 2 * g.Budget.Window; Do(g, &s, &Request{Op: Permit, Attempt: 2}, now+end).Refusal.Guard == None {
				t.Errorf("permitted, and no time was given")
			}
			return
		}
		before, then := copyOf(t, &s), copyOf(t, &s)
		if Do(g, &before, &Request{Op: Permit, Attempt: 2}, now+a.Refusal.RetryIn-1).Refusal.Guard == None {
			t.Errorf("permitted before %d ms", a.Refusal.RetryIn)
		}
		if Do(g, &then, &Request{Op: Permit, Attempt: 2}, now+a.Refusal.RetryIn).Refusal.Guard != None {
			t.Errorf("not permitted after %d ms", a.Refusal.RetryIn)
		}
	})
}

func TestBucketStaysBetweenEmptyAndFull(t *testing.T) {
	histories(t, 600, func(t *testing.T, r *rand.Rand) {
		c := Tokens{Capacity: 1 + r.Int64N(50), Cost: 1 + r.Int64N(8), TimeoutCost: 1 + r.Int64N(8),
			Success: r.Int64N(3), Refill: r.Int64N(20_000), Reserve: r.Int64N(million)}
		g, s, now := &Guards{Tokens: c}, State{}, int64(epoch)
		for range 200 {
			now += r.Int64N(300)
			before := s.Bucket
			switch r.IntN(4) {
			case 0:
				Do(g, &s, &Request{Op: Finish, Attempt: 1 + r.Int64N(2), Succeeded: true, Taken: Taken{Cost: c.Cost}},
					now)
			default:
				a := Do(g, &s, &Request{Op: Permit, Attempt: 2, TimedOut: r.IntN(2) == 0}, now)
				if in := a.Refusal.RetryIn; a.Refusal.Guard != None && in >= 0 {
					then := copyOf(t, &s)
					if Do(g, &then, &Request{Op: Permit, Attempt: 2, TimedOut: a.Refusal.Cost == c.TimeoutCost},
						now+in).Refusal.Guard != None {
						t.Errorf("not permitted after %d ms", in)
					}
				}
			}
			if left := c.Capacity*million - s.Bucket.Missing; left < 0 || left > c.Capacity*million {
				t.Errorf("%+v: %d millionths left, before %+v", c, left, before)
			}
		}
	})
}

func TestBreakerNeverLetsMoreProbesThrough(t *testing.T) {
	histories(t, 600, func(t *testing.T, r *rand.Rand) {
		g := &Guards{Breaker: Breaker{Row: 1 + r.Int64N(3), Open: 1 + r.Int64N(20_000), Probes: 1 + r.Int64N(4)}}
		s, now := State{}, int64(epoch)
		out := map[int64]Pass{}
		until := map[int64]int64{} // of the probes' leases
		for id := range int64(400) {
			now += r.Int64N(4000)
			switch r.IntN(4) {
			case 0, 1:
				a := Do(g, &s, &Request{Op: Admit, Attempt: 1, ID: id + 1}, now)
				if a.Refusal.Guard != None {
					break
				}
				out[id+1] = a.Pass
				if a.Pass.Place {
					until[id+1] = now + LeaseFor
				}
			case 2: // one is renewed
				for id, pass := range out {
					Do(g, &s, &Request{Op: Renew, Pass: pass}, now)
					if pass.Place && slices.ContainsFunc(s.Breaker.Probes, func(l Lease) bool { return l.ID == id }) {
						until[id] = now + LeaseFor
					}
					break
				}
			case 3: // one ends, or dies without a word
				for id, pass := range out {
					if r.IntN(3) > 0 {
						Do(g, &s, &Request{Op: Report, Pass: pass, Outcome: Outcome(r.IntN(3))}, now)
						delete(until, id)
					}
					delete(out, id)
					break
				}
			}
			held := int64(0)
			for id, end := range until {
				if pass, is := out[id]; is && pass.Generation == s.Breaker.Generation && end > now {
					held++
				}
			}
			if s.Breaker.Circuit == HalfOpen && held > g.Breaker.Probes {
				t.Errorf("%d probes at a time, of %d", held, g.Breaker.Probes)
			}
		}
	})
}

// TestEveryStateIsLeftWithoutAnOutcome: all who hold something die. After the time in the
// refusal, or the longest time open and a lease, a request is permitted.
func TestEveryStateIsLeftWithoutAnOutcome(t *testing.T) {
	histories(t, 600, func(t *testing.T, r *rand.Rand) {
		g, s := randomGuards(r), State{}
		now := play(r, g, &s, epoch, 100)
		if r.IntN(2) == 0 { // a clock that was ahead
			now -= r.Int64N(2 * 60 * 60 * 1000)
		}
		longest := longestOpen*g.Breaker.Open + LeaseFor
		Do(g, &s, &Request{Op: Withdraw}, now) // another run reads the state
		then := copyOf(t, &s)
		if a := Do(g, &then, &Request{Op: Admit, Attempt: 2, ID: 1, Slot: true, Held: -1},
			now+longest); a.Refusal.Guard != None {
			t.Errorf("refused after %d ms: %+v", longest, a.Refusal)
		}
		a := Do(g, &s, &Request{Op: Admit, Attempt: 2, ID: 1, Held: -1}, now)
		if a.Refusal.Guard == None {
			return
		}
		if a.Refusal.RetryIn < 0 || a.Refusal.RetryIn > longest {
			t.Errorf("permits in %d ms", a.Refusal.RetryIn)
		}
		if a := Do(g, &s, &Request{Op: Admit, Attempt: 2, ID: 1, Held: -1},
			now+a.Refusal.RetryIn); a.Refusal.Guard != None {
			t.Errorf("refused at the time that was given: %+v", a.Refusal)
		}
	})
}

func TestSlotsNeverExceedTheLimit(t *testing.T) {
	histories(t, 1000, func(t *testing.T, r *rand.Rand) {
		g := &Guards{Slots: Slots{N: 1 + r.Int64N(6)}}
		s, now := State{}, int64(epoch)
		until := map[int64]int64{}
		for id := range int64(300) {
			now += r.Int64N(2000)
			if r.IntN(3) > 0 {
				// Each call uses its own limit.
				limit := Guards{Slots: Slots{N: 1 + r.Int64N(g.Slots.N)}}
				held := int64(0)
				for _, end := range until {
					if end > now {
						held++
					}
				}
				a := Do(&limit, &s, &Request{Op: Admit, Attempt: 1, ID: id + 1, Slot: true, Held: -1}, now)
				if let := a.Refusal.Guard == None; let != (held < limit.Slots.N) {
					t.Errorf("%d held, limit %d: permitted %v", held, limit.Slots.N, let)
				} else if let {
					until[id+1] = now + LeaseFor
				}
				continue
			}
			for id := range until {
				Do(g, &s, &Request{Op: Report, Pass: Pass{ID: id, Slot: true}}, now)
				delete(until, id)
				break
			}
		}
	})
}

// TestARefusalLeavesNoTrace holds that what one guard took is given back when a
// later one refuses.
func TestARefusalLeavesNoTrace(t *testing.T) {
	histories(t, 600, func(t *testing.T, r *rand.Rand) {
		g, s := randomGuards(r), State{}
		now := play(r, g, &s, epoch, 60)
		request := Request{Op: []Op{Permit, AdmitCopy, Admit}[r.IntN(3)], Attempt: 2, ID: 1, Slot: true, Held: -1}
		Do(g, &s, &Request{Op: Withdraw}, now) // brings everything up to the time
		if g.Budget.On {
			window(&s.Budget, g.Budget.Window, now)
		}
		if g.Tokens.Capacity > 0 {
			s.Bucket.refill(&g.Tokens, now)
		}
		s.Breaker.Probes, s.Slots = expire(s.Breaker.Probes, now), expire(s.Slots, now)
		before := copyOf(t, &s)
		if a := Do(g, &s, &request, now); a.Refusal.Guard == None {
			return
		}
		if got, want := s.Append(nil), before.Append(nil); !reflect.DeepEqual(got, want) {
			t.Errorf("%+v left a trace:\n%v\n%v", request, want, got)
		}
	})
}

func TestACheckChangesNothing(t *testing.T) {
	histories(t, 600, func(t *testing.T, r *rand.Rand) {
		g, s := randomGuards(r), State{}
		now := play(r, g, &s, epoch, 60) + r.Int64N(2*LeaseFor)
		s.Slots = []Lease{{ID: 1, Until: now}, {ID: 2, Until: now + 1}}
		before := copyOf(t, &s)
		for _, op := range []Op{Permit, Admit, AdmitCopy} {
			asks := transaction{g: g, s: &s, r: &Request{Op: op, Attempt: 2, ID: 2, Slot: true, Held: -1}, now: now}
			asks.checkBreaker()
			asks.checkAdaptive()
			asks.checkSlots()
			s.holds(2)
		}
		if got, want := s.Append(nil), before.Append(nil); !reflect.DeepEqual(got, want) {
			t.Errorf("a check has changed\n%v to\n%v", want, got)
		}
	})
}

func TestWithdrawUndoesPermit(t *testing.T) {
	histories(t, 1000, func(t *testing.T, r *rand.Rand) {
		g, s := randomGuards(r), State{}
		now := play(r, g, &s, epoch, 60)
		a := Do(g, &s, &Request{Op: Permit, Attempt: 2}, now)
		if a.Refusal.Guard != None || !g.Budget.On {
			return
		}
		counted := s.Budget[0].sum(retries, parts)
		later := now + r.Int64N(g.Budget.Window/2)
		Do(g, &s, &Request{Op: Withdraw, Taken: a.Taken}, later)
		if left := s.Budget[0].sum(retries, parts); left >= counted {
			t.Errorf("%d retries counted, %d after withdrawing one", counted, left)
		}
	})
}

func TestAForgottenStateIsNew(t *testing.T) {
	g := &Guards{Breaker: Breaker{Row: 1, Open: 4 * 60 * 60 * 1000, Probes: 1}}
	var s State
	a := Do(g, &s, &Request{Op: Admit, Attempt: 1, ID: 1}, epoch)
	Do(g, &s, &Request{Op: Report, Pass: a.Pass, Outcome: Failure}, epoch)
	keep := 10 * g.Breaker.Open // longer than a day
	then := copyOf(t, &s)
	if a := Do(g, &then, &Request{Op: Admit, Attempt: 1, ID: 2}, epoch+keep); !a.Pass.Place {
		t.Errorf("after %d ms: %+v", keep, a)
	}
	if a := Do(g, &s, &Request{Op: Admit, Attempt: 1, ID: 2}, epoch+keep+1); a.To != Closed {
		t.Errorf("not forgotten after %d ms: %+v", keep, a)
	}
}

func TestAFourthWidthTakesThePlaceOfTheOneUnusedForLongest(t *testing.T) {
	var s State
	now := int64(epoch)
	run := func(width int64) *Window {
		now++
		Do(&Guards{Budget: Budget{On: true, Window: width}}, &s, &Request{Op: Admit, Attempt: 1}, now)
		return &s.Budget[len(s.Budget)-1]
	}
	for _, width := range []int64{10_000, 20_000, 30_000, 10_000, 40_000} {
		run(width)
	}
	var widths []int64
	for _, w := range s.Budget {
		widths = append(widths, w.Width)
	}
	if want := []int64{10_000, 30_000, 40_000}; !reflect.DeepEqual(widths, want) {
		t.Errorf("widths %v, not %v", widths, want)
	}
	if n := s.Budget[0].sum(runs, parts); n != 5 {
		t.Errorf("the oldest width counts %d runs, not 5", n)
	}
}

func TestAStateIsReadAsItWasWritten(t *testing.T) {
	histories(t, 500, func(t *testing.T, r *rand.Rand) {
		var s State
		play(r, randomGuards(r), &s, epoch, 100)
		list := s.Append(nil)
		back, err := Read(list)
		if err != nil || !reflect.DeepEqual(back.Append(nil), list) {
			t.Errorf("%v: read %+v of %+v", err, back, s)
		}
		if _, err := Read(list[:len(list)-1]); err == nil {
			t.Error("a list that is cut short is read")
		}
	})
}

// A request that is not needed is not refused and changes nothing.
func TestARequestThatIsNotNeededChangesNothing(t *testing.T) {
	unneeded := map[Op]int{}
	histories(t, 600, func(t *testing.T, r *rand.Rand) {
		g := randomGuards(r)
		var s State
		now := play(r, g, &s, epoch, 50)
		for op := Permit; op <= Reset; op++ {
			q := &Request{Op: op, Attempt: 1 + r.Int64N(2), ID: MaxID, Held: -1, Outcome: Outcome(r.IntN(3)),
				Succeeded: r.IntN(2) == 0}
			if g.Need(q) {
				continue
			}
			unneeded[op]++
			after, want := copyOf(t, &s), copyOf(t, &s)
			a := Do(g, &after, q, now)
			Do(g, &want, &Request{Op: Withdraw}, now) // gives back nothing
			if a.Refusal.Guard != None || !reflect.DeepEqual(after.Append(nil), want.Append(nil)) {
				t.Errorf("%+v of %+v: %+v, %+v; want %+v", q, g, a, after, want)
			}
		}
	})
	for _, op := range []Op{Permit, Admit, AdmitCopy, Report, Finish} {
		if unneeded[op] == 0 {
			t.Errorf("operation %d is always needed", op)
		}
	}
}

// randomGuards names each guard in half of the cases, with small numbers, so
// that all of them refuse.
func randomGuards(r *rand.Rand) *Guards {
	g := &Guards{Attempts: r.Int64N(6), Adaptive: r.IntN(2) == 0, Priority: Priority(r.IntN(3))}
	if r.IntN(2) == 0 {
		g.Breaker = Breaker{Open: 1 + r.Int64N(5000), Probes: 1 + r.Int64N(3)}
		if r.IntN(2) == 0 {
			g.Breaker.Row = 1 + r.Int64N(4)
		} else {
			g.Breaker.Rate, g.Breaker.Min, g.Breaker.Window = 1+r.Int64N(million), 1+r.Int64N(5), 10+r.Int64N(5000)
		}
	}
	if r.IntN(2) == 0 {
		g.Budget = Budget{On: true, Ratio: r.Int64N(million), Min: r.Int64N(4), Window: 10 + r.Int64N(5000),
			Reserve: r.Int64N(million)}
	}
	if r.IntN(2) == 0 {
		g.Tokens = Tokens{Capacity: 1 + r.Int64N(40), Cost: 1 + r.Int64N(5), TimeoutCost: 1 + r.Int64N(9),
			Success: r.Int64N(2), Refill: r.Int64N(2) * r.Int64N(5000), Reserve: r.Int64N(million)}
	}
	if r.IntN(2) == 0 {
		g.Slots = Slots{N: 1 + r.Int64N(4)}
	}
	if r.IntN(2) == 0 {
		g.RateLimit = RateLimit{Interval: 1 + r.Int64N(2_000_000), Burst: 1 + r.Int64N(3)}
	}
	return g
}

// play makes random requests and returns the time at the end.
func play(r *rand.Rand, g *Guards, s *State, now int64, n int) int64 {
	var out []Pass
	var taken Taken
	for id := range int64(n) {
		if now += r.Int64N(700); r.IntN(30) == 0 {
			now += r.Int64N(40_000) - 20_000
		}
		q := Request{Op: Op(r.IntN(7)), Attempt: 1 + r.Int64N(5), TimedOut: r.IntN(2) == 0, ID: id + 1,
			Slot: r.IntN(2) == 0,
			Turn: r.IntN(2) == 0, Patience: r.Int64N(3000) - 500, Waiting: r.IntN(3) == 0, Held: -1, Taken: taken,
			Outcome: Outcome(r.IntN(3)), Succeeded: r.IntN(2) == 0}
		if len(out) > 0 {
			q.Pass = out[r.IntN(len(out))]
		}
		a := Do(g, s, &q, now)
		if a.Refusal.Guard == None && (q.Op == Admit || q.Op == AdmitCopy) {
			out = append(out, a.Pass)
		}
		if a.Refusal.Guard == None && (q.Op == Permit || q.Op == AdmitCopy) {
			taken = a.Taken
		}
	}
	return now
}

// copyOf is a state that shares nothing with s.
func copyOf(t *testing.T, s *State) State {
	t.Helper()
	c, err := Read(s.Append(nil))
	if err != nil {
		t.Fatalf("%v: %+v", err, s)
	}
	return c
}
