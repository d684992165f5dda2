package admission

// This file holds the waits for a turn and for a store that fails, and slots that are lost.

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retrysh/retry/engine/guard"
	"github.com/retrysh/retry/testdata/tries"
)

var twoASecond = guard.RateLimit{Interval: 500_000, Burst: 1, Wait: -1}

func TestATurnIsWaitedForWithOneRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{}
		begun := time.Now()
		for i := range 6 {
			g, emitted := newGate(guard.Guards{RateLimit: twoASecond}, m, nil)
			go func() {
				p := g.First()
				if refusal := g.WaitForTurn(context.Background(), p, time.Time{}); refusal != nil {
					t.Errorf("%+v", refusal)
				}
				if took, want := time.Since(begun), time.Duration(i)*500*time.Millisecond; took != want {
					t.Errorf("run %d starts after %v, not %v", i, took, want)
				}
				if told := emitted.kinds() == "SlotPending"; told != (i > 2) {
					t.Errorf("run %d: events %q", i, emitted.kinds())
				}
				p.Report(guard.Success)
			}()
			synctest.Wait()
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if n := len(m.calls); n != 6 {
			t.Errorf("%d requests", n)
		}
	})
}

func TestATurnThatIsTooFarAwayIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		wait         int64 // ms
		deadline     time.Duration
		refused      bool
		pastDeadline bool
	}{
		"no limit":                   {-1, 0, false, false},
		"wait=0s":                    {0, 0, true, false},
		"wait= is long enough":       {500, 0, false, false},
		"the deadline comes first":   {-1, 400 * time.Millisecond, true, true},
		"deadline before wait":       {800, 400 * time.Millisecond, true, true},
		"wait before the deadline":   {100, 400 * time.Millisecond, true, false},
		"the deadline leaves enough": {-1, time.Second, false, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			m := &memory{}
			limit := twoASecond
			limit.Wait = c.wait
			g, _ := newGate(guard.Guards{RateLimit: limit}, m, nil)
			admit(t, g, first).Report(guard.Success)
			g, _ = newGate(guard.Guards{RateLimit: limit}, m, nil)
			start, deadline := time.Now(), time.Time{}
			if c.deadline > 0 {
				deadline = start.Add(c.deadline)
			}
			refusal := g.WaitForTurn(t.Context(), g.First(), deadline)
			if (refusal != nil) != c.refused || refusal != nil &&
				(refusal.Guard != "rate-limit" || refusal.PastDeadline != c.pastDeadline ||
					*refusal.RetryIn != 500*time.Millisecond) {
				t.Errorf("%s: %+v", name, refusal)
			}
			if took := time.Since(start); took > 0 && c.refused || took != 500*time.Millisecond && !c.refused {
				t.Errorf("%s: after %v", name, took)
			}
		})
	}
}

// What a retry took before its wait is given back if its turn is refused.
func TestARefusedTurnGivesBackTheRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{}
		limit := twoASecond
		limit.Wait = 0
		g, _ := newGate(guard.Guards{RateLimit: limit, Tokens: full}, m, nil)
		admit(t, g, first).Report(guard.Failure)
		retry := permit(t, g, false)
		if refusal := g.WaitForTurn(t.Context(), retry, time.Time{}); refusal == nil || refusal.Guard != "rate-limit" {
			t.Errorf("%+v", refusal)
		}
		retry.Drop()
		if g.Finish(false); m.state.Bucket.Missing != 0 {
			t.Errorf("%d missing", m.state.Bucket.Missing)
		}
	})
}

// The wait for a slot begins when the turn has come.
func TestASlotIsWaitedForAfterTheTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{}
		holder, _ := newGate(guard.Guards{Slots: oneIn}, m, nil)
		pass := admit(t, holder, first)
		g, _ := newGate(guard.Guards{RateLimit: guard.RateLimit{Interval: 60e6, Burst: 1, Wait: -1}}, m, nil)
		admit(t, g, first).Report(guard.Success)
		waiter, _ := newGate(guard.Guards{RateLimit: twoASecond, Slots: guard.Slots{N: 1, Wait: 5000}}, m, nil)
		time.AfterFunc(63*time.Second, func() { pass.Report(guard.Success) })
		start := time.Now()
		admit(t, waiter, first).Report(guard.Success)
		if took := time.Since(start); took < 63*time.Second || took > 63*time.Second+375*time.Millisecond {
			t.Errorf("admitted after %v", took)
		}
	})
}

func TestAWaiterOutlivesTheStoresOutage(t *testing.T) {
	waits := map[string]guard.Guards{
		"for a slot": {Slots: guard.Slots{N: 1, Wait: 60_000}},
		"for a turn": {RateLimit: guard.RateLimit{Interval: 1000, Burst: 1, Wait: 60_000}},
	}
	for name, guards := range waits {
		synctest.Test(t, func(t *testing.T) {
			m := &memory{fails: errDown}
			g, emitted := newGate(guards, m, nil)
			g.Closed = true
			time.AfterFunc(50*time.Second, func() { m.set(nil) })
			start := time.Now()
			admit(t, g, first).Report(guard.Success)
			if took := time.Since(start); took < 50*time.Second || took > 50375*time.Millisecond {
				t.Errorf("%s: admitted after %v", name, took)
			}
			if emitted.kinds() != "StoreFailed" {
				t.Errorf("%s: events %q", name, emitted.kinds())
			}
		})
	}
}

func TestAnOutageIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{}
		holder, _ := newGate(guard.Guards{Slots: oneIn}, m, nil)
		pass := admit(t, holder, first)
		for at, err := range map[time.Duration]error{1: errDown, 4: nil, 10: errDown, 12: nil} {
			time.AfterFunc(at*time.Second, func() { m.set(err) })
		}
		time.AfterFunc(20*time.Second, func() { pass.Report(guard.Success) })
		g, emitted := newGate(guard.Guards{Slots: guard.Slots{N: 1, Wait: 60_000}}, m, nil)
		admit(t, g, first).Report(guard.Success)
		if n := strings.Count(emitted.kinds(), "StoreFailed"); n != 2 {
			t.Errorf("events %q", emitted.kinds())
		}
	})
}

func TestWhatFollowsWhenTheWaitIsOver(t *testing.T) {
	for name, c := range map[string]struct {
		closed bool
		events string
	}{
		"closed": {true, "StoreFailed"},
		"open":   {false, "StoreFailed StoreFailed"}, // asking again; going on with the host's
	} {
		synctest.Test(t, func(t *testing.T) {
			m, host := &memory{fails: errDown}, &memory{}
			g, emitted := newGate(guard.Guards{Slots: guard.Slots{N: 1, Wait: 3000}}, m, host)
			g.Closed = c.closed
			start := time.Now()
			pass, refusal := ask(t.Context(), g, first)
			if took := time.Since(start); took < 3*time.Second || took > 3375*time.Millisecond {
				t.Errorf("%s: after %v", name, took)
			}
			if (refusal != nil) != c.closed || refusal != nil && refusal.Guard != "store" ||
				emitted.kinds() != c.events {
				t.Errorf("%s: %+v, events %q", name, refusal, emitted.kinds())
			}
			pass.Report(guard.Success)
		})
	}
}

func TestALostLeaseIsToldAtThatMoment(t *testing.T) {
	for name, c := range map[string]struct {
		away, back time.Duration // of the store
		lost       time.Duration // 0 for never
	}{
		"never away":        {time.Hour, 2 * time.Hour, 0},
		"back in time":      {4 * time.Second, 12 * time.Second, 0},
		"away for too long": {4 * time.Second, time.Hour, 13333333333}, // the lease of 3.3 s ends
	} {
		synctest.Test(t, func(t *testing.T) {
			m := &memory{}
			g, _ := newGate(guard.Guards{Slots: oneIn}, m, nil)
			pass := admit(t, g, first)
			time.AfterFunc(c.away, func() { m.set(errDown) })
			time.AfterFunc(c.back, func() { m.set(nil) })
			start := time.Now()
			select {
			case lost := <-g.Lost():
				if took := time.Since(start).Truncate(time.Millisecond); took != c.lost.Truncate(time.Millisecond) ||
					!strings.Contains(lost.Reason, `the slot of "k" is lost`) {
					t.Errorf("%s: after %v: %+v", name, took, lost)
				}
			case <-time.After(time.Minute):
				if c.lost > 0 {
					t.Errorf("%s: not told", name)
				}
			}
			m.set(nil)
			pass.Report(guard.Success)
			if g.Lost() != nil {
				t.Error("nothing is held any more")
			}
		})
	}
}

// A server that has forgotten its state gives the slot to another run.
func TestASlotThatAnotherRunHoldsIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{}
		g, _ := newGate(guard.Guards{Slots: oneIn}, m, nil)
		pass := admit(t, g, first)
		m.mu.Lock()
		m.state = guard.State{}
		m.mu.Unlock()
		other, _ := newGate(guard.Guards{Slots: oneIn}, m, nil)
		theirs := admit(t, other, first)
		time.Sleep(4 * time.Second)
		select {
		case lost := <-g.Lost():
			if !strings.Contains(lost.Reason, "other runs hold it now") {
				t.Errorf("%+v", lost)
			}
		default:
			t.Error("not told")
		}
		pass.Report(guard.Success)
		theirs.Report(guard.Success)
	})
}

// TestGuardsHoldNothingOfAttemptsThatHaveEnded makes 50,000 attempts with each guard. A chain of
// passes would keep 165 bytes of each.
func TestGuardsHoldNothingOfAttemptsThatHaveEnded(t *testing.T) {
	attempts := tries.Of(5_000)
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	for name, guards := range map[string]guard.Guards{
		"breaker":    {Breaker: guard.Breaker{Rate: 500_000, Min: 1e9, Window: 60_000, Open: 1000, Probes: 1}},
		"budget":     {Budget: guard.Budget{On: true, Min: 1e9, Window: 60_000}},
		"tokens":     {Tokens: guard.Tokens{Capacity: 1e9, Cost: 1, TimeoutCost: 1}},
		"slots":      {Slots: oneIn},
		"adaptive":   {Adaptive: true, Attempts: 1e9},
		"rate limit": {RateLimit: guard.RateLimit{Interval: 1, Burst: 1e9, Wait: -1}},
	} {
		m := &memory{silent: true}
		g, _ := newGate(guards, m, nil)
		run := func(n int) {
			for i := range n {
				p := g.First()
				if i > 0 {
					p = permit(t, g, false)
				}
				admitPermitted(t, p).Report(guard.Success)
			}
		}
		run(1000)
		before := heap()
		run(attempts)
		if grown := heap() - before; grown > 50*int64(attempts) {
			t.Errorf("%s: %d attempts leave %d bytes", name, attempts, grown)
		}
	}
}
