package engine

// This file holds what a whole run does at its edges: its begin, its limits, its guards, signals
// that park it, and what is told at its end. Time is a fake clock's.

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retrysh/retry/engine/admission"
	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/backoff"
	"github.com/retrysh/retry/engine/classify"
	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/guard"
	"github.com/retrysh/retry/engine/linematch"
	"github.com/retrysh/retry/engine/rotate"
)

// memory is a store of one key, which decides as every store does.
type memory struct {
	takes time.Duration
	mu    sync.Mutex
	state guard.State
}

func (m *memory) Do(_ context.Context, _ string, g *guard.Guards, r *guard.Request) (guard.Answer, guard.Lock, error) {
	time.Sleep(m.takes)
	m.mu.Lock()
	defer m.mu.Unlock()
	request := *r
	request.Held = -1
	return guard.Do(g, &m.state, &request, time.Now().UnixMilli()), nil, nil
}

func (m *memory) Look(context.Context, string) (*guard.Snapshot, error) { panic("not looked at") }

func (m *memory) admission(g guard.Guards) *admission.Config {
	id := uint64(0)
	return &admission.Config{Guards: g, Primary: admission.Named{Store: m, Name: "memory"},
		Random: func() uint64 { id++; return id << 12 }}
}

// in runs f with a configuration under a fake clock.
func in(t *testing.T, results []attempt.Result, f func(t *testing.T, e *Config, s *script, r *record)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		e, s, r := newConfig(results...)
		f(t, e, s, r)
	})
}

// find is the nth event of a kind, from 0, the zero value for none.
func find[T event.Event](r *record, n int) (found T) {
	for _, ev := range r.events {
		if ev, is := ev.(T); is {
			if n == 0 {
				return ev
			}
			n--
		}
	}
	return found
}

func TestTheBeginOfARun(t *testing.T) {
	in(t, []attempt.Result{exit0}, func(t *testing.T, e *Config, s *script, r *record) {
		e.Argv = []string{"/usr/bin/make", "all"}
		e.About = event.RunStarted{Name: "a --token=secret", Key: "b --token=secret"}
		e.Policy.Deadline, e.Expires = time.Hour, time.Now().Add(time.Minute)
		e.Identity.Depth, e.Identity.ParentRunID = 3, "parent"
		e.Run(context.Background())
		got := find[*event.RunStarted](r, 0)
		if got.Name != "a --token=xxxxx" || got.GivenName != "a --token=secret" || got.Key != "b --token=xxxxx" ||
			!slices.Equal(got.Command, e.Argv) ||
			!got.Deadline.Equal(e.Expires) || got.Depth != 3 || got.ParentRunID != "parent" {
			t.Errorf("%+v", got)
		}
		for _, ev := range r.events {
			if h := ev.Head(); h.RunID != "id" || h.TraceID != e.Identity.Trace.ID || h.MaxAttempts != 5 {
				t.Errorf("%s: %+v", kind(ev), h)
			}
		}
		if env := s.specs[0].Env; !slices.Contains(env, "RETRY_PARENT_RUN_ID=parent") ||
			!slices.Contains(env, "RETRY_DEPTH=3") {
			t.Errorf("%v", env)
		}
	})
	// The nearer one of two deadlines holds, and one alone.
	for name, c := range map[string]struct{ own, outer, want time.Duration }{
		"none": {}, "its own": {time.Minute, 0, time.Minute}, "the outer one": {0, time.Minute, time.Minute},
		"its own is nearer":       {time.Minute, time.Hour, time.Minute},
		"the outer one is nearer": {time.Hour, time.Minute, time.Minute},
		"a nanosecond":            {1, 0, 1},
	} {
		in(t, []attempt.Result{exit0}, func(t *testing.T, e *Config, s *script, r *record) {
			start := time.Now()
			if e.Policy.Deadline = c.own; c.outer > 0 {
				e.Expires = start.Add(c.outer)
			}
			e.Run(context.Background())
			deadline := s.specs[0].Deadline
			if deadline.IsZero() != (c.want == 0) || c.want > 0 && deadline.Sub(start) != c.want {
				t.Errorf("%s: %v", name, deadline.Sub(start))
			}
		})
	}
	in(t, []attempt.Result{exit1, exit0}, func(t *testing.T, e *Config, s *script, r *record) {
		if end, at := e.RunFrom(context.Background(), Place{3, 2 * time.Second}); end.Code != 0 || at.Step != 4 ||
			s.started[1].Sub(s.started[0]) != 4*time.Second {
			t.Errorf("from the third wait: %+v, %+v", end, at)
		}
	})
	in(t, []attempt.Result{exit1}, func(t *testing.T, e *Config, s *script, r *record) {
		e.WaitOnly = true
		if end := e.Run(context.Background()); end != (End{}) || len(s.started) > 0 ||
			r.last().Outcome != event.Succeeded {
			t.Errorf("without a command: %+v", r.last())
		}
	})
}

// TestWaitsBeforeTheFirstAttempt: each is told, may be ended by a signal, and is not begun if no
// time is left.
func TestWaitsBeforeTheFirstAttempt(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(e *Config, cancelled chan attempt.Signal)
		after   time.Duration // the start of attempt 1, or the end of the run
		end     End
		kinds   string // before the first attempt
	}{
		"nothing": {func(*Config, chan attempt.Signal) {}, 0, End{}, "run_started"},
		"a delay": {func(e *Config, _ chan attempt.Signal) { e.Policy.InitialDelay = time.Second },
			time.Second, End{}, "run_started initial_wait initial_waited"},
		"a delay of a nanosecond": {func(e *Config, _ chan attempt.Signal) { e.Policy.InitialDelay = 1 }, 1, End{},
			"run_started initial_wait initial_waited"},
		"a splay": {func(e *Config, _ chan attempt.Signal) { e.Policy.Splay = time.Minute }, 30 * time.Second, End{},
			"run_started initial_wait initial_waited"},
		"a splay without a draw": {func(e *Config, _ chan attempt.Signal) {
			e.Draw = func() float64 { panic("drawn") }
			e.Policy.Splay = 0
			e.WaitOnly = true
		}, 0, End{}, "run_started run_finished"},
		"a signal in it": {func(e *Config, c chan attempt.Signal) {
			e.Policy.InitialDelay = time.Minute
			time.AfterFunc(time.Second, func() { c <- "SIGTERM" })
		}, time.Second, End{143, "SIGTERM"}, "run_started initial_wait run_finished"},
		"a signal before it, and no time": {func(e *Config, c chan attempt.Signal) {
			e.Policy.InitialDelay, e.Policy.Deadline = time.Minute, time.Second
			c <- "SIGINT"
		}, 0, End{130, "SIGINT"}, "run_started run_finished"},
		"no time": {func(e *Config, _ chan attempt.Signal) {
			e.Policy.InitialDelay, e.Policy.Deadline = time.Minute, time.Minute-1
		}, 0, End{Code: 124}, "run_started run_finished"},
		"a target": {func(e *Config, _ chan attempt.Signal) {
			e.Before = func(_ context.Context, _ time.Time, emit func(event.Event)) *Decision {
				time.Sleep(time.Second)
				return nil
			}
		}, time.Second, End{}, "run_started"},
		"a target that is not ready": {func(e *Config, _ chan attempt.Signal) {
			e.Before = func(context.Context, time.Time, func(event.Event)) *Decision { return TimedOut("not ready") }
		}, 0, End{Code: 124}, "run_started run_finished"},
	} {
		in(t, []attempt.Result{exit0}, func(t *testing.T, e *Config, s *script, r *record) {
			cancelled := make(chan attempt.Signal, 1)
			e.Signals.Cancelled = cancelled
			c.prepare(e, cancelled)
			start := time.Now()
			end := e.Run(context.Background())
			kinds, _, _ := strings.Cut(r.kinds(), " attempt_started")
			if took := time.Since(start); took != c.after || end != c.end || kinds != c.kinds {
				t.Errorf("%s: %+v after %v: %s", name, end, took, kinds)
			}
		})
	}
}

// TestTimeoutAndDeadline: each attempt has its own limit, and what is left until the deadline, which
// is one for all.
func TestTimeoutAndDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, s, r := newHedged(1, 0, planned{after: ever})
		e.Policy.Attempts, e.Policy.Timeout, e.Policy.Deadline = 5, 10*time.Second, 18*time.Second
		start := time.Now()
		end := e.Run(context.Background())
		if end.Code != 124 || time.Since(start) != 18*time.Second || r.last().Outcome != event.Deadline ||
			r.last().Attempts != 2 || len(s.copies) != 2 {
			t.Fatalf("ended with %+v after %v: %+v", end, time.Since(start), r.last())
		}
		for i, f := range s.copies {
			if f.spec.Timeout != 10*time.Second || f.spec.Deadline.Sub(start) != 18*time.Second {
				t.Errorf("attempt %d: %+v", i+1, f.spec)
			}
		}
		first, second := find[*event.AttemptFinished](r, 0), find[*event.AttemptFinished](r, 1)
		if first.Reason != "timed out after 10s" || !first.Result.TimedOut || first.Result.DeadlinePassed ||
			first.Result.Limit != 10*time.Second {
			t.Errorf("attempt 1: %+v", first)
		}
		if second.Reason != "the deadline passed" || second.Result.TimedOut ||
			second.Result.Duration != 7*time.Second || second.Result.Limit != 0 {
			t.Errorf("attempt 2: %+v", second)
		}
	})
	for name, c := range map[string]struct {
		result attempt.Result
		want   string
	}{
		"the limit": {attempt.Result{ExitCode: 124, TimedOut: true}, "timed out after 10s"},
		"a time without output": {attempt.Result{ExitCode: 124, TimedOut: true, Idle: true},
			"timed out after 3s without output"},
		"neither": {attempt.Result{ExitCode: 7, Idle: true}, "exit 7"},
	} {
		in(t, []attempt.Result{c.result}, func(t *testing.T, e *Config, s *script, r *record) {
			e.Policy.Attempts, e.Policy.Timeout, e.Policy.IdleTimeout = 1, 10*time.Second, 3*time.Second
			if e.Run(context.Background()); r.last().Reason != c.want || s.specs[0].IdleTimeout != 3*time.Second {
				t.Errorf("%s: %q", name, r.last().Reason)
			}
		})
	}
}

// TestAWokenWait: the attempt after it is no last look, and the wake-up is not kept for the next wait.
func TestAWokenWait(t *testing.T) {
	for _, wakes := range []bool{false, true} {
		in(t, []attempt.Result{exit1}, func(t *testing.T, e *Config, s *script, r *record) {
			woken := make(chan struct{}, 1)
			e.Signals.Woken = woken
			e.Policy.Schedule = backoff.Schedule{Curve: backoff.Constant, Base: time.Minute, Cap: time.Minute,
				Jitter: backoff.Jitter{Kind: backoff.None}}
			e.Policy.Deadline, e.Policy.LastLook = 30*time.Second, 5*time.Second
			if wakes {
				time.AfterFunc(10*time.Second, func() { woken <- struct{}{} })
			}
			start := time.Now()
			e.Run(context.Background())
			var at []time.Duration
			for _, started := range s.started {
				at = append(at, started.Sub(start))
			}
			want := []time.Duration{0, 25 * time.Second}
			if wakes {
				want = []time.Duration{0, 10 * time.Second, 25 * time.Second}
			}
			if !slices.Equal(at, want) || r.last().Outcome != event.Deadline {
				t.Errorf("woken %v: attempts at %v", wakes, at)
			}
		})
	}
	in(t, []attempt.Result{exit1}, func(t *testing.T, e *Config, s *script, r *record) {
		woken := make(chan struct{}, 1)
		e.Signals.Woken, e.Policy.Attempts = woken, 3
		e.Emit = func(ev event.Event) {
			if _, over := ev.(*event.RetryWaited); over {
				woken <- struct{}{} // as the wait ends
			}
		}
		e.Run(context.Background())
		if gap := s.started[2].Sub(s.started[1]); gap != 2*time.Second {
			t.Errorf("the third attempt came %v after the second", gap)
		}
	})
}

// TestTheDeadlineComesBeforeTheTurn: what a run waits for in vain is told, and it ends as its last
// attempt did, or with 124.
func TestTheDeadlineComesBeforeTheTurn(t *testing.T) {
	for name, c := range map[string]struct {
		guards guard.Guards
		state  func(s *guard.State, now time.Time)
		takes  time.Duration // a request
		fails  bool          // an attempt has failed before
		after  time.Duration
		why    string
		code   int
	}{
		"a turn, after an attempt": {guard.Guards{RateLimit: guard.RateLimit{Interval: 60_000_000, Burst: 1,
			Rate: "1/m", Wait: -1}}, func(*guard.State, time.Time) {}, 1, true, time.Second,
			`the deadline comes before the turn: attempts of "" start at 1/m; its next turn is in 59s`, 75},
		"a turn, before the first": {guard.Guards{RateLimit: guard.RateLimit{Interval: 60_000_000, Burst: 1,
			Rate: "1/m", Wait: -1}}, func(s *guard.State, now time.Time) {
			s.Turns.Free = now.Add(time.Minute).UnixMicro()
		}, 1, false, 0,
			`the deadline comes before the turn: attempts of "" start at 1/m; its next turn is in 1m0s`, 124},
		"a slot, before the first": {guard.Guards{Slots: guard.Slots{N: 1, Wait: 3_600_000}},
			func(s *guard.State, now time.Time) {
				s.Slots = []guard.Lease{{ID: 1, Until: now.Add(9 * time.Second).UnixMilli()}}
			}, 300 * time.Millisecond, false, 5 * time.Second,
			"the deadline passed while waiting for max-concurrent", 124},
	} {
		in(t, []attempt.Result{exit75}, func(t *testing.T, e *Config, s *script, r *record) {
			m := &memory{takes: c.takes} // the deadline passes in a request
			c.state(&m.state, time.Now())
			e.Admission, e.Policy.Deadline = m.admission(c.guards), 5*time.Second
			start := time.Now()
			end := e.Run(context.Background())
			why := r.last().Why
			if !c.fails {
				why = r.last().Reason
			}
			if end.Code != c.code || r.last().Outcome != event.Deadline || why != c.why ||
				(len(s.started) > 0) != c.fails || time.Since(start).Round(500*time.Millisecond) != c.after {
				t.Errorf("%s: %+v after %v: %+v", name, end, time.Since(start), r.last())
			}
		})
	}
}

// TestARefusedRetry ends the run as the attempt before it did, and is told.
func TestARefusedRetry(t *testing.T) {
	in(t, []attempt.Result{exit75}, func(t *testing.T, e *Config, s *script, r *record) {
		e.Admission = new(memory).admission(guard.Guards{Breaker: guard.Breaker{Row: 2, Open: 3_600_000, Probes: 1}})
		end := e.Run(context.Background())
		refused := find[*event.GuardRefused](r, 0)
		if end.Code != 75 || r.last().Outcome != event.Refused || len(s.started) != 2 || refused == nil ||
			r.last().Why != refused.Reason {
			t.Errorf("%+v: %+v", end, r.last())
		}
	})
	in(t, []attempt.Result{late}, func(t *testing.T, e *Config, s *script, r *record) {
		m := new(memory)
		e.Admission = m.admission(guard.Guards{Breaker: guard.Breaker{Row: 1, Open: 3_600_000, Probes: 1}})
		if e.Run(context.Background()); m.state.Breaker.Circuit != guard.Open {
			t.Error("an attempt that the deadline ended is no failure for the breaker")
		}
	})
}

// TestALostSlot ends the attempt, or the wait, with 75, or is only told.
func TestALostSlot(t *testing.T) {
	for name, c := range map[string]struct {
		lost     guard.Lost
		of       guard.Of
		takes    time.Duration // of an attempt
		most     int           // copies
		code     int
		attempts int
		outcome  event.Outcome
		reason   string
	}{
		"during an attempt": {guard.Stop, guard.OfAttempts, time.Minute, 1, 75, 1, event.Refused,
			"; the run ends"},
		"during a copy": {guard.Stop, guard.OfAttempts, time.Minute, 2, 75, 1, event.Refused,
			"; the run ends"},
		"in a wait":                 {guard.Stop, guard.OfRuns, time.Second, 1, 75, 1, event.Refused, "; the run ends"},
		"during an attempt, warned": {guard.Warn, guard.OfAttempts, time.Minute, 1, 3, 2, event.Exhausted, ""},
		"during a copy, warned":     {guard.Warn, guard.OfAttempts, time.Minute, 2, 3, 2, event.Exhausted, ""},
		"in a wait, warned":         {guard.Warn, guard.OfRuns, time.Second, 1, 3, 2, event.Exhausted, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			e, s, r := newHedged(c.most, time.Hour, planned{after: c.takes, result: attempt.Result{ExitCode: 3}})
			m := new(memory)
			e.Admission = m.admission(guard.Guards{Slots: guard.Slots{N: 1, Lost: c.lost, Of: c.of}})
			e.Policy.Attempts = 2
			e.Policy.Schedule = backoff.Schedule{Curve: backoff.Constant, Base: time.Minute, Cap: time.Minute,
				Jitter: backoff.Jitter{Kind: backoff.None}}
			time.AfterFunc(2*time.Second, func() {
				m.mu.Lock()
				defer m.mu.Unlock()
				m.state.Slots = []guard.Lease{{ID: 1, Until: time.Now().Add(9 * time.Second).UnixMilli()}}
			})
			end := e.Run(context.Background())
			lost := find[*event.StoreFailed](r, 0)
			if lost == nil || strings.HasSuffix(lost.Reason, "; the run ends") != (c.reason != "") {
				t.Fatalf("%s: told %+v: %s", name, lost, r.kinds())
			}
			if end != (End{Code: c.code}) || r.last().Outcome != c.outcome || r.last().Attempts != c.attempts ||
				len(s.copies) != c.attempts*1 && c.most == 1 {
				t.Errorf("%s: ended with %+v: %+v", name, end, r.last())
			}
			if c.outcome == event.Refused && r.last().Reason != lostReason && r.last().Why != lostReason {
				t.Errorf("%s: %+v", name, r.last())
			}
		})
	}
}

// TestWhatIsRepeated holds the figures of a measurement.
func TestWhatIsRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, s, r := newHedged(1, 0, planned{after: 5 * time.Second, result: exit0},
			planned{after: time.Second, result: exit1}, planned{after: 2 * time.Second, result: exit0},
			planned{after: 9 * time.Second, result: killed})
		e.Policy.Attempts, e.Policy.Repeat, e.Policy.Schedule.Base = 4, true, time.Second
		end := e.Run(context.Background())
		got := r.last().Repeated
		if end.Code != 1 || got == nil || got.Passed != 2 || got.Failed != 2 ||
			!slices.Equal(got.FailedAttempts, []int{2, 4}) ||
			got.Median != 3500*time.Millisecond || got.Longest != 9*time.Second || got.FailedLow <= 0 ||
			got.FailedHigh >= 1 || len(s.copies) != 4 {
			t.Errorf("%+v: %+v", end, got)
		}
		for i, failed := range []int{0, 0, 1, 1} {
			if started := find[*event.AttemptStarted](r, i); !started.Repeats || started.Failed != failed {
				t.Errorf("attempt %d: %+v", i+1, started)
			}
		}
	})
	in(t, []attempt.Result{exit0}, func(t *testing.T, e *Config, s *script, r *record) {
		if e.Run(context.Background()); r.last().Repeated != nil {
			t.Errorf("%+v", r.last().Repeated)
		}
	})
	in(t, []attempt.Result{notFound}, func(t *testing.T, e *Config, s *script, r *record) {
		e.Policy.Repeat = true
		if e.Run(context.Background()); r.last().Repeated == nil || r.last().Repeated.Passed+
			r.last().Repeated.Failed != 0 || r.last().Outcome != event.Stopped || r.last().Repeated.FailedHigh != 1 {
			t.Errorf("nothing was measured: %+v", r.last().Repeated)
		}
	})
}

// TestARepeatedCommandThatIsNotThere ends the measurement, though --on-exit names its code.
func TestARepeatedCommandThatIsNotThere(t *testing.T) {
	in(t, []attempt.Result{notFound}, func(t *testing.T, e *Config, s *script, r *record) {
		e.Policy.Repeat, e.Policy.Rules.OnExit = true, exits(t, "127")
		if end := e.Run(context.Background()); end.Code != 127 || len(s.started) != 1 ||
			r.last().Outcome != event.Stopped {
			t.Errorf("%+v: %+v", end, r.last())
		}
	})
}

// TestARefusedCopyIsTold: as the copy that it would have been, and the next one is asked for a delay
// later.
func TestARefusedCopyIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, s, r := newHedged(3, 100*ms, planned{after: 450 * ms, result: exit0})
		e.Admission = new(shop).admission()
		e.Run(context.Background())
		checkCopies(t, s, r)
		for n, want := range []time.Duration{100 * ms, 200 * ms} {
			if got := find[*event.GuardRefused](r, n); got == nil || !got.Hedged || got.Copy != 1 ||
				got.Elapsed != want {
				t.Errorf("refusal %d: %+v", n, got)
			}
		}
	})
}

// TestWaitsThatMayBlockAreTold: displays learn of each request, hook and wait for a target.
func TestWaitsThatMayBlockAreTold(t *testing.T) {
	for name, c := range map[string]struct {
		change func(e *Config)
		want   int
	}{
		"nothing":           {func(*Config) {}, 0},
		"a hook of a retry": {func(e *Config) { e.Hooks.BeforeRetry = []string{"a", "b"} }, 2},
		"a target": {func(e *Config) {
			e.When = func(context.Context, Place, time.Time, func(event.Event)) Readiness {
				return Readiness{Ready: true}
			}
		}, 1},
		"a guard": {func(e *Config) { e.Admission = new(memory).admission(guard.Guards{Adaptive: true}) }, 3},
	} {
		synctest.Test(t, func(t *testing.T) {
			e, s, _ := newConfig(exit1)
			c.change(e)
			e.Policy.Attempts = 2
			e.Starter = &stage{script: script{results: s.results}, hooks: map[string]attempt.Result{},
				took: map[string]time.Duration{}}
			told := 0
			e.Emit = func(ev event.Event) {
				if _, is := ev.(*event.Blocking); is {
					told++
				}
			}
			if e.Run(context.Background()); told != c.want {
				t.Errorf("%s: told %d times, not %d", name, told, c.want)
			}
		})
	}
}

// TestOutputAtTheEnd: what was kept is written if the run has given up, unless a fallback has
// succeeded; a failure of that decides how the program ends.
func TestOutputAtTheEnd(t *testing.T) {
	for name, c := range map[string]struct {
		result   attempt.Result
		fallback int // its exit code, -1 for none
		err      error
		gaveUp   bool
		end      End
		outcome  event.Outcome
	}{
		"a success":                {exit0, -1, nil, false, End{}, event.Succeeded},
		"a failure":                {exit75, -1, nil, true, End{Code: 75}, event.Exhausted},
		"a fallback that succeeds": {exit75, 0, nil, false, End{}, event.Exhausted},
		"a fallback that fails":    {exit75, 3, nil, true, End{Code: 3}, event.Exhausted},
		"it cannot be written": {exit75, -1, errors.New("no space for --token=secret"), true, End{Code: 125},
			event.Failed},
		"it has no reader":            {exit75, -1, attempt.ErrReaderGone, true, End{141, "SIGPIPE"}, event.Exhausted},
		"a success cannot be written": {exit0, -1, errors.New("no space"), false, End{Code: 125}, event.Failed},
	} {
		hooks := Hooks{}
		if c.fallback >= 0 {
			hooks.Fallback = "fallback"
		}
		asked := []bool{}
		_, r, end := staged(t, hooks, func(e *Config, s *stage) {
			e.Policy.Attempts = 1
			s.hooks["fallback"] = attempt.Result{ExitCode: c.fallback}
			e.EndOutput = func(gaveUp bool) error { asked = append(asked, gaveUp); return c.err }
		}, c.result)
		if !slices.Equal(asked, []bool{c.gaveUp}) || end != c.end || r.last().Outcome != c.outcome ||
			r.last().ReaderGone != (c.end.Signal == "SIGPIPE") {
			t.Errorf("%s: asked %v, ended with %+v: %+v", name, asked, end, r.last())
		}
		if told := strings.Contains(r.kinds(), "concluding"); told != c.gaveUp ||
			strings.Contains(r.last().Reason, "secret") {
			t.Errorf("%s: %s: %+v", name, r.kinds(), r.last())
		}
	}
}

// TestWhatIsOverruled: a success is told of the rule that would have had it retried.
func TestWhatIsOverruled(t *testing.T) {
	pattern, err := linematch.Parse("busy")
	if err != nil {
		t.Fatal(err)
	}
	for code, want := range map[int]string{0: "--on-stdout busy", 1: ""} {
		synctest.Test(t, func(t *testing.T) {
			e, _, r := newConfig()
			e.Policy.Attempts, e.Policy.Rules.Stdout.On = 1, []*linematch.Pattern{pattern}
			e.Starter = starterFunc(func(_ context.Context, spec attempt.Spec) attempt.Attempt {
				return attempt.Call(func() attempt.Result {
					_, _ = spec.Stdout.Write([]byte("busy\n"))
					return attempt.Result{ExitCode: code}
				})
			})
			e.Run(context.Background())
			if got := find[*event.AttemptFinished](r, 0); got.Overruled != want || got.Success != (code == 0) {
				t.Errorf("exit %d: %+v", code, got)
			}
		})
	}
}

type starterFunc func(context.Context, attempt.Spec) attempt.Attempt

func (f starterFunc) Start(ctx context.Context, spec attempt.Spec) attempt.Attempt {
	return f(ctx, spec)
}

// TestWhatIsRead: both outputs may be alike only if no rule looks at one of them.
func TestWhatIsRead(t *testing.T) {
	pattern, err := linematch.Parse("x")
	if err != nil {
		t.Fatal(err)
	}
	one := Patterns{Until: []*linematch.Pattern{pattern}}
	for name, c := range map[string]struct {
		stdout, stderr Patterns
		alike          bool
	}{"no rule": {alike: true}, "standard output": {stdout: one}, "standard error": {stderr: one},
		"both": {one, one, false}} {
		in(t, []attempt.Result{exit1}, func(t *testing.T, e *Config, s *script, r *record) {
			e.Policy.Attempts, e.Policy.Rules.Stdout, e.Policy.Rules.Stderr = 1, c.stdout, c.stderr
			if e.Run(context.Background()); s.specs[0].Alike != c.alike {
				t.Errorf("%s: alike %v", name, s.specs[0].Alike)
			}
		})
	}
}

// TestWhenOutputComes: reads of both streams within 20 ms are of one time.
func TestWhenOutputComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rules := Rules{ReadStdout: true, ReadStderr: true}
		e := evidenceOf(&rules, map[int]time.Duration{1: 20 * time.Millisecond, 2: 1, 4: 21 * time.Millisecond},
			"1abc", "2de", "2f", "1ghij", "1k")
		want := []classify.Arrival{{Stdout: 3, Stderr: 2}, {Stdout: 4, Stderr: 1}, {Stdout: 1}}
		if !reflect.DeepEqual(e.Order, want) {
			t.Errorf("%+v, not %+v", e.Order, want)
		}
		rules.ReadStderr = false
		if e = evidenceOf(&rules, nil, "1abc", "2de"); len(e.Order) != 0 {
			t.Errorf("of one stream: %+v", e.Order)
		}
		// The list is bounded.
		var a arrivals
		for range maxArrivals + 100 {
			time.Sleep(time.Second)
			a.note(1, false)
		}
		if len(a.list) > maxArrivals+1 || a.list[0].Stdout != 1 {
			t.Errorf("%d arrivals", len(a.list))
		}
	})
}

// TestTermDuringAnAttempt parks a run whose attempt would be retried: it is due when its wait would
// have ended.
func TestTermDuringAnAttempt(t *testing.T) {
	for name, c := range map[string]struct {
		result attempt.Result
		parks  func(e *Config)
		parked bool
		reason string
		code   int
	}{
		"a failure": {attempt.Result{ExitCode: 3}, func(*Config) {}, true, "exit 3", 75},
		"killed by it, unnamed": {attempt.Result{ExitCode: 143, Signal: term},
			func(e *Config) { e.Policy.Rules.OnExit, _ = classify.ParseExits("7") }, true, "killed by SIGTERM", 75},
		"a success": {attempt.Result{}, func(*Config) {}, false, "", 0},
		"it is not asked for": {attempt.Result{ExitCode: 3}, func(e *Config) { e.ParksOnTerm = nil }, false, "",
			3},
		"it is switched off": {attempt.Result{ExitCode: 3},
			func(e *Config) { e.ParksOnTerm = func() bool { return false } }, false, "", 3},
		"nobody keeps it": {attempt.Result{ExitCode: 3}, func(e *Config) { e.Keep = nil }, false, "", 3},
		"no letter is written": {attempt.Result{ExitCode: 3},
			func(e *Config) { e.Keep = func(context.Context, *Letter) string { return "" } }, false, "", 3},
		"its output has no reader": {attempt.Result{ExitCode: 3},
			func(e *Config) { e.Starter.(*script).settling = attempt.ErrReaderGone }, false, "", 141},
	} {
		in(t, []attempt.Result{cancelledBy(c.result, term)}, func(t *testing.T, e *Config, s *script, r *record) {
			s.takes = 5 * time.Second
			var letter *Letter
			e.ParksOnTerm = func() bool { return true }
			e.Keep = func(_ context.Context, l *Letter) string { letter = l; return "letter-1" }
			k := new(shop)
			e.Admission = k.admission()
			c.parks(e)
			start := time.Now()
			end := e.Run(context.Background())
			if (r.last().Outcome == event.Parked) != c.parked || end.Code != c.code ||
				time.Since(start) != 5*time.Second {
				t.Fatalf("%s: %+v after %v: %+v", name, end, time.Since(start), r.last())
			}
			if !c.parked {
				return
			}
			if l := r.last(); l.DueAt.Sub(start) != 6*time.Second || l.Why != "asked to end by SIGTERM" ||
				l.Reason != c.reason || l.Ended != c.reason || l.Letter != "letter-1" {
				t.Errorf("%s: %+v", name, l)
			}
			if !letter.ByTerm || letter.Attempts != 1 || letter.Place.Step != 2 ||
				letter.Decision.Jittered != time.Second || letter.Result.ExitCode != c.result.ExitCode {
				t.Errorf("%s: letter %+v", name, letter)
			}
			if want := []guard.Outcome{guard.Neither}; !slices.Equal(k.reports, want) {
				t.Errorf("%s: reported %v: what TERM ends counts neither way", name, k.reports)
			}
		})
	}
}

// TestTermWhileATargetIsWaitedFor parks the run where it is in its schedule then, due at once.
func TestTermWhileATargetIsWaitedFor(t *testing.T) {
	in(t, []attempt.Result{exit1}, func(t *testing.T, e *Config, s *script, r *record) {
		var letter *Letter
		e.ParksOnTerm = func() bool { return true }
		e.Keep = func(_ context.Context, l *Letter) string {
			if !l.ByTerm {
				return ""
			}
			letter = l
			return "letter-1"
		}
		e.When = func(context.Context, Place, time.Time, func(event.Event)) Readiness {
			time.Sleep(10 * time.Second)
			return Readiness{Cancelled: term}
		}
		start := time.Now()
		if end := e.Run(context.Background()); end.Code != 75 || r.last().Outcome != event.Parked ||
			r.last().DueAt.Sub(start) != 11*time.Second || letter.Place.Step != 2 {
			t.Errorf("%+v: %+v, letter %+v", end, r.last(), letter)
		}
	})
	// A redriven run that has made no attempt yet keeps the wait that it was parked for.
	in(t, []attempt.Result{exit1}, func(t *testing.T, e *Config, s *script, r *record) {
		cancelled := make(chan attempt.Signal, 1)
		e.Signals.Cancelled = cancelled
		var letter *Letter
		e.ParksOnTerm = func() bool { return true }
		e.Keep = func(_ context.Context, l *Letter) string { letter = l; return "letter-1" }
		e.Resume = &Letter{Decision: &Decision{}, Attempts: 2, Result: exit75, Place: Place{3, time.Second},
			Waited: 40 * time.Second}
		oneAMinute := guard.RateLimit{Interval: 60_000_000, Burst: 1, Wait: -1}
		e.Admission = new(memory).admission(guard.Guards{RateLimit: oneAMinute})
		other := admission.New(e.Admission, func(event.Event) {})
		other.WaitForTurn(context.Background(), other.First(), time.Time{}) // another run has the turn
		start := time.Now()
		time.AfterFunc(10*time.Second, func() { cancelled <- term })
		if end := e.Run(context.Background()); end.Code != 75 || r.last().Outcome != event.Parked ||
			r.last().DueAt.Sub(start) != time.Minute || letter.Decision.Jittered != 40*time.Second ||
			letter.Attempts != 2 {
			t.Errorf("%+v, due after %v: letter %+v", end, r.last().DueAt.Sub(start), letter)
		}
	})
}

// TestWhatAHookSays holds the note and the code of each end of a hook.
func TestWhatAHookSays(t *testing.T) {
	for name, c := range map[string]struct {
		hook   string
		result attempt.Result
		code   int
		note   string
	}{
		"success":             {beforeRetry, attempt.Result{Note: "ran"}, 0, ""},
		"failure":             {afterSuccess, attempt.Result{ExitCode: 3}, 3, "exit 3"},
		"it asks for the end": {beforeRetry, exit75, 75, ""},
		"75 of another hook":  {afterGiveUp, exit75, 75, "exit 75"},
		"1 of that hook":      {beforeRetry, exit1, 1, "exit 1"},
		"the deadline": {beforeRetry, attempt.Result{ExitCode: 137, Err: context.DeadlineExceeded}, 124,
			"ended by the deadline"},
		"a signal": {beforeRetry, attempt.Result{ExitCode: 137, Err: context.Canceled}, 137,
			"ended by a signal"},
		"its limit": {beforeRetry, attempt.Result{ExitCode: 137, Err: errLimit}, 124,
			"timed out after 1m0s (--hook-timeout)"},
		"no process": {beforeRetry, attempt.Result{Err: errors.New("no memory")}, 125, "no memory"},
		"no process, with a code": {beforeRetry, attempt.Result{ExitCode: 7, Err: errors.New("no memory")}, 7,
			"no memory"},
	} {
		h := Hooks{Limit: time.Minute}
		if h.judge(c.hook, &c.result); c.result.ExitCode != c.code || c.result.Note != c.note {
			t.Errorf("%s: %d, %q", name, c.result.ExitCode, c.result.Note)
		}
	}
	// A fallback whose reader has gone, and hooks of a run that was refused at once.
	_, r, end := staged(t, Hooks{Fallback: "fallback"}, func(e *Config, s *stage) {
		e.Policy.Attempts, s.hooks["fallback"] = 1, attempt.Result{ExitCode: 141, ReaderGone: true}
	}, exit1)
	if end.Signal != "SIGPIPE" || !r.last().ReaderGone {
		t.Errorf("%+v: %+v", end, r.last())
	}
	s, _, _ := staged(t, Hooks{AfterGiveUp: "gave up"},
		func(e *Config, _ *stage) { e.Admission = (&shop{refuse: "admit 1"}).admission() })
	if got := variable(s.seen[0], "RETRY_RESULT_EXIT"); got != "75" {
		t.Errorf("the hook of a refused run sees exit %s", got)
	}
	// A signal during the hook of a run that was kept does not lose the letter's id.
	_, r, end = staged(t, Hooks{AfterGiveUp: "gave up"}, func(e *Config, s *stage) {
		cancelled := make(chan attempt.Signal, 1)
		e.Policy.Attempts, e.Signals.Cancelled, s.took["gave up"] = 1, cancelled, time.Hour
		e.Keep = func(context.Context, *Letter) string { return "letter-1" }
		time.AfterFunc(time.Second, func() { cancelled <- "SIGTERM" })
	}, exit1)
	if end.Signal != "SIGTERM" || r.last().Outcome != event.Cancelled || r.last().Letter != "letter-1" {
		t.Errorf("%+v: %+v", end, r.last())
	}
}

// TestWhatACommandInherits: not the variables that the program sets, nor a trace that is not continued.
func TestWhatACommandInherits(t *testing.T) {
	for parent, want := range map[string]string{"": "", "b7ad6b7169203331": "a=b"} {
		in(t, []attempt.Result{exit0}, func(t *testing.T, e *Config, s *script, r *record) {
			e.Identity.Trace.Parent = parent
			e.Identity.Environ = []string{"TRACESTATE=a=b", "RETRY_LAST_EXIT=7", "A=b", "RETRY_USE_HOST=x"}
			l, err := rotate.Parse("host=--token=secret,b")
			if err != nil {
				t.Fatal(err)
			}
			e.Policy.Rotate, e.Argv = []rotate.List{l}, []string{"curl", "{host}"}
			e.Run(context.Background())
			got := ""
			for _, entry := range s.specs[0].Env {
				if value, is := strings.CutPrefix(entry, "TRACESTATE="); is {
					got = value
				}
			}
			if got != want || !slices.Contains(s.specs[0].Env, "RETRY_USE_HOST=--token=secret") {
				t.Errorf("parent %q: TRACESTATE %q, %v", parent, got, s.specs[0].Env)
			}
			if use := find[*event.AttemptStarted](r, 0).Use["host"]; strings.Contains(use, "secret") {
				t.Errorf("told: %q", use)
			}
		})
	}
	for name, want := range map[string]bool{"RETRY_ATTEMPT": true, "RETRY_COPY": true, "RETRY_USE_X": true,
		"RETRY_HOOK": true, "RETRY_COPY_": false, "RETRY_ATTEMPTS": false, "PATH": false, "RETRY_USE": false,
		"": false} {
		if SetsVariable(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
	for flags, want := range map[string]bool{"00": false, "01": true, "02": false, "03": true} {
		if trace := (&Trace{Flags: flags}); trace.Sampled() != want {
			t.Errorf("flags %s: %v", flags, !want)
		}
	}
	if got, want := NewRunID(func() uint64 { return 0 }), "00000000-0000-4000-8000-000000000000"; got != want {
		t.Errorf("%s, not %s", got, want)
	}
	if got, want := NewRunID(func() uint64 { return 1<<64 - 1 }), "ffffffff-ffff-4fff-bfff-ffffffffffff"; got != want {
		t.Errorf("%s, not %s", got, want)
	}
}

// TestRotationOfARun: a value that fails gives way to the next, one that is only not yet enough stays.
func TestRotationOfARun(t *testing.T) {
	l, err := rotate.Parse("m=a,b,c")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		results     []attempt.Result
		consecutive int
		want        string
	}{
		"failures":           {[]attempt.Result{exit1, exit1, exit1, exit0}, 1, "a b c a"},
		"successes in a row": {[]attempt.Result{exit1, exit0, exit0, exit0}, 3, "a b b b"},
	} {
		in(t, c.results, func(t *testing.T, e *Config, s *script, r *record) {
			e.Policy.Rotate, e.Argv, e.Policy.Consecutive = []rotate.List{l}, []string{"get", "{m}"}, c.consecutive
			e.Run(context.Background())
			var got []string
			for _, spec := range s.specs {
				got = append(got, spec.Argv[1])
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("%s: %v", name, got)
			}
		})
	}
}

// pretender pretends the attempts up to a number.
type pretender struct {
	script
	upTo int
}

func (p *pretender) Prepare(n int) bool { return n <= p.upTo }

// TestRehearsedAttemptsAreTold: those that the starter does not run.
func TestRehearsedAttemptsAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, _, r := newConfig()
		e.Starter = &pretender{script{results: []attempt.Result{exit1, exit1, exit0}}, 2}
		e.Run(context.Background())
		for i, want := range []bool{true, true, false} {
			if got := find[*event.AttemptStarted](r, i).Rehearsed; got != want {
				t.Errorf("attempt %d: %v", i+1, got)
			}
		}
	})
}

// TestARunThatGivesUpIsNoSuccess: not after an accepted attempt either, as of a wait that is too long.
func TestARunThatGivesUpIsNoSuccess(t *testing.T) {
	for untilFailure, want := range map[bool]event.Outcome{false: event.Deadline, true: event.Succeeded} {
		in(t, []attempt.Result{exit0}, func(t *testing.T, e *Config, s *script, r *record) {
			e.Policy.Consecutive, e.Policy.UntilFailure, e.Policy.Deadline = 3, untilFailure, 10*time.Second
			e.Before = nil
			e.Hooks.BeforeRetry = []string{"hook"}
			hooks := &stage{hooks: map[string]attempt.Result{}, took: map[string]time.Duration{"hook": time.Hour}}
			hooks.results = []attempt.Result{exit0}
			e.Starter = hooks
			var ended []string
			emit := e.Emit
			e.Emit = func(ev event.Event) {
				if end, is := ev.(*event.RunFinished); is {
					ended = append(ended, fmt.Sprint(end.Outcome))
				}
				emit(ev)
			}
			end := e.Run(context.Background())
			if r.last().Outcome != want || (end.Code == 0) != untilFailure || len(ended) != 1 {
				t.Errorf("until a failure %v: %+v: %+v", untilFailure, end, r.last())
			}
		})
	}
}
