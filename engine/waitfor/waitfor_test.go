package waitfor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/backoff"
	"github.com/retrysh/retry/engine/event"
)

// target is not ready until it has been tried so often; each try takes a while.
type target struct {
	name    string
	ready   int // at this try, from 1; 0 is never
	takes   time.Duration
	reasons []string // of the tries before, the last one repeated
	tried   []time.Duration
	ends    time.Duration // how long a try that is broken off takes to end
}

// waiting is a wait under test, and its events.
type waiting struct {
	Wait
	events  []string
	missing []string // targets, at each change of one
	beats   []time.Duration
	started time.Time
	tried   []*target
}

func newWaiting(targets ...*target) *waiting {
	w := &waiting{started: time.Now(), tried: targets}
	w.Policy.Schedule = backoff.Schedule{Jitter: backoff.Jitter{Kind: backoff.None}, Curve: backoff.Exponential(2),
		Base: 100 * time.Millisecond, Cap: time.Second}
	w.Policy.Timeout = 3 * time.Second
	w.Random = func() uint64 { return 1 }
	for _, t := range targets {
		w.Targets = append(w.Targets, Target{Name: t.name, Starter: t, Draw: func() float64 { return 0 }})
	}
	return w
}

// Start tries the target.
func (t *target) Start(ctx context.Context, spec attempt.Spec) attempt.Attempt {
	return attempt.Call(func() attempt.Result {
		t.tried = append(t.tried, time.Duration(time.Now().UnixNano()))
		ctx, cancel := context.WithTimeout(ctx, spec.Timeout)
		defer cancel()
		if !spec.Deadline.IsZero() {
			ctx, cancel = context.WithDeadline(ctx, spec.Deadline)
			defer cancel()
		}
		select {
		case <-time.After(t.takes):
		case <-ctx.Done():
			time.Sleep(t.ends)
			return attempt.Result{ExitCode: 1, Note: "interrupted",
				DeadlinePassed: ctx.Err() == context.DeadlineExceeded}
		}
		if len(t.tried) == t.ready {
			return attempt.Result{}
		}
		reason := "down"
		if len(t.reasons) > 0 {
			reason = t.reasons[min(len(t.tried), len(t.reasons))-1]
		}
		return attempt.Result{ExitCode: 1, Note: reason}
	})
}

// at are the times of the tries since the wait began.
func (w *waiting) at(i int) []time.Duration {
	var at []time.Duration
	for _, t := range w.tried[i].tried {
		at = append(at, t-time.Duration(w.started.UnixNano()))
	}
	return at
}

func (w *waiting) run() engine.Readiness {
	w.started = time.Now()
	return w.Run(context.Background(), func(e event.Event) {
		switch e := e.(type) {
		case *event.TargetPending:
			w.events = append(w.events, fmt.Sprintf("%s: %s", e.Name, e.Reason))
		case *event.TargetReady:
			w.events = append(w.events, fmt.Sprintf("%s ready after %v", e.Name, e.After))
		case *event.TargetFailed:
			w.events = append(w.events, fmt.Sprintf("%s failed: %s", e.Name, e.Reason))
		case *event.TargetsPending:
			var names []string
			for _, p := range e.Pending {
				names = append(names, p.Name)
			}
			left := fmt.Sprintf("%s left: %s (%v)", strings.Join(names, " "), e.Left, e.Limited)
			if !e.Beat {
				w.missing = append(w.missing, left)
				return
			}
			w.beats = append(w.beats, time.Since(w.started))
			w.events = append(w.events, left)
		}
	})
}

func ms(n ...int) []time.Duration {
	var all []time.Duration
	for _, n := range n {
		all = append(all, time.Duration(n)*time.Millisecond)
	}
	return all
}

func check(t *testing.T, what string, got, want any) {
	t.Helper()
	if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
		t.Errorf("%s:\n%s, want\n%s", what, g, w)
	}
}

// Each target is tried by its own schedule, and all side by side.
func TestSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWaiting(&target{name: "a", ready: 4}, &target{name: "b", ready: 1, takes: 50 * time.Millisecond},
			&target{name: "c", ready: 2, takes: 250 * time.Millisecond})
		r := w.run()
		check(t, "a", w.at(0), ms(0, 100, 300, 700))
		check(t, "b", w.at(1), ms(0))
		check(t, "c", w.at(2), ms(0, 350))
		check(t, "events", w.events, []string{"a: down", "b ready after 50ms", "c: down", "c ready after 600ms",
			"a ready after 700ms"})
		if !r.Ready || r.Waited != 700*time.Millisecond {
			t.Errorf("result %+v", r)
		}
	})
}

// With each change of a target, and 200 ms after the begin, an event says which are missing.
func TestMissingAtEachChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWaiting(&target{name: "a", ready: 3}, &target{name: "b", ready: 1, takes: 50 * time.Millisecond})
		w.Limit = time.Minute
		w.run()
		check(t, "missing", w.missing,
			[]string{"a b left: 1m0s (true)", "a left: 59.95s (true)", "a left: 59.8s (true)"})
	})
	synctest.Test(t, func(t *testing.T) {
		// A try may end after the limit: then nothing is left.
		w := newWaiting(&target{name: "a", ready: 1}, &target{name: "b"})
		w.Limit = 100 * time.Millisecond
		w.Targets[0].Starter = attemptAfter(time.Second)
		w.run()
		check(t, "missing", w.missing[len(w.missing)-1], "b left: 0s (true)")
	})
}

// attemptAfter succeeds after a time, and does not end before.
type attemptAfter time.Duration

func (d attemptAfter) Start(context.Context, attempt.Spec) attempt.Attempt {
	return attempt.Call(func() attempt.Result {
		time.Sleep(time.Duration(d))
		return attempt.Result{}
	})
}

// Each change of a state is reported once, not each try; of a command's words
// numbers do not count.
func TestOnlyChangesAreReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reasons := []string{"x 0", "x 0", "x 9", "y", "y", "x 0"}
		w := newWaiting(&target{name: "a", ready: 7, reasons: reasons}, &target{name: "b", ready: 7, reasons: reasons})
		w.Targets[1].Numbers = true
		w.run()
		slices.Sort(w.events)
		check(t, "events", w.events, []string{"a ready after 3.5s", "a: x 0", "a: x 0", "a: x 9", "a: y",
			"b ready after 3.5s", "b: x 0", "b: x 0", "b: y"})
	})
}

// When the limit passes, each target that is not ready has failed, with its last
// error, and a try under way is cut.
func TestLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWaiting(&target{name: "a"}, &target{name: "b", takes: time.Hour},
			&target{name: "c", ready: 1, takes: time.Millisecond})
		w.Limit = 1300 * time.Millisecond
		r := w.run()
		check(t, "a", w.at(0), ms(0, 100, 300, 700, 800))
		check(t, "events", w.events, []string{"a: down", "c ready after 1ms", "a failed: down",
			"b failed: interrupted"})
		if r.Ready || r.DeadlinePassed || r.Waited != w.Limit {
			t.Errorf("result %+v", r)
		}
	})
}

// A wait that would pass the limit, or the deadline of the run, ends half a second before
// it, at once if less is left, and one more try follows.
func TestLastLook(t *testing.T) {
	for _, c := range []struct {
		limit int
		tries []time.Duration
	}{
		{50, ms(0, 0)}, {100, ms(0, 0)}, {101, ms(0, 100, 100)}, {650, ms(0, 100, 300, 300)},
		{900, ms(0, 100, 300, 700, 700)},
		{1200, ms(0, 100, 300, 700, 700)}, {1201, ms(0, 100, 300, 700, 701)}, {1500, ms(0, 100, 300, 700, 1000)},
		{1700, ms(0, 100, 300, 700, 1500, 1500)},
	} {
		for _, ofRun := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				w := newWaiting(&target{name: "a"})
				limit := time.Duration(c.limit) * time.Millisecond
				if w.Limit = limit; ofRun {
					w.Limit, w.Deadline = time.Hour, time.Now().Add(limit)
				}
				r := w.run()
				check(t, fmt.Sprint(c.limit), w.at(0), c.tries)
				if r.Ready || r.DeadlinePassed != ofRun || r.Waited != c.tries[len(c.tries)-1] {
					t.Errorf("%d: %+v", c.limit, r)
				}
			})
		}
	}
	synctest.Test(t, func(t *testing.T) {
		// The shortest limit is one.
		w := newWaiting(&target{name: "a", ready: 3})
		w.Limit = time.Nanosecond
		if r := w.run(); r.Ready || r.Waited > w.Limit {
			t.Errorf("result %+v", r)
		}
		// A deadline that has passed allows no try.
		w = newWaiting(&target{name: "a"})
		w.Deadline = time.Now().Add(-time.Second)
		if r := w.run(); r.Ready || !r.DeadlinePassed || len(w.at(0)) != 0 {
			t.Errorf("result %+v", r)
		}
		check(t, "events", w.events, []string{"a failed: was not tried"})
		// A wake-up makes no try the last one.
		woken := make(chan struct{}, 1)
		w = newWaiting(&target{name: "a"})
		w.Limit, w.Signals.Woken = 1300*time.Millisecond, woken
		time.AfterFunc(750*time.Millisecond, func() { woken <- struct{}{} })
		w.run()
		check(t, "woken", w.at(0), ms(0, 100, 300, 700, 750, 800))
	})
}

// byTime is ready from a time on.
type byTime struct{ from time.Time }

func (b byTime) Start(context.Context, attempt.Spec) attempt.Attempt {
	return attempt.Call(func() attempt.Result {
		if time.Now().Before(b.from) {
			return attempt.Result{ExitCode: 1, Note: "down"}
		}
		return attempt.Result{}
	})
}

// What is ready half a second before the limit is seen, whatever the schedule.
func TestReadyHalfASecondBeforeTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, base := range ms(1, 90, 700, 5000) {
			for _, limit := range ms(501, 777, 1000, 4321, 60_000) {
				w := newWaiting(&target{name: "a"})
				w.Policy.Schedule.Base, w.Policy.Schedule.Cap, w.Limit = base, 10*time.Second, limit
				w.Targets[0].Starter = byTime{time.Now().Add(limit - lastLook)}
				if r := w.run(); !r.Ready || r.Waited > limit {
					t.Errorf("base %v, limit %v: %+v", base, limit, r)
				}
			}
		}
	})
}

// The waits go on from where the run's were, and say where they got to.
func TestPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWaiting(&target{name: "a", ready: 3})
		w.From = engine.Place{Step: 3, Previous: time.Millisecond}
		r := w.run()
		check(t, "a", w.at(0), ms(0, 400, 1200))
		check(t, "place", r.Place, engine.Place{Step: 5, Previous: 800 * time.Millisecond})
		w = newWaiting(&target{name: "a", ready: 1})
		w.From = engine.Place{Step: 3, Previous: time.Millisecond}
		check(t, "place", w.run().Place, w.From)
	})
}

// A signal ends the wait as soon as the tries have ended, and what it cut short
// is not reported. One that hangs is not waited for.
func TestSignal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct{ ends, after time.Duration }{{20 * time.Millisecond, 520 * time.Millisecond},
			{time.Minute, 2500 * time.Millisecond}} {
			signals := make(chan attempt.Signal, 1)
			w := newWaiting(&target{name: "a"}, &target{name: "b", takes: 2 * time.Second, ends: c.ends})
			w.Signals = engine.Signals{Cancelled: signals}
			time.AfterFunc(500*time.Millisecond, func() { signals <- "SIGTERM" })
			r := w.run()
			check(t, "events", w.events, []string{"a: down"})
			if r.Ready || r.Cancelled != "SIGTERM" || time.Since(w.started) != c.after {
				t.Errorf("result %+v after %v", r, time.Since(w.started))
			}
			time.Sleep(2 * time.Minute) // nothing of it is left
		}
	})
}

// USR1 ends the wait of the one target; with several there is none to end.
func TestWoken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		woken := make(chan struct{}, 1)
		w := newWaiting(&target{name: "a", ready: 3})
		w.Signals = engine.Signals{Woken: woken}
		time.AfterFunc(150*time.Millisecond, func() { woken <- struct{}{} })
		w.run()
		check(t, "a", w.at(0), ms(0, 100, 150))

		// During a try it is kept for the wait that follows.
		w = newWaiting(&target{name: "a", ready: 3, takes: 40 * time.Millisecond})
		w.Signals = engine.Signals{Woken: woken}
		time.AfterFunc(20*time.Millisecond, func() { woken <- struct{}{} })
		w.run()
		check(t, "a", w.at(0), ms(0, 40, 280))

		w = newWaiting(&target{name: "a", ready: 3}, &target{name: "b", ready: 3})
		w.Signals = engine.Signals{Woken: woken}
		time.AfterFunc(150*time.Millisecond, func() { woken <- struct{}{} })
		w.run()
		check(t, "a", w.at(0), ms(0, 100, 300))
		check(t, "b", w.at(1), ms(0, 100, 300))
	})
}

// Each wake-up ends a wait of the one target. With several they are taken and end none: the run
// that follows does not find them.
func TestEachWakeUp(t *testing.T) {
	for _, targets := range [][]*target{{{name: "a", ready: 31}}, {{name: "a", ready: 5}, {name: "b", ready: 5}}} {
		synctest.Test(t, func(t *testing.T) {
			woken := make(chan struct{})
			w := newWaiting(targets...)
			w.Signals = engine.Signals{Woken: woken}
			over := make(chan struct{})
			go func() {
				for {
					select {
					case <-time.After(time.Millisecond):
					case <-over:
						return
					}
					select {
					case woken <- struct{}{}:
					case <-over:
						return
					case <-time.After(time.Second):
						t.Error("a wake-up is not taken")
					}
				}
			}()
			r := w.run()
			close(over)
			want := 30 * time.Millisecond
			if len(targets) > 1 {
				want = 1500 * time.Millisecond
			}
			check(t, "waited", r.Waited, want)
		})
	}
}

// Every ten seconds an event says what is missing and how long is left.
func TestBeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWaiting(&target{name: "a"}, &target{name: "b", ready: 20})
		w.Limit = 35 * time.Second
		w.run()
		check(t, "beats", w.beats, []string{"10s", "20s", "30s"})
		check(t, "events", w.events[2:],
			[]string{"a b left: 25s (true)", "b ready after 16.5s", "a left: 15s (true)", "a left: 5s (true)",
				"a failed: down"})
		w = newWaiting(&target{name: "a", ready: 15})
		w.run()
		check(t, "events", w.events[1:], []string{"a left: 0s (false)", "a ready after 11.5s"})
		w = newWaiting(&target{name: "a", ready: 15})
		w.Deadline, w.Limit = time.Now().Add(20*time.Second), time.Hour
		w.run()
		check(t, "events", w.events[1:2], []string{"a left: 10s (true)"})
	})
}
