package operation

// This file holds the registry to its promises, by a fake clock.

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

const ms = time.Millisecond

// usual waits 100, 200 and 400 ms before its three retries.
func usual() Policy {
	return Policy{MaxRetries: 3, InitialDelay: 100 * ms, MaxDelay: 10 * time.Second, Multiplier: 2}
}

var errDown = errors.New("the database is down")

// failing fails n times, then succeeds.
func failing(n int) func(context.Context) (bool, error) {
	var calls atomic.Int64
	return func(context.Context) (bool, error) {
		if calls.Add(1) <= int64(n) {
			return false, errDown
		}
		return true, nil
	}
}

// gaps are the times between the attempts of an id.
func gaps(r *Registry, id string) (all []time.Duration) {
	times := r.Timestamps(id)
	for i := 1; i < len(times); i++ {
		all = append(all, times[i].Sub(times[i-1]))
	}
	return all
}

// expect compares all that is known of an id.
func expect(t *testing.T, r *Registry, id string, status Status, attempts int, err error) {
	t.Helper()
	if r.Status(id) != status || r.Attempts(id) != attempts || r.LastError(id) != err ||
		len(r.Timestamps(id)) != attempts {
		t.Errorf("%s: %v after %d attempts, %v; want %v after %d, %v", id, r.Status(id), r.Attempts(id),
			r.LastError(id), status, attempts, err)
	}
}

func TestSuccessAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New(usual())
		start := time.Now()
		if !r.Execute(t.Context(), "a", failing(0)) || time.Since(start) != 0 {
			t.Errorf("it took %v", time.Since(start))
		}
		expect(t, r, "a", Succeeded, 1, nil)
		if times := r.Timestamps("a"); !times[0].Equal(start) || r.NextDelay("a") != 0 {
			t.Errorf("began at %v, next delay %v", times, r.NextDelay("a"))
		}
	})
}

func TestSuccessAfterRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New(usual())
		if !r.Execute(t.Context(), "a", failing(2)) {
			t.Error("failed")
		}
		expect(t, r, "a", Succeeded, 3, errDown)
		if got := gaps(r, "a"); !slices.Equal(got, []time.Duration{100 * ms, 200 * ms}) {
			t.Errorf("waited %v", got)
		}
	})
}

func TestExhaustionIsRetriesAndOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New(usual())
		if r.Execute(t.Context(), "a", failing(1000)) {
			t.Error("succeeded")
		}
		expect(t, r, "a", Failed, 4, errDown)
	})
}

func TestGapsGrow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := usual()
		p.MaxRetries, p.Jitter = 6, 0.1
		r := New(p)
		r.Execute(t.Context(), "a", failing(1000))
		got := gaps(r, "a")
		if len(got) != 6 || !slices.IsSorted(got) {
			t.Errorf("waited %v", got)
		}
		for i, gap := range got {
			if plain := 100 * ms << i; gap < plain*9/10 || gap > plain*11/10 {
				t.Errorf("wait %d is %v, not within 10 %% of %v", i+1, gap, plain)
			}
		}
	})
}

func TestNeverAboveTheMaximum(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := usual()
		p.MaxRetries, p.MaxDelay, p.Jitter = 40, 300*ms, 0.5
		r := New(p)
		r.Execute(t.Context(), "a", failing(1000))
		for i, gap := range gaps(r, "a") {
			if gap > 300*ms || i > 2 && gap < 100*ms {
				t.Errorf("wait %d is %v", i+1, gap)
			}
		}
	})
}

func TestJitterSpreadsTwentyOperations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := usual()
		p.MaxRetries, p.Jitter = 1, 0.5
		r := New(p)
		waits := map[time.Duration]bool{}
		for i := range 20 {
			id := fmt.Sprint(i)
			r.Execute(t.Context(), id, failing(1000))
			waits[gaps(r, id)[0]] = true
		}
		if len(waits) < 19 {
			t.Errorf("20 operations have %d different waits: %v", len(waits), waits)
		}
	})
}

func TestCancelInAWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := usual()
		p.InitialDelay, p.MaxDelay = time.Hour, time.Hour
		r := New(p)
		done := make(chan bool)
		start := time.Now()
		go func() { done <- r.Execute(t.Context(), "a", failing(1000)) }()
		synctest.Wait()
		if r.Status("a") != Retrying || r.NextDelay("a") != time.Hour {
			t.Errorf("%v, next delay %v", r.Status("a"), r.NextDelay("a"))
		}
		r.Cancel("a")
		if <-done || time.Since(start) != 0 {
			t.Errorf("it ended after %v", time.Since(start))
		}
		expect(t, r, "a", Cancelled, 1, errDown)
		if r.NextDelay("a") != 0 {
			t.Errorf("next delay %v", r.NextDelay("a"))
		}
		r.Cancel("a") // of what has ended
		r.Cancel("unknown")
		expect(t, r, "a", Cancelled, 1, errDown)
		expect(t, r, "unknown", Pending, 0, nil)
	})
}

func TestResetForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New(usual())
		r.Execute(t.Context(), "a", failing(1000))
		r.Reset("a")
		expect(t, r, "a", Pending, 0, nil)
		if !r.Execute(t.Context(), "a", failing(0)) {
			t.Error("failed")
		}
		expect(t, r, "a", Succeeded, 1, nil)
		// A call that runs continues, unknown.
		done := make(chan bool)
		go func() { done <- r.Execute(t.Context(), "a", failing(2)) }()
		synctest.Wait()
		r.Reset("a")
		r.Cancel("a")
		if !<-done {
			t.Error("a reset ended what was under way")
		}
		expect(t, r, "a", Pending, 0, nil)
	})
}

func TestFiveAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New(usual())
		start := time.Now()
		var wg sync.WaitGroup
		for i := range 5 {
			wg.Go(func() {
				if ok := r.Execute(t.Context(), fmt.Sprint(i), failing(i)); ok != (i < 4) {
					t.Errorf("operation %d: %v", i, ok)
				}
			})
		}
		wg.Wait()
		if took := time.Since(start); took != 700*ms {
			t.Errorf("they waited for one another: %v", took)
		}
		for i := range 4 {
			if r.Status(fmt.Sprint(i)) != Succeeded || r.Attempts(fmt.Sprint(i)) != i+1 {
				t.Errorf("operation %d: %v after %d attempts", i, r.Status(fmt.Sprint(i)), r.Attempts(fmt.Sprint(i)))
			}
		}
		expect(t, r, "4", Failed, 4, errDown)
	})
}

func TestZeroRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, p := range []Policy{{}, {MaxDelay: time.Second, Multiplier: 2}} {
			r := New(p)
			if r.Execute(t.Context(), "a", failing(1)) {
				t.Error("succeeded")
			}
			expect(t, r, "a", Failed, 1, errDown)
		}
	})
}

func TestLastError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New(usual())
		first, last := errors.New("first"), errors.New("last")
		results := []error{first, last, nil, last}
		calls := 0
		f := func(context.Context) (bool, error) {
			calls++
			if calls > 1 && r.LastError("a") != results[calls-2] {
				t.Errorf("after attempt %d: %v", calls-1, r.LastError("a"))
			}
			return false, results[calls-1]
		}
		r.Execute(t.Context(), "a", f)
		expect(t, r, "a", Failed, 4, last)
		// A failure without an error has none, and the error of a success is one.
		r.Execute(t.Context(), "b", func(context.Context) (bool, error) { return false, nil })
		expect(t, r, "b", Failed, 4, nil)
		r.Execute(t.Context(), "c", func(context.Context) (bool, error) { return true, last })
		expect(t, r, "c", Failed, 4, last)
	})
}

func TestPanicIsAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New(usual())
		calls := 0
		ok := r.Execute(t.Context(), "a", func(context.Context) (bool, error) {
			if calls++; calls == 1 {
				panic("out of range")
			} else if calls == 2 {
				panic(errDown)
			}
			return true, nil
		})
		if !ok || r.Attempts("a") != 3 || !errors.Is(r.LastError("a"), errDown) {
			t.Errorf("%v after %d attempts: %v", ok, r.Attempts("a"), r.LastError("a"))
		}
		r.Execute(t.Context(), "b", func(context.Context) (bool, error) { panic("out of range") })
		if r.Status("b") != Failed || r.LastError("b") == nil || r.LastError("b").Error() != "panic: out of range" {
			t.Errorf("%v: %v", r.Status("b"), r.LastError("b"))
		}
	})
}

// A function that runs is asked to end by its context; no attempt follows.
func TestCancelOfAFunction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New(usual())
		run := func(succeeds bool, end func(cancel context.CancelFunc)) bool {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := make(chan bool)
			go func() {
				done <- r.Execute(ctx, "a", func(ctx context.Context) (bool, error) {
					<-ctx.Done()
					if succeeds {
						return true, nil
					}
					return false, ctx.Err()
				})
			}()
			synctest.Wait()
			if r.Status("a") != Pending || r.Attempts("a") != 1 {
				t.Errorf("during attempt 1: %v", r.Status("a"))
			}
			end(cancel)
			return <-done
		}
		if run(false, func(context.CancelFunc) { r.Cancel("a") }) {
			t.Error("succeeded")
		}
		expect(t, r, "a", Cancelled, 1, context.Canceled)
		if run(false, func(cancel context.CancelFunc) { cancel() }) {
			t.Error("succeeded")
		}
		expect(t, r, "a", Cancelled, 1, context.Canceled)
		// What it has done is done.
		if !run(true, func(context.CancelFunc) { r.Cancel("a") }) {
			t.Error("a success was not believed")
		}
		expect(t, r, "a", Succeeded, 1, nil)
	})
}

func TestContextThatHasEnded(t *testing.T) {
	r := New(usual())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 50 { // a select between two that are ready is a coin
		if r.Execute(ctx, "a", func(context.Context) (bool, error) { t.Error("it was called"); return true, nil }) {
			t.Fatal("succeeded")
		}
		expect(t, r, "a", Cancelled, 0, nil)
	}
}

func TestConfigureIsForWhatStartsThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New(usual())
		done := make(chan bool)
		go func() { done <- r.Execute(t.Context(), "old", failing(1000)) }()
		synctest.Wait()
		r.Configure(Policy{})
		r.Execute(t.Context(), "new", failing(1000))
		<-done
		expect(t, r, "old", Failed, 4, errDown)
		expect(t, r, "new", Failed, 1, errDown)
	})
}

// Executions of one id come one after another; of the record, the last is left.
func TestOneIDComesInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New(usual())
		var running, most atomic.Int64
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() {
				r.Execute(t.Context(), "a", func(context.Context) (bool, error) {
					most.Store(max(most.Load(), running.Add(1)))
					time.Sleep(ms)
					running.Add(-1)
					return true, nil
				})
			})
		}
		wg.Wait()
		if most.Load() != 1 {
			t.Errorf("%d at once", most.Load())
		}
		expect(t, r, "a", Succeeded, 1, nil)
	})
}

// A function that ends its goroutine leaves a record that can be used again.
func TestGoexit(t *testing.T) {
	r := New(usual())
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.Execute(context.Background(), "a", func(context.Context) (bool, error) { runtime.Goexit(); return true, nil })
	}()
	<-done
	if r.Status("a") != Failed || !r.Execute(t.Context(), "a", failing(0)) {
		t.Errorf("%v", r.Status("a"))
	}
}

func TestStatusInWords(t *testing.T) {
	want := []string{"PENDING", "RETRYING", "SUCCEEDED", "FAILED", "CANCELLED", "Status(5)"}
	for i, word := range want {
		if got := Status(i).String(); got != word {
			t.Errorf("%d is %s", i, got)
		}
	}
}

func TestPolicyThatMakesNoSense(t *testing.T) {
	for _, c := range []struct {
		change func(*Policy)
		want   string
	}{
		{func(p *Policy) { p.MaxRetries = -1 }, "Policy.MaxRetries is -1; it is 0 or more"},
		{func(p *Policy) { p.InitialDelay = -ms }, "Policy.InitialDelay is -1ms; it is 0 or more"},
		{func(p *Policy) { p.MaxDelay = 50 * ms }, "Policy.MaxDelay is 50ms; it is InitialDelay (100ms) or more"},
		{func(p *Policy) { p.MaxDelay, p.InitialDelay = -2, -2 }, "Policy.InitialDelay is -2ns"},
		{func(p *Policy) { p.Multiplier = 0.5 }, "Policy.Multiplier is 0.5; it is 1 or more"},
		{func(p *Policy) { p.Multiplier = 0 }, "Policy.Multiplier is 0; it is 1 or more"},
		{func(p *Policy) { p.Multiplier = math.NaN() }, "Policy.Multiplier is NaN"},
		{func(p *Policy) { p.Multiplier = math.Inf(1) }, "Policy.Multiplier is +Inf"},
		{func(p *Policy) { p.Jitter = -0.1 }, "Policy.Jitter is -0.1; it is from 0 to 1"},
		{func(p *Policy) { p.Jitter = 1.5 }, "Policy.Jitter is 1.5"},
		{func(p *Policy) { p.Jitter = math.NaN() }, "Policy.Jitter is NaN"},
	} {
		p := usual()
		c.change(&p)
		for name, f := range map[string]func(){"New": func() { New(p) },
			"Configure": func() { New(usual()).Configure(p) }} {
			func() {
				defer func() {
					if got := fmt.Sprint(recover()); !strings.Contains(got, c.want) {
						t.Errorf("%s panics with %q, want %q", name, got, c.want)
					}
				}()
				f()
			}()
		}
	}
	New(Policy{MaxRetries: math.MaxInt, Multiplier: 1, Jitter: 1})
}

// All at once: the race detector looks on.
func TestConcurrentUse(t *testing.T) {
	r := New(Policy{MaxRetries: 2, Multiplier: 1})
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			for n := range 50 {
				id := fmt.Sprint((i + n) % 5)
				r.Execute(t.Context(), id, failing(n%4))
				_, _, _, _, _ = r.Status(id), r.Attempts(id), r.LastError(id), r.NextDelay(id), r.Timestamps(id)
				switch n % 7 {
				case 0:
					r.Cancel(id)
				case 1:
					r.Reset(id)
				case 2:
					r.Configure(Policy{MaxRetries: n % 3, Multiplier: 1})
				}
			}
		})
	}
	wg.Wait()
}
