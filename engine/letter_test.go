package engine

// This file parks a run, gives runs up and takes one up again: what those who keep
// runs get, when, and what the command sees after it.

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/backoff"
	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/linematch"
	"github.com/retrysh/retry/engine/rotate"
)

// postman parks waits of at least longest.
type postman struct {
	longest time.Duration
	parked  []Letter
	kept    []Letter
	during  func()
}

func (k *postman) keep(_ context.Context, l *Letter) string {
	switch {
	case l.Decision.Outcome != event.Parked:
	case l.Decision.Jittered < k.longest:
		return ""
	default:
		k.parked = append(k.parked, *l)
		return "parked-1"
	}
	if k.kept = append(k.kept, *l); k.during != nil {
		k.during()
	}
	return "kept-1"
}

func TestParkedRunGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, s, r := newConfig(exit1, exit75, exit0)
		k := &postman{longest: 2 * time.Second}
		g, g2 := new(shop), new(shop)
		policy := e.Policy
		policy.Attempts, policy.Schedule.Jitter = 5, backoff.Jitter{Kind: backoff.None}
		policy.Rotate = []rotate.List{{Name: "m", Values: []string{"a", "b", "c"}}}
		e.Policy, e.Keep, e.Admission, e.Argv = policy, k.keep, g.admission(), []string{"get", "{m}"}
		start := time.Now()
		if end := e.Run(context.Background()); end.Code != 75 || r.last().Outcome != event.Parked ||
			r.last().Letter != "parked-1" || !r.last().DueAt.Equal(start.Add(3*time.Second)) {
			t.Fatalf("ended with %+v: %+v", end, r.last())
		}
		l := k.parked[0]
		if l.Attempts != 2 || l.Result.ExitCode != 75 || l.Place.Step != 3 || l.Decision.Jittered != 2*time.Second ||
			len(k.kept) > 0 {
			t.Errorf("letter: %+v", l)
		}
		if !slices.Equal(g.calls, []string{"admit 1", "permit 2", "admit 2"}) {
			t.Errorf("the gate saw %q", g.calls)
		}
		again, s2, r2 := newConfig(exit1, exit0)
		again.Policy, again.Admission, again.Argv, again.Resume = policy, g2.admission(), e.Argv, &l
		again.Policy.InitialDelay = time.Hour
		l.Waited = l.Decision.Jittered
		if end := again.Run(context.Background()); end.Code != 0 || r2.last().Attempts != 4 {
			t.Fatalf("ended with %+v: %+v", end, r2.last())
		}
		for _, want := range []string{"RETRY_ATTEMPT=3", "RETRY_LAST_EXIT=75",
			"RETRY_LAST_REASON=" + l.Decision.Reason, "RETRY_DELAY_MS=2000", "RETRY_USE_M=c"} {
			if !slices.Contains(s2.specs[0].Env, want) {
				t.Errorf("attempt 3 lacks %s: %v", want, s2.specs[0].Env)
			}
		}
		if gap := s2.started[1].Sub(s2.started[0]); s2.started[0] != s.started[1] || gap != 4*time.Second {
			t.Errorf("attempts at %v", s2.started)
		}
		if calls := g2.calls; !slices.Equal(calls, []string{"permit 3", "admit 3", "permit 4", "admit 4", "finish"}) {
			t.Errorf("the gate saw %q", calls)
		}
	})
}

func TestParkedRunIsTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, s, r := newConfig(exit0)
		e.Expires = time.Now().Add(-time.Second)
		e.Resume = &Letter{Decision: &Decision{}, Attempts: 2, Result: exit75}
		if end := e.Run(context.Background()); end.Code != 124 || r.last().Outcome != event.Deadline ||
			r.last().Attempts != 2 || len(s.started) > 0 {
			t.Errorf("ended with %+v: %+v", end, r.last())
		}
	})
}

func TestGivenUpRunIsKept(t *testing.T) {
	refused := (&shop{refuse: "admit 1"}).admission()
	for _, c := range []struct {
		name    string
		results []attempt.Result
		change  func(*Config)
		kept    int
		order   string
	}{
		{"exhausted", []attempt.Result{exit1}, func(*Config) {}, 1, "keep"},
		{"before the hook", []attempt.Result{exit1}, func(e *Config) { e.Hooks.AfterGiveUp = "x" }, 1,
			"keep after-give-up"},
		{"after the fallback", []attempt.Result{exit1},
			func(e *Config) { e.Hooks.AfterGiveUp, e.Hooks.Fallback = "x", "y" }, 1, "after-give-up fallback keep"},
		{"refused", nil, func(e *Config) { e.Admission = refused }, 1, "keep"},
		{"a success", []attempt.Result{exit0}, func(*Config) {}, 0, ""},
		{"a cancel", []attempt.Result{{ExitCode: 143, Signal: "SIGTERM", Cancelled: "SIGTERM"}}, func(*Config) {}, 0,
			""},
		{"no command", []attempt.Result{{ExitCode: 127, StartErr: context.Canceled}}, func(*Config) {}, 0, ""},
		{"no attempt", nil, func(e *Config) { e.Policy.InitialDelay, e.Policy.Deadline = time.Hour, time.Minute }, 0,
			""},
	} {
		synctest.Test(t, func(t *testing.T) {
			e, _, r := newConfig(append(c.results, exit1)...)
			e.Policy.Attempts = 1
			c.change(e)
			var order []string
			k := &postman{during: func() { order = append(order, "keep") }}
			e.Keep = k.keep
			e.Emit = func(ev event.Event) {
				r.Emit(ev)
				if h, ok := ev.(*event.HookStarted); ok {
					order = append(order, h.Hook)
				}
			}
			e.Run(context.Background())
			if letter := r.last().Letter; len(k.kept) != c.kept || strings.Join(order, " ") != c.order ||
				letter != strings.Repeat("kept-1", c.kept) {
				t.Errorf("%s: kept %d, letter %q, in the order %q", c.name, len(k.kept), letter, order)
			}
		})
	}
}

func TestSpans(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, s, r := newConfig(exit1, exit0)
		n := uint64(0)
		e.Identity.Random = func() uint64 { n += 2; return n }
		e.Identity.Trace = ContinueTrace("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", e.Identity.Random)
		e.Hooks.BeforeRetry = []string{"x"}
		e.Run(context.Background())
		started := r.events[0].(*event.RunStarted)
		if started.ParentSpanID != "b7ad6b7169203331" || !started.Sampled || started.SpanID != "0000000000000003" ||
			started.Name != "true" || started.Depth != 1 {
			t.Errorf("%+v", started)
		}
		want := []string{"0000000000000005", "0000000000000003", "0000000000000007"} // attempt, hook, attempt
		for i, spec := range s.specs {
			if !slices.Contains(spec.Env, "TRACEPARENT=00-0af7651916cd43dd8448eb211c80319c-"+want[i]+"-01") {
				t.Errorf("start %d sees %v, not span %s", i, spec.Env, want[i])
			}
		}
		for _, ev := range r.events {
			if ev, ok := ev.(*event.AttemptFinished); ok && ev.SpanID != want[2*(ev.Attempt-1)] {
				t.Errorf("attempt %d has span %s", ev.Attempt, ev.SpanID)
			}
		}
	})
}

func TestNameOfARun(t *testing.T) {
	for want, argv := range map[string][]string{
		"wait": nil, "make": {"sudo", "-u", "x", "/usr/bin/make", "all"}, "-": {""}, "a\ufffdb": {"a\nb"},
		strings.Repeat("é", 64): {strings.Repeat("é", 70)},
	} {
		if got := NameOf(argv); got != want {
			t.Errorf("NameOf(%q) = %q, want %q", argv, got, want)
		}
	}
}

func TestCloseEndsInTime(t *testing.T) {
	for _, c := range []struct {
		name   string
		result attempt.Result
		signal bool
		want   time.Duration
	}{
		{"limit", exit0, false, time.Second},
		{"cancelled", attempt.Result{ExitCode: 143, Cancelled: "SIGTERM"}, false, cancelledClose},
		{"a signal meanwhile", exit0, true, 10 * time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			e, _, _ := newConfig(c.result)
			cancelled := make(chan attempt.Signal, 1)
			e.CloseLimit, e.Signals.Cancelled = time.Second, cancelled
			var took time.Duration
			e.Close = func(ctx context.Context) {
				begun := time.Now()
				<-ctx.Done()
				took = time.Since(begun)
			}
			if c.signal {
				time.AfterFunc(10*time.Millisecond, func() { cancelled <- "SIGTERM" })
			}
			if end := e.Run(context.Background()); took != c.want || end.Code != c.result.ExitCode {
				t.Errorf("%s: closed after %v, ended with %+v", c.name, took, end)
			}
		})
	}
}

// A failure's line is the one that a rule of the user's matched, or else the last
// one, of standard error first.
func TestLineOfAFailure(t *testing.T) {
	for _, c := range []struct{ stdout, stderr, pattern, want string }{
		{"", "", "", ""},
		{"one\ntwo\n", "", "", "two"},
		{"\n \r\n", "\n\x1b[0m\n", "", ""},
		{"x", "\n", "", "x"},
		{"one\n", "\x1b[31mred\x1b[0m \r\n\n", "", "red"},
		{"", "first: busy\nsecond: busy\nlast\n", "busy", "second: busy"},
	} {
		rules := Rules{ReadStdout: true, ReadStderr: true, Table: testPolicy().Rules.Table}
		if c.pattern != "" {
			p, err := linematch.Parse(c.pattern)
			if err != nil {
				t.Fatal(err)
			}
			rules.Stderr.On = []*linematch.Pattern{p}
		}
		watch := rules.NewWatch()
		_, _ = watch.Stdout.Write([]byte(c.stdout))
		_, _ = watch.Stderr.Write([]byte(c.stderr))
		if d := judge(&rules, []string{"x"}, exit1, watch.Close(), time.Time{}); d.Line != c.want {
			t.Errorf("%+v: line %q, rule %q", c, d.Line, d.Rule)
		}
	}
}
