package engine

// This file drives the loop by a fake clock: hours of waiting take
// microseconds, and every duration is exact.

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/backoff"
	"github.com/retrysh/retry/engine/event"
)

// script is a starter that plays results one by one, the last one repeated.
type script struct {
	results  []attempt.Result
	takes    time.Duration
	started  []time.Time
	specs    []attempt.Spec
	settled  []bool
	settling error
}

func (s *script) Start(_ context.Context, spec attempt.Spec) attempt.Attempt {
	s.started = append(s.started, time.Now())
	s.specs = append(s.specs, spec)
	return s
}

func (s *script) Wait() attempt.Result {
	time.Sleep(s.takes)
	r := s.results[min(len(s.started), len(s.results))-1]
	r.Duration = s.takes
	return r
}

func (s *script) Settle(released bool) error {
	s.settled = append(s.settled, released)
	return s.settling
}

func (s *script) Drop() {}

// record keeps every event.
type record struct{ events []event.Event }

func (r *record) Emit(e event.Event) {
	if _, ok := e.(*event.Blocking); !ok { // it is for displays alone
		r.events = append(r.events, e)
	}
}

func (r *record) kinds() string {
	var kinds []string
	for _, e := range r.events {
		kinds = append(kinds, kind(e))
	}
	return strings.Join(kinds, " ")
}

// kind is the name of an event's type, as in run_started.
func kind(e event.Event) string {
	name := strings.TrimPrefix(fmt.Sprintf("%T", e), "*event.")
	return strings.ToLower(regexp.MustCompile(`\B[A-Z]`).ReplaceAllString(name, "_$0"))
}

func (r *record) last() *event.RunFinished { return r.events[len(r.events)-1].(*event.RunFinished) }

func newConfig(results ...attempt.Result) (*Config, *script, *record) {
	s, r := &script{results: results}, &record{}
	return &Config{
		Policy: testPolicy(), Argv: []string{"true"}, Starter: s, Emit: r.Emit, Draw: func() float64 { return 0.5 },
		Identity: Identity{RunID: "id", Key: "key", Depth: 1,
			Trace: Trace{ID: "0af7651916cd43dd8448eb211c80319c", Flags: "01"}, Random: func() uint64 { return 7 }},
	}, s, r
}

func TestRunWaitsBetweenAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, s, r := newConfig(exit1, exit1, exit0)
		s.takes = 10 * time.Millisecond
		if end := e.Run(context.Background()); end != (End{}) {
			t.Errorf("ended with %+v", end)
		}
		want := []time.Duration{0, 1010 * time.Millisecond, 3020 * time.Millisecond}
		for i, at := range s.started {
			if got := at.Sub(s.started[0]); got != want[i] {
				t.Errorf("attempt %d started after %v, want %v", i+1, got, want[i])
			}
		}
		if got, want := r.kinds(), "run_started attempt_started attempt_finished retry_scheduled retry_waited "+
			"attempt_started attempt_finished retry_scheduled retry_waited attempt_started attempt_finished "+
			"run_finished"; got != want {
			t.Errorf("events:\n%s, want\n%s", got, want)
		}
		if last := r.last(); last.Outcome != event.Succeeded || last.Attempts != 3 ||
			last.Elapsed != 3030*time.Millisecond {
			t.Errorf("last event: %+v", last)
		}
		if !slices.Equal(s.settled, []bool{false, false, true}) {
			t.Errorf("settled: %v", s.settled)
		}
	})
}

// The deadline may pass between the wait and the start: the code is that of the
// last attempt that ran.
func TestRunThatIsTooLateForAnAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, _, r := newConfig(exit75, attempt.Result{DeadlinePassed: true, NotRun: true, ExitCode: 124})
		end := e.Run(context.Background())
		if end != (End{Code: 75}) || r.last().Outcome != event.Deadline ||
			strings.Count(r.kinds(), "attempt_finished") != strings.Count(r.kinds(), "attempt_started") {
			t.Errorf("ended with %+v: %+v after %s", end, r.last(), r.kinds())
		}
	})
}

// Nothing has failed when the deadline passes between two attempts.
func TestRunUntilFailureThatIsTooLateForAnAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, _, r := newConfig(exit0, attempt.Result{DeadlinePassed: true, NotRun: true, ExitCode: 124})
		e.Policy.UntilFailure = true
		if end := e.Run(context.Background()); end != (End{}) || r.last().Outcome != event.Succeeded {
			t.Errorf("ended with %+v: %+v", end, r.last())
		}
	})
}

func TestRunGivesUpWithTheLastCode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, s, r := newConfig(exit1, exit75)
		e.Policy.Attempts = 3
		end := e.Run(context.Background())
		if end != (End{Code: 75}) || len(s.started) != 3 || r.last().Outcome != event.Exhausted ||
			r.last().ExitCode != 75 {
			t.Errorf("ended with %+v after %d attempts: %+v", end, len(s.started), r.last())
		}
	})
}

func TestRunEndsByASignalDuringAWait(t *testing.T) {
	for _, signal := range []attempt.Signal{"SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"} {
		synctest.Test(t, func(t *testing.T) {
			e, s, r := newConfig(exit1)
			cancelled := make(chan attempt.Signal, 1)
			e.Signals.Cancelled = cancelled
			start := time.Now()
			time.AfterFunc(300*time.Millisecond, func() { cancelled <- signal })
			end := e.Run(context.Background())
			if end.Signal != signal || end.Code <= 128 || len(s.started) != 1 ||
				time.Since(start) != 300*time.Millisecond {
				t.Errorf("%s: ended with %+v after %v", signal, end, time.Since(start))
			}
			if r.last().Outcome != event.Cancelled {
				t.Errorf("last event: %+v", r.last())
			}
		})
	}
}

// A signal that arrived between two attempts ends even a wait of no length.
func TestRunSeesASignalBeforeAWaitOfZero(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, s, _ := newConfig(exit1)
		e.Policy.Schedule.Curve, e.Policy.Schedule.Base = backoff.Constant, 0
		cancelled := make(chan attempt.Signal, 1)
		e.Signals.Cancelled = cancelled
		cancelled <- "SIGTERM"
		if end := e.Run(context.Background()); end.Signal != "SIGTERM" || len(s.started) != 0 {
			t.Errorf("ended with %+v after %d attempts", end, len(s.started))
		}
	})
}

func TestRunIsWokenFromAWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, s, r := newConfig(exit1, exit0)
		woken := make(chan struct{}, 1)
		e.Signals.Woken = woken
		time.AfterFunc(200*time.Millisecond, func() { woken <- struct{}{} })
		e.Run(context.Background())
		if got := s.started[1].Sub(s.started[0]); got != 200*time.Millisecond {
			t.Errorf("attempt 2 started after %v", got)
		}
		if waited, ok := r.events[4].(*event.RetryWaited); !ok || waited.Slept != 200*time.Millisecond ||
			waited.Jittered != time.Second {
			t.Errorf("waited: %+v", waited)
		}
		if !slices.Contains(s.specs[1].Env, "RETRY_DELAY_MS=200") {
			t.Errorf("environment: %v", s.specs[1].Env)
		}
	})
}

func TestRunKeepsToTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, s, r := newConfig(exit1)
		e.Policy.Deadline, e.Policy.Attempts = 10*time.Second, 0
		start := time.Now()
		end := e.Run(context.Background())
		// Waits of 1, 2 and 4 seconds fit, one of 8 does not and is not begun.
		if end.Code != 1 || len(s.started) != 4 || time.Since(start) != 7*time.Second ||
			r.last().Outcome != event.Deadline {
			t.Errorf("ended with %+v after %d attempts and %v: %+v", end, len(s.started), time.Since(start), r.last())
		}
		if got := s.specs[0].Deadline.Sub(start); got != 10*time.Second {
			t.Errorf("the attempt's deadline is after %v", got)
		}
	})
}

func TestRunWaitsBeforeTheFirstAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, s, _ := newConfig(exit0)
		e.Policy.InitialDelay, e.Policy.Splay = 2*time.Second, 4*time.Second
		start := time.Now()
		e.Run(context.Background())
		if got := s.started[0].Sub(start); got != 4*time.Second {
			t.Errorf("attempt 1 started after %v, want the delay and half of the splay", got)
		}
		if !slices.Contains(s.specs[0].Env, "RETRY_DELAY_MS=0") {
			t.Errorf("environment: %v", s.specs[0].Env)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		e, s, _ := newConfig(exit0)
		e.Policy.InitialDelay, e.Policy.Deadline = 2*time.Second, time.Second
		start := time.Now()
		if end := e.Run(context.Background()); end.Code != 124 || len(s.started) != 0 || time.Since(start) != 0 {
			t.Errorf("ended with %+v after %v", end, time.Since(start))
		}
	})
}

func TestRunRepeatsItsDrawsWithASeed(t *testing.T) {
	waits := func(seed uint64) (waits []time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			e, _, r := newConfig(exit1)
			e.Draw = rand.New(rand.NewPCG(seed, 0)).Float64
			e.Policy.Schedule.Jitter.Kind = backoff.Full
			e.Run(context.Background())
			for _, ev := range r.events {
				if ev, ok := ev.(*event.RetryScheduled); ok {
					waits = append(waits, ev.Jittered)
				}
			}
		})
		return waits
	}
	if a, b := waits(1), waits(1); len(a) != 4 || !slices.Equal(a, b) {
		t.Errorf("same seed: %v and %v", a, b)
	}
	if a, b := waits(1), waits(2); slices.Equal(a, b) {
		t.Errorf("two seeds give the same waits %v", a)
	}
}

func TestRunEndsWhenOutputCannotBeSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, s, r := newConfig(exit0)
		s.settling = errors.New("no space left on device")
		if end := e.Run(context.Background()); end.Code != 125 || len(s.started) != 1 ||
			r.last().Outcome != event.Failed {
			t.Errorf("ended with %+v: %+v", end, r.last())
		}
		e, s, _ = newConfig(exit0)
		s.settling = attempt.ErrReaderGone
		if end := e.Run(context.Background()); end.Signal != "SIGPIPE" || len(s.started) != 1 {
			t.Errorf("ended with %+v", end)
		}
	})
}

func TestEnvironmentOfTheCommand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, s, _ := newConfig(killed, exit0)
		e.Policy.Deadline = time.Minute
		e.Identity.Environ = []string{"A=b", "RETRY_ATTEMPT=9", "RETRY_LAST_EXIT=9", "RETRY_EXPIRES_AT=9",
			"RETRY_ON_EXIT=1", "TRACEPARENT=x"}
		e.Run(context.Background())
		first, second := s.specs[0].Env, s.specs[1].Env
		for _, want := range []string{"A=b", "RETRY_ON_EXIT=1", "RETRY_ATTEMPT=1", "RETRY_MAX_ATTEMPTS=5",
			"RETRY_RUN_ID=id", "RETRY_IDEMPOTENCY_KEY=key", "RETRY_DELAY_MS=0", "RETRY_DEPTH=1"} {
			if !slices.Contains(first, want) {
				t.Errorf("attempt 1 lacks %s: %v", want, first)
			}
		}
		for _, name := range []string{"RETRY_LAST_EXIT", "RETRY_LAST_REASON", "RETRY_ATTEMPT=9"} {
			if slices.ContainsFunc(first, func(v string) bool { return strings.HasPrefix(v, name) }) {
				t.Errorf("attempt 1 has %s: %v", name, first)
			}
		}
		for _, want := range []string{"RETRY_ATTEMPT=2", "RETRY_LAST_EXIT=137", "RETRY_DELAY_MS=1000"} {
			if !slices.Contains(second, want) {
				t.Errorf("attempt 2 lacks %s: %v", want, second)
			}
		}
		// The fake clock starts at midnight of 2000-01-01, 946684800.
		if want := "RETRY_EXPIRES_AT=946684860.000"; !slices.Contains(second, want) {
			t.Errorf("attempt 2 lacks %s: %v", want, second)
		}
	})
}

func TestTraceIsContinuedOrBegun(t *testing.T) {
	random := func() uint64 { return 0xabc }
	for _, c := range []struct {
		header, id, flags string
	}{
		{"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00", "0af7651916cd43dd8448eb211c80319c", "00"},
		{"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-ff", "0af7651916cd43dd8448eb211c80319c", "03"},
		{"cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-future", "0af7651916cd43dd8448eb211c80319c", "01"},
		{"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-extra", "", "01"},
		{"00-00000000000000000000000000000000-b7ad6b7169203331-01", "", "01"},
		{"00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01", "", "01"},
		{"ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "", "01"},
		{"00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01", "", "01"},
		{"", "", "01"},
		{"---", "", "01"},
	} {
		want := c.id
		if want == "" {
			want = "0000000000000abc0000000000000abd"
		}
		if got := ContinueTrace(c.header, random); got.ID != want || got.Flags != c.flags ||
			(got.Parent == "") != (c.id == "") {
			t.Errorf("ContinueTrace(%q) = %+v, want %s-%s", c.header, got, want, c.flags)
		}
	}
}

func TestRunIDIsAUUID(t *testing.T) {
	pattern := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	seen := map[string]bool{}
	for range 1000 {
		id := NewRunID(rand.Uint64)
		if !pattern.MatchString(id) || seen[id] {
			t.Fatalf("NewRunID() = %q", id)
		}
		seen[id] = true
	}
}
