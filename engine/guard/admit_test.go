package guard

// This file holds what one request does to a state: what it takes, keeps and gives back.

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// admitted admits an attempt, or fails the test.
func admitted(t *testing.T, g *Guards, s *State, id, now int64) Pass {
	t.Helper()
	a := Do(g, s, &Request{Op: Admit, Attempt: 1, ID: id, Slot: true, Held: -1}, now)
	if a.Refusal.Guard != None {
		t.Fatalf("attempt %d is refused: %+v", id, a.Refusal)
	}
	return a.Pass
}

// halfOpen is a state whose breaker was opened at epoch and may have probes since.
func halfOpen(t *testing.T, g *Guards) (State, int64) {
	t.Helper()
	var s State
	pass := admitted(t, g, &s, 1, epoch)
	Do(g, &s, &Request{Op: Report, Pass: pass, Outcome: Failure}, epoch)
	if s.Breaker.Circuit != Open {
		t.Fatalf("%+v", s.Breaker)
	}
	return s, epoch + g.Breaker.Open
}

// TestTwoProbesCloseABreaker holds probes=2: two are admitted at a time, and two successes
// close the breaker, whichever probes they are of.
func TestTwoProbesCloseABreaker(t *testing.T) {
	g := &Guards{Breaker: Breaker{Row: 1, Open: 5000, Probes: 2}}
	s, now := halfOpen(t, g)
	first := admitted(t, g, &s, 2, now)
	second := admitted(t, g, &s, 3, now+1000)
	a := Do(g, &s, &Request{Op: Admit, Attempt: 1, ID: 4}, now+2000)
	if r := a.Refusal; r.Guard != KindBreaker || r.Circuit != HalfOpen || r.Probes != 2 || r.RetryIn != LeaseFor-2000 {
		t.Errorf("a third probe: %+v", r)
	}
	if a = Do(g, &s, &Request{Op: Report, Pass: second, Outcome: Success}, now+2000); a.To != HalfOpen {
		t.Errorf("closed by one success: %+v", a)
	}
	third := admitted(t, g, &s, 5, now+3000) // in the place of the one that ended
	if a = Do(g, &s, &Request{Op: Admit, Attempt: 1, ID: 6}, now+3000); a.Refusal.Probes != 2 {
		t.Errorf("%+v", a.Refusal)
	}
	if a = Do(g, &s, &Request{Op: Report, Pass: third, Outcome: Neither}, now+3000); a.To != HalfOpen {
		t.Errorf("an outcome that is neither changes it: %+v", a)
	}
	if a = Do(g, &s, &Request{Op: Report, Pass: first, Outcome: Success}, now+4000); a.To != Closed ||
		s.Breaker.Openings != 0 || s.Breaker.Failures != 0 || s.Breaker.Outcomes != 0 {
		t.Errorf("after two successes: %+v, %+v", a, s.Breaker)
	}
}

// TestOneFailedProbeOpensABreaker: with probes=2, too, and one success before does not count
// when it is half-open again.
func TestOneFailedProbeOpensABreaker(t *testing.T) {
	g := &Guards{Breaker: Breaker{Row: 1, Open: 5000, Probes: 2}}
	s, now := halfOpen(t, g)
	first, second := admitted(t, g, &s, 2, now), admitted(t, g, &s, 3, now)
	Do(g, &s, &Request{Op: Report, Pass: first, Outcome: Success}, now)
	if a := Do(g, &s, &Request{Op: Report, Pass: second, Outcome: Failure}, now); a.To != Open ||
		s.Breaker.Openings != 2 {
		t.Fatalf("%+v, %+v", a, s.Breaker)
	}
	now += 2 * g.Breaker.Open
	third := admitted(t, g, &s, 4, now)
	if a := Do(g, &s, &Request{Op: Report, Pass: third, Outcome: Success}, now); a.To != HalfOpen {
		t.Errorf("the success before it was open counts: %+v", a)
	}
}

// TestAProbeIsItsLease: a probe that renews its lease keeps its place, one that does not loses
// it, and its outcome with it.
func TestAProbeIsItsLease(t *testing.T) {
	g := &Guards{Breaker: Breaker{Row: 1, Open: 5000, Probes: 1}}
	for name, c := range map[string]struct {
		renewed []int64 // ms after the start
		ended   int64
		to      Circuit
	}{
		"within its lease":               {nil, LeaseFor - 1, Closed},
		"at the end of its lease":        {nil, LeaseFor, HalfOpen},
		"renewed":                        {[]int64{9000, 18_000}, 27_999, Closed},
		"renewed, and then for too long": {[]int64{9000}, 19_000, HalfOpen},
		"renewed too late":               {[]int64{LeaseFor}, LeaseFor + 1, HalfOpen},
	} {
		s, now := halfOpen(t, g)
		other := admitted(t, &Guards{Breaker: Breaker{Row: 1, Open: 5000, Probes: 9}}, &s, 8, now)
		pass := admitted(t, &Guards{Breaker: Breaker{Row: 1, Open: 5000, Probes: 9}}, &s, 2, now)
		Do(g, &s, &Request{Op: Report, Pass: other}, now)
		for _, at := range c.renewed {
			Do(g, &s, &Request{Op: Renew, Pass: pass}, now+at)
		}
		if a := Do(g, &s, &Request{Op: Report, Pass: pass, Outcome: Success}, now+c.ended); a.To != c.to {
			t.Errorf("%s: %v", name, a.To)
		}
	}
}

// TestACopyIsNoProbe: a copy of an attempt is refused unless the breaker is closed, also when
// a probe would be admitted.
func TestACopyIsNoProbe(t *testing.T) {
	g := &Guards{Breaker: Breaker{Row: 1, Open: 5000, Probes: 2}}
	s, now := halfOpen(t, g)
	for i, want := range []Refusal{{RetryIn: 1, Circuit: Open}, {RetryIn: 0, Circuit: Open},
		{RetryIn: LeaseFor, Circuit: HalfOpen, Probes: 1}} {
		if i == 2 {
			admitted(t, g, &s, 2, now)
		}
		a := Do(g, &s, &Request{Op: AdmitCopy, Attempt: 1, ID: 7, Held: -1}, now-1+min(int64(i), 1))
		if r := a.Refusal; r.Guard != KindBreaker || r.RetryIn != want.RetryIn || r.Circuit != want.Circuit ||
			r.Probes != want.Probes {
			t.Errorf("copy %d: %+v", i, r)
		}
	}
	var closed State
	if a := Do(g, &closed, &Request{Op: AdmitCopy, Attempt: 1, ID: 7, Held: -1}, now); a.Refusal.Guard != None ||
		a.Pass.Place {
		t.Errorf("closed: %+v", a)
	}
}

// TestACopyHoldsASlot: like an attempt; if none is free, what it took is given back, and the
// answer does not say that it holds it.
func TestACopyHoldsASlot(t *testing.T) {
	g := &Guards{Slots: Slots{N: 1}, Tokens: Tokens{Capacity: 10, Cost: 5, TimeoutCost: 5},
		Budget: Budget{On: true, Min: 5, Window: 10_000}}
	var s State
	q := &Request{Op: AdmitCopy, Attempt: 1, ID: 7, Slot: true, Held: -1}
	a := Do(g, &s, q, epoch)
	if want := []Lease{{7, epoch + LeaseFor}}; a.Pass != (Pass{ID: 7, Slot: true}) || a.Taken.Cost != 5 ||
		!slices.Equal(s.Slots, want) {
		t.Errorf("%+v, %v", a, s.Slots)
	}
	q.ID = 8
	a = Do(g, &s, q, epoch)
	if a.Refusal.Guard != KindSlots || a.Taken != (Taken{}) || a.Pass != (Pass{}) || s.Bucket.Missing != 5*million ||
		s.Budget[0].sum(retries, parts) != 1 {
		t.Errorf("%+v: %+v", a, s)
	}
}

// TestATurnThatIsTooFarGivesBack what the retry took.
func TestATurnThatIsTooFarGivesBack(t *testing.T) {
	g := &Guards{RateLimit: RateLimit{Interval: 1e6, Burst: 1}, Tokens: Tokens{Capacity: 10, Cost: 5, TimeoutCost: 5}}
	s := State{Bucket: Bucket{Missing: 5 * million}}
	q := &Request{Op: Admit, Attempt: 2, ID: 1, Held: -1, Turn: true, Taken: Taken{Cost: 5}, Patience: 999}
	s.Turns.Free = (epoch + 1000) * 1000
	if a := Do(g, &s, q, epoch); a.Refusal.Guard != KindRateLimit || a.Refusal.RetryIn != 1000 ||
		s.Bucket.Missing != 0 {
		t.Errorf("%+v, %d missing", a.Refusal, s.Bucket.Missing)
	}
}

// TestTheRateOfABreakerIsThatOfItsWindow holds the rate against its definition over random
// outcomes: open as soon as there are min outcomes in the newest ten slices and failures are
// at least the rate of them.
func TestTheRateOfABreakerIsThatOfItsWindow(t *testing.T) {
	histories(t, 1000, func(t *testing.T, r *rand.Rand) {
		b := Breaker{Rate: 1 + r.Int64N(million), Min: 1 + r.Int64N(8), Window: 10 + r.Int64N(5000), Open: 1000,
			Probes: 1}
		g, s, now := &Guards{Breaker: b}, State{}, epoch+r.Int64N(10_000)
		type outcome struct {
			slice  int64
			failed bool
		}
		var all []outcome
		for range 60 {
			now += r.Int64N(b.Window / 5)
			pass := admitted(t, g, &s, now, now)
			one := outcome{now * 10 / b.Window, r.IntN(3) == 0}
			all = append(all, one)
			failed, total := int64(0), int64(0)
			for _, o := range all {
				if o.slice > one.slice-10 {
					total++
					if o.failed {
						failed++
					}
				}
			}
			q := &Request{Op: Report, Pass: pass, Outcome: Success}
			if one.failed {
				q.Outcome = Failure
			}
			want := total >= b.Min && float64(failed) >= float64(b.Rate)/1e6*float64(total)-1e-9
			if a := Do(g, &s, q, now); (a.To == Open) != want {
				t.Errorf("%+v: %d of %d failed: %v", b, failed, total, a.To)
			}
			if want {
				if s.Breaker.Failures != failed || s.Breaker.Outcomes != total || s.Breaker.Opened != now {
					t.Errorf("%d of %d failed: %+v", failed, total, s.Breaker)
				}
				return
			}
		}
	})
}

// TestWhatCountsForABreaker: an outcome that is neither does not count while it is closed, and one
// that is counted in a row counts for who looks at a rate as well.
func TestWhatCountsForABreaker(t *testing.T) {
	row, rate := &Guards{Breaker: Breaker{Row: 2, Open: 5000, Probes: 1}},
		&Guards{Breaker: Breaker{Rate: 1, Min: 3, Window: 10_000, Open: 5000, Probes: 1}}
	var s State
	report := func(g *Guards, outcome Outcome) Circuit {
		pass := admitted(t, g, &s, 1, epoch)
		return Do(g, &s, &Request{Op: Report, Pass: pass, Outcome: outcome}, epoch).To
	}
	for i, step := range []struct {
		g       *Guards
		outcome Outcome
		to      Circuit
	}{{row, Neither, Closed}, {row, Failure, Closed}, {row, Neither, Closed}, {rate, Success, Closed},
		{row, Failure, Closed}, {rate, Neither, Closed}, {rate, Success, Open}} {
		if to := report(step.g, step.outcome); to != step.to {
			t.Errorf("step %d: %v, %+v", i, to, s.Breaker)
		}
	}
	if s.Breaker.Failures != 1 || s.Breaker.Outcomes != 3 {
		t.Errorf("%+v", s.Breaker)
	}
}

// TestASpentBudgetComesBack when the slice of its retries leaves the window, or not at all.
func TestASpentBudgetComesBack(t *testing.T) {
	for least, want := range map[int64]int64{1: 9500, 0: -1} {
		g, s := &Guards{Budget: Budget{On: true, Min: least, Window: 10_000}}, State{}
		Do(g, &s, &Request{Op: Permit, Attempt: 2}, epoch+500)
		if r := Do(g, &s, &Request{Op: Permit, Attempt: 2}, epoch+500).Refusal; r.Guard != KindBudget ||
			r.RetryIn != want || r.Retries != least {
			t.Errorf("min=%d: %+v", least, r)
		}
	}
}

// TestTheAdaptiveLimitForgets: only the last hundred outcomes count, the oldest is dropped
// first, and what is neither counts not at all.
func TestTheAdaptiveLimitForgets(t *testing.T) {
	g := &Guards{Adaptive: true, Attempts: 5}
	var s State
	report := func(outcome Outcome, n int) {
		for range n {
			pass := Do(g, &s, &Request{Op: Admit, Attempt: 1, ID: 1}, epoch).Pass
			Do(g, &s, &Request{Op: Report, Pass: pass, Outcome: outcome}, epoch)
		}
	}
	permitted := func(attempt int64) Refusal {
		return Do(g, &s, &Request{Op: Permit, Attempt: attempt}, epoch).Refusal
	}
	for _, step := range []struct {
		outcome             Outcome
		n                   int
		successes, outcomes int64
		limit               int64
	}{
		{Failure, 9, 0, 9, 5}, // too few to say anything
		{Failure, 1, 0, 10, 1},
		{Failure, 140, 0, 100, 1},
		{Success, 49, 49, 100, 1},
		{Success, 11, 60, 100, 2}, // 1 + 4 x (0.6 - 0.5) / 0.4
		{Neither, 50, 60, 100, 2},
		{Success, 30, 90, 100, 5},
		{Success, 200, 100, 100, 5},
		{Failure, 60, 40, 100, 1},
		{Success, 100, 100, 100, 5},
		{Failure, 40, 60, 100, 2},
	} {
		report(step.outcome, step.n)
		if refusal := permitted(step.limit); refusal.Guard != None {
			t.Errorf("after %+v: %+v", step, refusal)
		}
		r := permitted(step.limit + 1)
		if r.Guard != KindAdaptive || r.Attempts != step.limit || r.Successes != step.successes ||
			r.Outcomes != step.outcomes || r.RetryIn != -1 {
			t.Errorf("after %+v: %+v", step, r)
		}
	}
	if a := Do(&Guards{}, &s, &Request{Op: Permit, Attempt: 99}, epoch); a.Refusal.Guard != None {
		t.Errorf("a run without the limit: %+v", a.Refusal)
	}
	before := len(s.Recent)
	Do(&Guards{}, &s, &Request{Op: Report, Outcome: Success}, epoch)
	if s.Recent = s.Recent[:before]; s.succeeded() != 60 {
		t.Errorf("%d successes after one of a run without the limit", s.succeeded())
	}
	// Without a limit of attempts it is that of ten.
	unlimited := &Guards{Adaptive: true}
	if r := Do(unlimited, &s, &Request{Op: Permit, Attempt: 100}, epoch).Refusal; r.Attempts != 3 {
		t.Errorf("of unlimited attempts: %+v", r)
	}
}

// TestResetForgetsWhatWasAdmittedBefore: what a run had from before a reset changes nothing
// after it, but its slot is held until it is given back.
func TestResetForgetsWhatWasAdmittedBefore(t *testing.T) {
	g := &Guards{
		Breaker: Breaker{Row: 1, Open: 5000, Probes: 1}, Budget: Budget{On: true, Min: 1, Window: 10_000},
		Tokens: Tokens{Capacity: 10, Cost: 10, TimeoutCost: 10}, Slots: Slots{N: 1}, Adaptive: true,
	}
	var s State
	before := admitted(t, g, &s, 1, epoch)
	Do(g, &s, &Request{Op: Permit, Attempt: 2}, epoch)
	s.Recent = append(s.Recent, 1)
	if a := Do(g, &s, &Request{Op: Reset}, epoch); a.To != Closed || a.Refusal.Guard != None {
		t.Errorf("%+v", a)
	}
	if len(s.Budget)+len(s.Recent) > 0 || s.Bucket.Missing != 0 || len(s.Slots) != 1 || s.Keep < day {
		t.Errorf("left: %+v", s)
	}
	Do(g, &s, &Request{Op: Report, Pass: before, Outcome: Failure}, epoch+1)
	if s.Breaker.Circuit != Closed || s.Breaker.Row != 0 || len(s.Recent) != 0 || len(s.Slots) != 0 {
		t.Errorf("an outcome from before counts: %+v", s)
	}
	after := admitted(t, g, &s, 2, epoch+1)
	Do(g, &s, &Request{Op: Report, Pass: after, Outcome: Failure}, epoch+1)
	if s.Breaker.Circuit != Open || len(s.Recent) != 1 {
		t.Errorf("an outcome from after does not count: %+v", s)
	}
}

// TestAGenerationIsNeverUsedAgain: an outcome of an attempt from before a state was forgotten
// does not count in the new one, whose breaker has changed as often.
func TestAGenerationIsNeverUsedAgain(t *testing.T) {
	g := &Guards{Breaker: Breaker{Row: 1, Open: 1, Probes: 1}}
	s, now := halfOpen(t, g)
	old := admitted(t, g, &s, 2, now)
	now += 2 * day
	first := admitted(t, g, &s, 3, now)
	if s.Breaker.Circuit != Closed {
		t.Fatalf("not forgotten: %+v", s.Breaker)
	}
	Do(g, &s, &Request{Op: Report, Pass: first, Outcome: Failure}, now)
	admitted(t, g, &s, 2, now+1)
	if a := Do(g, &s, &Request{Op: Report, Pass: old, Outcome: Failure}, now+1); a.To != HalfOpen ||
		len(s.Breaker.Probes) != 1 {
		t.Errorf("%+v: %+v", a, s.Breaker)
	}
	// Changes in one millisecond have numbers of their own.
	for last := s.Breaker.Generation; last < now+5; last++ {
		if s.Breaker.change(Open, now); s.Breaker.Generation != last+1 {
			t.Errorf("%d after %d", s.Breaker.Generation, last)
		}
	}
}

// TestWhoWaitsForASlot holds which of two guards refuses an attempt, and whether what its
// retry took is given back: not while it waits for a slot, unless the breaker is open.
func TestWhoWaitsForASlot(t *testing.T) {
	g := &Guards{
		Breaker: Breaker{Row: 1, Open: 5000, Probes: 1}, Slots: Slots{N: 1},
		Tokens: Tokens{Capacity: 10, Cost: 5, TimeoutCost: 5},
		Budget: Budget{On: true, Min: 5, Window: 10_000},
	}
	for name, c := range map[string]struct {
		circuit   Circuit
		slotTaken bool
		waiting   bool
		refusal   Kind
		givesBack bool
	}{
		"nothing is in the way":                     {Closed, false, false, None, false},
		"no slot":                                   {Closed, true, false, KindSlots, true},
		"no slot, and it waits":                     {Closed, true, true, KindSlots, false},
		"the breaker is open":                       {Open, false, false, KindBreaker, true},
		"the breaker is open, and it waits":         {Open, false, true, KindBreaker, true},
		"both, the breaker is open":                 {Open, true, false, KindSlots, true},
		"both, the breaker is open, and it waits":   {Open, true, true, KindBreaker, true},
		"both, it is half-open":                     {HalfOpen, true, false, KindSlots, true},
		"both, it is half-open, and it waits":       {HalfOpen, true, true, KindSlots, false},
		"half-open with its probe, and it waits":    {HalfOpen, false, true, KindBreaker, true},
		"half-open with its probe, and it does not": {HalfOpen, false, false, KindBreaker, true},
	} {
		s := State{Breaker: BreakerState{Circuit: c.circuit, Opened: epoch, Openings: 1}}
		if c.circuit == HalfOpen {
			s.Breaker.Probes = []Lease{{8, epoch + 5}}
		}
		if c.slotTaken {
			s.Slots = []Lease{{9, epoch + 5}}
		}
		taken := Taken{At: epoch, Budget: true, Cost: 5}
		s.Bucket.Missing = 10 * million
		count(s.Budget, retries, epoch)
		window(&s.Budget, g.Budget.Window, epoch)
		count(s.Budget, retries, epoch)
		a := Do(g, &s, &Request{Op: Admit, Attempt: 2, ID: 1, Slot: true, Held: -1, Waiting: c.waiting, Taken: taken},
			epoch)
		tokens, budget := s.Bucket.Missing == 5*million, s.Budget[0].sum(retries, parts) == 0
		if a.Refusal.Guard != c.refusal || tokens != c.givesBack || budget != c.givesBack {
			t.Errorf("%s: %+v; given back: tokens %v, budget %v", name, a.Refusal, tokens, budget)
		}
		if got := slices.Contains(s.Slots, Lease{1, epoch + LeaseFor}); got != (c.refusal == None) {
			t.Errorf("%s: holds a slot: %v", name, got)
		}
	}
}

// TestSlotsThatTheStoreCounts: with Held, it says how many are in use, and the state holds none.
func TestSlotsThatTheStoreCounts(t *testing.T) {
	g := &Guards{Slots: Slots{N: 2}}
	for held, want := range map[int64]Kind{0: None, 1: None, 2: KindSlots, 3: KindSlots} {
		s := State{Slots: []Lease{{7, epoch + 1}, {8, epoch + 1}}}
		a := Do(g, &s, &Request{Op: Admit, Attempt: 1, ID: 1, Slot: true, Held: held}, epoch)
		if a.Refusal.Guard != want || len(s.Slots) != 2 || a.Pass.Slot != (want == None) || want != None &&
			a.Refusal.Held != held {
			t.Errorf("%d held: %+v, %v", held, a, s.Slots)
		}
	}
	var s State
	if a := Do(g, &s, &Request{Op: Admit, Attempt: 1, ID: 1, Held: -1}, epoch); a.Pass.Slot || len(s.Slots) != 0 {
		t.Errorf("an attempt that needs none: %+v", a)
	}
}

// TestASlotIsHeldForItsLease: until then it is renewed or given back.
func TestASlotIsHeldForItsLease(t *testing.T) {
	g := &Guards{Slots: Slots{N: 2}}
	var s State
	first, second := admitted(t, g, &s, 1, epoch), admitted(t, g, &s, 2, epoch)
	third := func(now int64) Kind {
		then := copyOf(t, &s)
		return Do(g, &then, &Request{Op: Admit, Attempt: 1, ID: 3, Slot: true, Held: -1}, now).Refusal.Guard
	}
	for now, want := range map[int64]Kind{epoch: KindSlots, epoch + LeaseFor - 1: KindSlots, epoch + LeaseFor: None} {
		if got := third(now); got != want {
			t.Errorf("after %d ms: %v", now-epoch, got)
		}
	}
	for _, op := range []Op{Report, Finish} {
		then := copyOf(t, &s)
		Do(g, &then, &Request{Op: op, Pass: Pass{ID: 1}}, epoch)
		if len(then.Slots) != 2 {
			t.Errorf("%v: who holds no slot gives one back: %v", op, then.Slots)
		}
		Do(g, &then, &Request{Op: op, Pass: first}, epoch)
		if want := []Lease{{2, epoch + LeaseFor}}; !slices.Equal(then.Slots, want) {
			t.Errorf("%v: %v", op, then.Slots)
		}
	}
	Do(g, &s, &Request{Op: Renew, Pass: first}, epoch+6000)
	Do(g, &s, &Request{Op: Renew, Pass: second}, epoch+7000)
	if want := []Lease{{1, epoch + 6000 + LeaseFor}, {2, epoch + 7000 + LeaseFor}}; !slices.Equal(s.Slots, want) {
		t.Errorf("renewed: %v", s.Slots)
	}
	Do(g, &s, &Request{Op: Renew, Pass: Pass{ID: 5}}, epoch+8000)
	if len(s.Slots) != 2 {
		t.Errorf("who holds nothing renews a slot: %v", s.Slots)
	}
	for n, want := range map[int64]bool{1: true, 2: true, 3: false} { // two others hold the slots
		then := copyOf(t, &s)
		if a := Do(&Guards{Slots: Slots{N: n}}, &then, &Request{Op: Renew, Pass: Pass{ID: 5, Slot: true}},
			epoch+8000); a.Lost != want {
			t.Errorf("a slot that was lost, of %d: told %v", n, a.Lost)
		}
	}
}

// TestWhatARunGivesBack holds the bucket after the end of a run: what its last retry took, if
// it succeeded, or the reward for a success without a retry.
func TestWhatARunGivesBack(t *testing.T) {
	g := &Guards{Tokens: Tokens{Capacity: 100, Cost: 5, TimeoutCost: 10, Success: 3}}
	for name, c := range map[string]struct {
		g    *Guards
		q    Request
		left int64 // missing, of 50
	}{
		"success at once":            {g, Request{Attempt: 1, Succeeded: true}, 47},
		"success without an attempt": {g, Request{Succeeded: true}, 47},
		"success after a retry":      {g, Request{Attempt: 2, Succeeded: true, Taken: Taken{Cost: 10}}, 40},
		"failure":                    {g, Request{Attempt: 2, Taken: Taken{Cost: 10}}, 50},
		"failure at once":            {g, Request{Attempt: 1}, 50},
		"a run without a bucket":     {&Guards{}, Request{Attempt: 2, Succeeded: true, Taken: Taken{Cost: 10}}, 50},
	} {
		s := State{Bucket: Bucket{Missing: 50 * million}}
		c.q.Op = Finish
		if Do(c.g, &s, &c.q, epoch); s.Bucket.Missing != c.left*million {
			t.Errorf("%s: %d missing", name, s.Bucket.Missing)
		}
		c.q.Op, c.q.Taken.Budget = Withdraw, true
		if Do(&Guards{}, &s, &c.q, epoch); s.Bucket.Missing != c.left*million {
			t.Errorf("%s: a run without guards gives back: %d missing", name, s.Bucket.Missing)
		}
	}
}

// TestARetryTakesFromBothOrNeither: what it took is in the answer, to be given back.
func TestARetryTakesFromBothOrNeither(t *testing.T) {
	g := &Guards{Budget: Budget{On: true, Min: 2, Window: 10_000},
		Tokens: Tokens{Capacity: 15, Cost: 5, TimeoutCost: 10}}
	for name, c := range map[string]struct {
		missing  int64
		timedOut bool
		want     Taken
		refusal  Kind
	}{
		"both":                          {0, false, Taken{epoch, true, 5}, None},
		"after a timeout":               {0, true, Taken{epoch, true, 10}, None},
		"an exact fit":                  {10, false, Taken{epoch, true, 5}, None},
		"too few tokens":                {11, false, Taken{}, KindTokens},
		"too few tokens for a timeout":  {6, true, Taken{}, KindTokens},
		"a bucket that is overdrawn":    {20, false, Taken{}, KindTokens},
		"an exact fit, after a timeout": {5, true, Taken{epoch, true, 10}, None},
	} {
		for _, op := range []Op{Permit, AdmitCopy} {
			s := State{Bucket: Bucket{Missing: c.missing * million}}
			a := Do(g, &s, &Request{Op: op, Attempt: 2, ID: 1, TimedOut: c.timedOut}, epoch)
			if a.Taken != c.want || a.Refusal.Guard != c.refusal ||
				s.Bucket.Missing != (c.missing+c.want.Cost)*million {
				t.Errorf("%s: %+v, %d missing", name, a, s.Bucket.Missing)
			}
			if n := s.Budget[0].sum(retries, parts); (n == 1) != c.want.Budget {
				t.Errorf("%s: %d retries are counted", name, n)
			}
			if r := a.Refusal; r.Guard == KindTokens &&
				(r.Left != max(15-c.missing, 0)*million || r.Kept != 0 || r.RetryIn != -1) {
				t.Errorf("%s: %+v", name, r)
			}
		}
	}
}

// TestTheReserveOfABucketIsForHighPriority holds what a run of each priority leaves in the bucket.
func TestTheReserveOfABucketIsForHighPriority(t *testing.T) {
	for priority, kept := range map[Priority]int64{High: 0, Normal: 20, Low: 60} {
		g := &Guards{Tokens: Tokens{Capacity: 100, Cost: 5, TimeoutCost: 10, Reserve: 200_000, Refill: 1000},
			Priority: priority}
		for missing, want := range map[int64]Kind{95 - kept: None, 96 - kept: KindTokens} {
			s := State{Bucket: Bucket{Missing: missing * million, Stamp: epoch}}
			r := Do(g, &s, &Request{Op: Permit, Attempt: 2}, epoch).Refusal
			if r.Guard != want || r.Guard != None && (r.RetryIn != 1000 || r.Kept != kept*million || r.Cost != 5) {
				t.Errorf("%v, %d missing: %+v", priority, missing, r)
			}
		}
	}
	// What a bucket can never hold has no time.
	g := &Guards{Tokens: Tokens{Capacity: 10, Cost: 5, TimeoutCost: 10, Reserve: 500_001, Refill: 1000}}
	if r := Do(g, &State{}, &Request{Op: Permit, Attempt: 2}, epoch).Refusal; r.RetryIn != -1 {
		t.Errorf("%+v", r)
	}
	g.Tokens.Reserve = 500_000
	if r := Do(g, &State{Bucket: Bucket{Missing: 1, Stamp: epoch}}, &Request{Op: Permit, Attempt: 2},
		epoch).Refusal; r.RetryIn != 1 {
		t.Errorf("%+v", r)
	}
}

// TestABucketRefillsByTheMillisecond holds the refill against its definition.
func TestABucketRefillsByTheMillisecond(t *testing.T) {
	histories(t, 500, func(t *testing.T, r *rand.Rand) {
		c := Tokens{Capacity: 1 + r.Int64N(50), Cost: 1, TimeoutCost: 1, Refill: r.Int64N(5000)}
		missing := r.Int64N(c.Capacity * million)
		b, now := Bucket{missing, epoch}, int64(epoch)
		for range 20 {
			now += r.Int64N(3000)
			b.refill(&c, now)
			if want := max(missing-c.Refill*(now-epoch), 0); b.Missing != want {
				t.Errorf("%+v, %d missing: %d after %d ms, not %d", c, missing, b.Missing, now-epoch, want)
				return
			}
		}
	})
}

// TestWhatHappensCountsInEveryWidth: also in the windows of runs that have not asked since.
func TestWhatHappensCountsInEveryWidth(t *testing.T) {
	short, long := &Guards{Budget: Budget{On: true, Window: 10_000, Min: 9}},
		&Guards{Budget: Budget{On: true, Window: 20_000, Min: 9}}
	var s State
	counted := func(g *Guards, now int64) (all [2]int64) {
		then := copyOf(t, &s)
		w := window(&then.Budget, g.Budget.Window, now)
		return [2]int64{w.sum(runs, parts), w.sum(retries, parts)}
	}
	run := func(g *Guards, now int64) { Do(g, &s, &Request{Op: Admit, Attempt: 1}, now) }
	retry := func(g *Guards, now int64) Taken { return Do(g, &s, &Request{Op: Permit, Attempt: 2}, now).Taken }
	run(long, epoch)
	run(short, epoch)
	retry(short, epoch)
	run(short, epoch+5000)
	taken := retry(short, epoch+5000)
	for _, c := range []struct {
		g    *Guards
		now  int64
		want [2]int64
	}{
		{long, epoch + 19_999, [2]int64{3, 2}}, {long, epoch + 20_000, [2]int64{1, 1}},
		{long, epoch + 23_999, [2]int64{1, 1}}, {long, epoch + 24_000, [2]int64{}},
		{short, epoch + 9999, [2]int64{2, 2}}, {short, epoch + 10_000, [2]int64{1, 1}},
		{short, epoch + 15_000, [2]int64{}},
	} {
		if got := counted(c.g, c.now); got != c.want {
			t.Errorf("width %d, %d ms later: runs and retries %v, not %v", c.g.Budget.Window, c.now-epoch, got, c.want)
		}
	}
	Do(short, &s, &Request{Op: Withdraw, Taken: taken}, epoch+9000)
	if got, want := counted(long, epoch+19_999), [2]int64{3, 1}; got != want {
		t.Errorf("after one was given back: %v, not %v", got, want)
	}
	if got, want := counted(long, epoch+20_000), [2]int64{1, 0}; got != want {
		t.Errorf("the other one was given back: %v", got)
	}
}

// TestAnyGuardIsOne holds that each guard by itself has the store asked.
func TestAnyGuardIsOne(t *testing.T) {
	if (&Guards{Attempts: 3, Priority: High, Breaker: Breaker{Probes: 1}}).Any() {
		t.Error("no guard is named")
	}
	for i, g := range []Guards{
		{Breaker: Breaker{Rate: 1}}, {Breaker: Breaker{Row: 1}}, {Budget: Budget{On: true}},
		{Tokens: Tokens{Capacity: 1}},
		{Slots: Slots{N: 1}}, {RateLimit: RateLimit{Interval: 1}}, {Adaptive: true},
	} {
		if !g.Any() {
			t.Errorf("guard %d is none", i)
		}
	}
}
