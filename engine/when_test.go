package engine

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retrysh/retry/engine/event"
)

// The wait of When is a part of the wait: the schedule continues after it, and
// the next attempt sees all of it.
func TestWhenGoesOnInTheSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, s, r := newConfig(exit1, exit1, exit0)
		var places []Place
		e.When = func(_ context.Context, at Place, _ time.Time, _ func(event.Event)) Readiness {
			places = append(places, at)
			time.Sleep(10 * time.Second)
			return Readiness{Ready: true, Place: Place{at.Step + 2, 4 * time.Second}, Waited: 10 * time.Second}
		}
		e.Run(context.Background())
		if len(places) != 2 || places[0].Step != 2 || places[1] != (Place{5, 8 * time.Second}) {
			t.Errorf("places %v", places)
		}
		// Waits 1 and 4 of the schedule, with 10s after each.
		for i, want := range []time.Duration{0, 11 * time.Second, 29 * time.Second} {
			if got := s.started[i].Sub(s.started[0]); got != want {
				t.Errorf("attempt %d after %v, want %v", i+1, got, want)
			}
		}
		if env := strings.Join(s.specs[1].Env, " "); !strings.Contains(env, "RETRY_DELAY_MS=11000") {
			t.Error(env)
		}
		if r.last().Outcome != event.Succeeded {
			t.Errorf("%+v", r.last())
		}
	})
}

// If the run does not go on, no attempt follows, and the reason decides the
// code: the last attempt's if the deadline passed, 124 if the limit did.
func TestWhenEndsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			r       Readiness
			end     End
			outcome event.Outcome
			why     string
		}{
			{Readiness{Cancelled: "SIGTERM"}, End{Code: 143, Signal: "SIGTERM"}, event.Cancelled, ""},
			{Readiness{DeadlinePassed: true, Why: "no time is left"}, End{Code: 75}, event.Deadline, "no time is left"},
			{Readiness{Why: "db did not become ready within 1s"}, End{Code: 124}, event.Deadline,
				"db did not become ready within 1s"},
		} {
			e, s, r := newConfig(exit75)
			e.Hooks.BeforeRetry = []string{"never asked"}
			e.When = func(context.Context, Place, time.Time, func(event.Event)) Readiness { return c.r }
			end := e.Run(context.Background())
			if end != c.end || len(s.started) != 1 || r.last().Outcome != c.outcome || r.last().Why != c.why ||
				r.last().Attempts != 1 {
				t.Errorf("%+v: ended with %+v after %d attempts, %+v", c.r, end, len(s.started), r.last())
			}
		}
	})
}

// It is not called before attempt 1, nor after the last.
func TestWhenIsForRetriesOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		when := func(context.Context, Place, time.Time, func(event.Event)) Readiness {
			asked++
			return Readiness{Ready: true, Place: Place{Step: 1}}
		}
		e, _, _ := newConfig(exit0)
		e.When = when
		e.Run(context.Background())
		e, s, _ := newConfig(exit1)
		e.When, e.Policy.Attempts = when, 3
		e.Run(context.Background())
		if asked != 2 || len(s.started) != 3 {
			t.Errorf("asked %d times, %d attempts", asked, len(s.started))
		}
	})
}

// The hooks before a retry come when all is ready.
func TestWhenComesBeforeTheHooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, s, _ := newConfig(exit1, exit0, exit0)
		ready := false
		e.Hooks = Hooks{BeforeRetry: []string{"true"}}
		e.When = func(_ context.Context, at Place, _ time.Time, _ func(event.Event)) Readiness {
			if len(s.started) != 1 {
				t.Errorf("%d were started before", len(s.started))
			}
			ready = true
			return Readiness{Ready: true, Place: at}
		}
		e.Run(context.Background())
		if !ready {
			t.Error("it was not called")
		}
	})
}
