package admission

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/guard"
)

// memory is a store in memory, by the clock of the test's bubble.
type memory struct {
	mu    sync.Mutex
	state guard.State
	fails error
	calls []guard.Op
	says  func() // once
	// silent keeps no calls.
	silent bool
}

func (m *memory) set(fails error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fails = fails
}

func (m *memory) Do(ctx context.Context, _ string, g *guard.Guards, r *guard.Request) (guard.Answer, guard.Lock,
	error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.silent {
		m.calls = append(m.calls, r.Op)
	}
	if m.says != nil {
		m.says()
		m.says = nil
	}
	if m.fails != nil {
		return guard.Answer{}, nil, m.fails
	}
	return guard.Do(g, &m.state, r, time.Now().UnixMilli()), nil, ctx.Err()
}

func (*memory) Look(context.Context, string) (*guard.Snapshot, error) { return nil, nil }

// recorder collects events.
type recorder struct{ events []event.Event }

func (r *recorder) emit(e event.Event) { r.events = append(r.events, e) }

func (r *recorder) kinds() string {
	var all []string
	for _, e := range r.events {
		all = append(all, strings.TrimPrefix(fmt.Sprintf("%T", e), "*event."))
	}
	return strings.Join(all, " ")
}

// random gives each pass of all gates an ID of its own.
var random atomic.Uint64

// newGate is a gate over stores; host may be nil.
func newGate(g guard.Guards, primary, host *memory) (*Gate, *recorder) {
	r := &recorder{}
	c := &Config{Key: "k", Guards: g, Primary: Named{primary, "primary"}, Timeout: time.Second}
	if host != nil {
		c.Host = Named{host, "host"}
	}
	c.Random = func() uint64 { return random.Add(1 << 20) }
	return New(c, r.emit), r
}

// A configuration serves any number of runs: each gate emits for its own, and none changes it.
func TestGatesShareAConfiguration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, emitted := newGate(guard.Guards{Breaker: oneRow}, &memory{}, nil)
		quiet := &recorder{}
		other := New(one.Config, quiet.emit)
		admit(t, one, first).Report(guard.Failure)
		if _, refusal := ask(t.Context(), other, first); refusal == nil || refusal.Guard != "breaker" {
			t.Errorf("%+v", refusal)
		}
		if emitted.kinds() != "BreakerChanged" || quiet.kinds() != "" {
			t.Errorf("events %q and %q", emitted.kinds(), quiet.kinds())
		}
		if one.Now != nil {
			t.Error("the configuration has another clock")
		}
	})
}

const first, second = 1, 2

var (
	oneRow = guard.Breaker{Row: 1, Open: 60_000, Probes: 1}
	oneIn  = guard.Slots{N: 1}
	full   = guard.Tokens{Capacity: 10, Cost: 5, TimeoutCost: 10, Success: 1}
	oneTry = guard.Budget{On: true, Min: 1, Window: 60_000}
)

// ask waits for the turn of an attempt that was not asked for before.
func ask(ctx context.Context, g *Gate, attempt int) (*Pass, *event.GuardRefused) {
	p := &Pass{gate: g, attempt: attempt, retry: attempt > 1}
	refusal := g.WaitForTurn(ctx, p, time.Time{})
	if refusal != nil {
		return nil, refusal
	}
	return p, nil
}

// admit lets an attempt through that must be.
func admit(t *testing.T, g *Gate, attempt int) *Pass {
	t.Helper()
	pass, refusal := ask(t.Context(), g, attempt)
	if refusal != nil {
		t.Fatalf("refused: %+v", refusal)
	}
	return pass
}

// permit asks for the second attempt, which must be permitted.
func permit(t *testing.T, g *Gate, timedOut bool) *Pass {
	t.Helper()
	pass, refusal := g.Permit(t.Context(), second, timedOut)
	if refusal != nil {
		t.Fatalf("refused: %+v", refusal)
	}
	return pass
}

// admitPermitted lets a pass of Permit through.
func admitPermitted(t *testing.T, p *Pass) *Pass {
	t.Helper()
	if refusal := p.gate.WaitForTurn(t.Context(), p, time.Time{}); refusal != nil {
		t.Fatalf("refused: %+v", refusal)
	}
	return p
}

// refuses reports whether the second attempt is not permitted.
func refuses(t *testing.T, g *Gate) bool {
	t.Helper()
	_, refusal := g.Permit(t.Context(), second, false)
	return refusal != nil
}

func TestASlotIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{}
		holder, _ := newGate(guard.Guards{Slots: oneIn}, m, nil)
		pass := admit(t, holder, first)
		waiter, _ := newGate(guard.Guards{Slots: guard.Slots{N: 1, Wait: 20_000}}, m, nil)
		start := time.Now()
		if _, refusal := ask(t.Context(), waiter, first); refusal == nil || refusal.Guard != "max-concurrent" ||
			refusal.RetryIn != nil {
			t.Errorf("%+v", refusal)
		}
		if took := time.Since(start); took != 20*time.Second {
			t.Errorf("waited %v, not 20s", took)
		}
		time.AfterFunc(15*time.Second, func() { pass.Report(guard.Success) })
		start = time.Now()
		admit(t, waiter, first).Report(guard.Success)
		if took := time.Since(start); took < 15*time.Second || took > 15375*time.Millisecond {
			t.Errorf("admitted after %v, where the slot was free after 15s", took)
		}
	})
}

func TestAnOpenBreakerEndsTheWaitForASlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{}
		g := guard.Guards{Slots: guard.Slots{N: 1, Wait: 60_000}, Breaker: oneRow}
		holder, _ := newGate(guard.Guards{Slots: oneIn}, m, nil)
		pass := admit(t, holder, first)
		other, _ := newGate(guard.Guards{Breaker: oneRow}, m, nil)
		fails := admit(t, other, first)
		time.AfterFunc(5*time.Second, func() { fails.Report(guard.Failure) })
		waiter, _ := newGate(g, m, nil)
		start := time.Now()
		_, refusal := ask(t.Context(), waiter, first)
		if refusal == nil || refusal.Guard != "breaker" || *refusal.RetryIn > 60*time.Second {
			t.Errorf("%+v", refusal)
		}
		if took := time.Since(start); took > 5375*time.Millisecond {
			t.Errorf("it took %v", took)
		}
		pass.Report(guard.Success)
	})
}

func TestAContextThatEndsEndsTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{}
		holder, _ := newGate(guard.Guards{Slots: oneIn}, m, nil)
		pass := admit(t, holder, first)
		g, emitted := newGate(guard.Guards{Slots: guard.Slots{N: 1, Wait: 60_000}, Budget: oneTry}, m, nil)
		retry := permit(t, g, false)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if g.WaitForTurn(ctx, retry, time.Time{}) == nil {
			t.Error("admitted")
		}
		retry.Drop()
		if n := m.state.Budget[0].Counts; n != [10][2]int64{} || emitted.kinds() != "" {
			t.Errorf("after withdrawing: %v, events %q", n, emitted.kinds())
		}
		pass.Report(guard.Success)
	})
}

func TestLeasesAreRenewedUntilTheReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{}
		g, _ := newGate(guard.Guards{Slots: oneIn, Breaker: oneRow}, m, nil)
		admit(t, g, first).Report(guard.Failure)
		time.Sleep(time.Minute)
		pass := admit(t, g, first) // a probe
		time.Sleep(10 * time.Minute)
		other, _ := newGate(guard.Guards{Slots: oneIn}, m, nil)
		if _, refusal := ask(t.Context(), other, first); refusal == nil {
			t.Error("the slot was lost")
		}
		pass.Report(guard.Success)
		if m.state.Breaker.Circuit != guard.Closed {
			t.Error("the probe's outcome was lost")
		}
		calls := len(m.calls)
		time.Sleep(time.Minute)
		admit(t, other, first).Report(guard.Success)
		if len(m.calls) != calls+2 {
			t.Errorf("asked %v after the report", m.calls[calls:])
		}
	})
}

func TestTheSlotOfARunIsHeldToItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{}
		g, _ := newGate(guard.Guards{Slots: guard.Slots{N: 1, Of: guard.OfRuns}}, m, nil)
		other, _ := newGate(guard.Guards{Slots: oneIn}, m, nil)
		admit(t, g, first).Report(guard.Failure)
		time.Sleep(time.Hour)
		if _, refusal := ask(t.Context(), other, first); refusal == nil {
			t.Error("free in the wait")
		}
		admit(t, g, second).Report(guard.Success)
		g.Finish(true)
		admit(t, other, first).Report(guard.Success)
	})
}

func TestTokensAreGivenBackBySuccess(t *testing.T) {
	m := &memory{}
	missing := func() int64 { return m.state.Bucket.Missing / 1_000_000 }
	g, _ := newGate(guard.Guards{Tokens: full}, m, nil)
	admit(t, g, first).Report(guard.Failure)
	retry := permit(t, g, true)
	if missing() != 10 {
		t.Fatalf("%d missing after a timeout", missing())
	}
	admitPermitted(t, retry).Report(guard.Success)
	if g.Finish(true); missing() != 0 {
		t.Errorf("%d missing after a success", missing())
	}
	g, _ = newGate(guard.Guards{Tokens: full}, m, nil)
	admit(t, g, first).Report(guard.Failure)
	admitPermitted(t, permit(t, g, false)).Report(guard.Failure)
	if g.Finish(false); missing() != 5 {
		t.Errorf("%d missing after a failure", missing())
	}
	g, _ = newGate(guard.Guards{Tokens: full}, m, nil)
	if _, refusal := g.Permit(t.Context(), second, true); refusal == nil || missing() != 5 {
		t.Errorf("%+v, %d missing", refusal, missing())
	}
	admit(t, g, first).Report(guard.Success)
	if g.Finish(true); missing() != 4 {
		t.Errorf("%d missing after a success at once", missing())
	}
	if g.Finish(false); missing() != 4 {
		t.Error("a run that did not succeed gave something")
	}
}

// A retry that was admitted, and is not started since a signal came beside it,
// is given back; one that has ended is spent.
func TestAPassThatIsNotUsedIsGivenBack(t *testing.T) {
	for _, used := range []bool{false, true} {
		m := &memory{}
		g, _ := newGate(guard.Guards{Tokens: full}, m, nil)
		admit(t, g, first).Report(guard.Failure)
		pass, left := admitPermitted(t, permit(t, g, false)), int64(0)
		if used {
			left = 5
			pass.Report(guard.Neither)
		} else {
			pass.Drop()
		}
		g.Finish(false)
		if m.state.Bucket.Missing/1_000_000 != left {
			t.Errorf("used %v: %d missing", used, m.state.Bucket.Missing)
		}
	}
}

// A copy that is not used leaves to the success of the run what it would have
// given back without it.
func TestADroppedCopyIsNotGivenBackTwice(t *testing.T) {
	m := &memory{}
	g, _ := newGate(guard.Guards{Tokens: full}, m, nil)
	one := admit(t, g, first)
	copy, refusal := g.AdmitCopy(t.Context(), first, false)
	if refusal != nil {
		t.Fatal(refusal)
	}
	if m.state.Bucket.Missing != 5_000_000 {
		t.Errorf("%d missing", m.state.Bucket.Missing)
	}
	m.state.Bucket.Missing += 3_000_000 // by others
	copy.Drop()
	one.Report(guard.Success)
	if g.Finish(true); m.state.Bucket.Missing != 2_000_000 { // a success at once gives one
		t.Errorf("%d missing", m.state.Bucket.Missing)
	}
}

// slow answers when its time is up.
type slow struct{}

func (slow) Do(ctx context.Context, _ string, _ *guard.Guards, r *guard.Request) (guard.Answer, guard.Lock, error) {
	if r.Op == guard.Permit {
		return guard.Answer{Taken: guard.Taken{Budget: true}}, nil, nil
	}
	<-ctx.Done()
	return guard.Answer{}, nil, ctx.Err()
}

func (slow) Look(context.Context, string) (*guard.Snapshot, error) { return nil, nil }

func TestGivingBackDelaysNoRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, emitted := newGate(guard.Guards{Budget: oneTry}, nil, nil)
		g.store.Store, g.Primary.Store = slow{}, slow{}
		retry := permit(t, g, false)
		start := time.Now()
		if retry.Drop(); time.Since(start) > 40*time.Millisecond || emitted.kinds() != "" {
			t.Errorf("%v, events %q", time.Since(start), emitted.kinds())
		}
	})
}

// late is a store that answers after a while.
type late struct {
	memory
	after time.Duration
}

func (l *late) Do(ctx context.Context, key string, g *guard.Guards, r *guard.Request) (guard.Answer, guard.Lock,
	error) {
	answer, lock, err := l.memory.Do(context.Background(), key, g, r) // it has decided
	select {
	case <-time.After(l.after):
		return answer, lock, err
	case <-ctx.Done():
		return guard.Answer{}, nil, ctx.Err()
	}
}

// What was asked for when a signal came, and granted, is given back; and a store
// that does not answer then delays no run.
func TestGrantsThatComeTooLateAreGivenBack(t *testing.T) {
	guards := guard.Guards{Breaker: oneRow, Budget: guard.Budget{On: true, Min: 5, Window: 60_000},
		Slots: guard.Slots{N: 5}}
	for _, after := range []time.Duration{10 * time.Millisecond, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			store := &late{after: after}
			g, emitted := newGate(guards, nil, nil)
			g.store.Store, g.Primary.Store = store, store
			cut := func(ask func(context.Context) *Pass) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
				defer cancel()
				start := time.Now()
				if pass := ask(ctx); pass != nil {
					pass.Drop()
				}
				if took := time.Since(start); took > 45*time.Millisecond {
					t.Errorf("after %v: it took %v", after, took)
				}
			}
			cut(func(ctx context.Context) *Pass { pass, _ := ask(ctx, g, first); return pass })
			cut(func(ctx context.Context) *Pass { pass, _ := g.AdmitCopy(ctx, first, false); return pass })
			cut(func(ctx context.Context) *Pass { pass, _ := g.Permit(ctx, second, false); return pass })
			if after == time.Hour {
				return // it has what it granted until its leases end
			}
			retries := int64(0)
			for _, slice := range store.state.Budget[0].Counts {
				retries += slice[1]
			}
			if len(store.state.Slots) != 0 || retries != 0 || emitted.kinds() != "" {
				t.Errorf("%d slots, counts %v, events %q", len(store.state.Slots), store.state.Budget[0].Counts,
					emitted.kinds())
			}
		})
	}
}

func TestACopyIsARetry(t *testing.T) {
	m := &memory{}
	g, _ := newGate(guard.Guards{Budget: oneTry, Tokens: full, Slots: guard.Slots{N: 2}}, m, nil)
	one := admit(t, g, first)
	two, refusal := g.AdmitCopy(t.Context(), first, false)
	if refusal != nil {
		t.Fatal(refusal)
	}
	if _, refusal := g.AdmitCopy(t.Context(), first, false); refusal == nil || refusal.Guard != "budget" {
		t.Errorf("%+v", refusal)
	}
	if len(m.state.Slots) != 2 {
		t.Errorf("%d slots", len(m.state.Slots))
	}
	one.Report(guard.Neither)
	two.Report(guard.Success)
	g.Finish(true)
	if len(m.state.Slots) != 0 || m.state.Bucket.Missing != 0 {
		t.Errorf("%d slots, %d missing", len(m.state.Slots), m.state.Bucket.Missing)
	}
}

func TestNoCopyIsStartedWhileTheBreakerIsNotClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{}
		g, emitted := newGate(guard.Guards{Breaker: oneRow}, m, nil)
		admit(t, g, first).Report(guard.Failure)
		if _, refusal := g.AdmitCopy(t.Context(), first, false); refusal == nil || refusal.Guard != "breaker" {
			t.Errorf("open: %+v", refusal)
		}
		time.Sleep(time.Minute)
		probe := admit(t, g, first)
		if _, refusal := g.AdmitCopy(t.Context(), first, false); refusal == nil || refusal.Guard != "breaker" {
			t.Errorf("half-open: %+v", refusal)
		}
		probe.Report(guard.Success)
		if _, refusal := g.AdmitCopy(t.Context(), first, false); refusal != nil {
			t.Errorf("closed: %+v", refusal)
		}
		if emitted.kinds() != "BreakerChanged BreakerChanged BreakerChanged" {
			t.Errorf("events %q", emitted.kinds())
		}
	})
}

var errDown = errors.New("down")

func TestARunGoesOnWithTheHostsStore(t *testing.T) {
	m, host := &memory{fails: errDown}, &memory{}
	g, emitted := newGate(guard.Guards{Budget: oneTry}, m, host)
	admit(t, g, first).Report(guard.Failure)
	m.fails = nil // it stays with the host's
	if refuses(t, g) || !refuses(t, g) {
		t.Error("the host's store was not asked")
	}
	if len(m.calls) != 1 || len(host.calls) != 3 || emitted.kinds() != "StoreFailed" {
		t.Errorf("%v, %v, events %q", m.calls, host.calls, emitted.kinds())
	}
	if e := emitted.events[0].(*event.StoreFailed); e.Store != "primary" || e.Reason != "down; going on with host" {
		t.Errorf("%+v", e)
	}
}

func TestARunGoesOnWithoutGuards(t *testing.T) {
	m, host := &memory{fails: errDown}, &memory{fails: errDown}
	g, emitted := newGate(guard.Guards{Breaker: oneRow, Budget: oneTry, Slots: oneIn, Tokens: full}, m, host)
	for attempt := range 9 {
		if attempt > 0 {
			permit(t, g, false).Drop()
		}
		admit(t, g, attempt+1).Report(guard.Failure)
	}
	g.Finish(true)
	if len(m.calls) != 1 || len(host.calls) != 1 || emitted.kinds() != "StoreFailed" {
		t.Errorf("%v, %v, events %q", m.calls, host.calls, emitted.kinds())
	}
	if reason := emitted.events[0].(*event.StoreFailed).Reason; reason != "down; going on without guards" {
		t.Error(reason)
	}
}

func TestAReportGoesToTheStoreThatAdmittedTheAttempt(t *testing.T) {
	m, host := &memory{}, &memory{}
	g, emitted := newGate(guard.Guards{Breaker: guard.Breaker{Row: 9, Open: 1, Probes: 1}, Budget: oneTry}, m, host)
	pass := admit(t, g, first)
	m.fails = errDown
	permit(t, g, false) // the host's store is asked from here on
	pass.Report(guard.Failure)
	if last := m.calls[len(m.calls)-1]; last != guard.Report || emitted.kinds() != "StoreFailed" {
		t.Errorf("%v, %v, events %q", m.calls, host.calls, emitted.kinds())
	}
}

func TestClosedRefuses(t *testing.T) {
	m := &memory{fails: errDown}
	g, emitted := newGate(guard.Guards{Breaker: oneRow}, m, &memory{})
	g.Closed = true
	_, refusal := ask(t.Context(), g, first)
	if refusal == nil || refusal.Guard != "store" || refusal.Reason != "the store primary cannot be used: down" ||
		refusal.RetryIn != nil {
		t.Errorf("%+v", refusal)
	}
	m.fails = nil
	pass := admit(t, g, first)
	m.fails = errDown
	if pass.Report(guard.Failure); emitted.kinds() != "StoreFailed" {
		t.Errorf("a report that failed: events %q", emitted.kinds())
	}
}

// TestANoteOfARenewalIsEmittedByTheRun lets a store say something while a lease is
// renewed: events come from the goroutine of the run alone.
func TestANoteOfARenewalIsEmittedByTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{}
		g, emitted := newGate(guard.Guards{Slots: oneIn}, m, nil)
		pass := admit(t, g, first)
		m.mu.Lock()
		g.Notes = make(chan event.Event, 1)
		m.says = func() { g.Notes <- &event.StoreFailed{Store: "primary", Reason: "a record was damaged"} }
		m.mu.Unlock()
		time.Sleep(4 * time.Second)
		if len(emitted.events) != 0 {
			t.Error("emitted by the renewal")
		}
		if pass.Report(guard.Success); emitted.kinds() != "StoreFailed" {
			t.Errorf("events %q", emitted.kinds())
		}
	})
}

func TestARunAsksOnlyWhatItNames(t *testing.T) {
	for name, c := range map[string]struct {
		guards guard.Guards
		want   string
	}{
		"breaker":       {guard.Guards{Breaker: oneRow}, "admit report"},
		"budget":        {guard.Guards{Budget: oneTry}, "admit"},
		"tokens":        {guard.Guards{Tokens: full}, "finish"},
		"slots":         {guard.Guards{Slots: oneIn}, "admit report"},
		"adaptive":      {guard.Guards{Adaptive: true}, "report"},
		"several":       {guard.Guards{Breaker: oneRow, Budget: oneTry, Adaptive: true}, "admit report"},
		"slots of runs": {guard.Guards{Slots: guard.Slots{N: 1, Of: guard.OfRuns}}, "admit report"},
		"of retries":    {guard.Guards{Slots: guard.Slots{N: 1, Of: guard.OfRetries}}, ""},
	} {
		m := &memory{}
		g, _ := newGate(c.guards, m, nil)
		admit(t, g, first).Report(guard.Success)
		g.Finish(true)
		names := map[guard.Op]string{guard.Admit: "admit", guard.Report: "report", guard.Finish: "finish"}
		var got []string
		for _, op := range m.calls {
			got = append(got, names[op])
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, not %s", name, got, c.want)
		}
	}
}
