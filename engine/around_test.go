package engine

// This file holds the order of hooks, attempts and the fallback, by a fake
// clock.

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/event"
)

// stage plays the command's results and those of shell strings, by the string.
type stage struct {
	script
	hooks map[string]attempt.Result
	took  map[string]time.Duration
	order []string // what was started
	seen  []attempt.Spec
}

func (s *stage) Start(ctx context.Context, spec attempt.Spec) attempt.Attempt {
	if spec.Streams == attempt.Configured {
		s.order = append(s.order, "attempt")
		return s.script.Start(ctx, spec)
	}
	text := spec.Argv[2]
	s.order, s.seen = append(s.order, text), append(s.seen, spec)
	return attempt.Call(func() attempt.Result {
		r := s.hooks[text]
		start := time.Now()
		select {
		case <-time.After(s.took[text]):
		case <-ctx.Done():
			r = attempt.Result{ExitCode: 137, Signal: "SIGKILL", Err: context.Cause(ctx)}
		}
		r.Duration = time.Since(start)
		return r
	})
}

// staged runs an engine over a stage.
func staged(t *testing.T, hooks Hooks, prepare func(*Config, *stage), results ...attempt.Result) (*stage, *record,
	End) {
	t.Helper()
	s, r := &stage{hooks: map[string]attempt.Result{}, took: map[string]time.Duration{}}, &record{}
	var end End
	synctest.Test(t, func(*testing.T) {
		e, _, _ := newConfig()
		s.results, e.Starter, e.Emit, e.Hooks = results, s, r.Emit, hooks
		e.Argv = []string{"cmd", "a b"}
		if prepare != nil {
			prepare(e, s)
		}
		end = e.Run(context.Background())
	})
	return s, r, end
}

// variable returns a variable that a hook saw, "-" if it is unset.
func variable(spec attempt.Spec, name string) string {
	for _, entry := range spec.Env {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return "-"
}

func TestHooksInOrder(t *testing.T) {
	all := Hooks{BeforeRetry: []string{"before1", "before2"}, AfterSuccess: "success", AfterGiveUp: "gave up",
		Fallback: "fallback", Limit: time.Minute}
	for _, test := range []struct {
		name    string
		prepare func(*Config, *stage)
		results []attempt.Result
		order   string
		outcome event.Outcome
		code    int
	}{
		{"success at once", nil, []attempt.Result{exit0}, "attempt success", event.Succeeded, 0},
		{"success after a retry", nil, []attempt.Result{exit1, exit0}, "attempt before1 before2 attempt success",
			event.Succeeded, 0},
		{"a hook fails", func(_ *Config, s *stage) {
			s.hooks["before1"], s.hooks["success"] = exit1, exit1
		}, []attempt.Result{exit1, exit0}, "attempt before1 before2 attempt success", event.Succeeded, 0},
		{"exhausted", func(e *Config, _ *stage) { e.Policy.Attempts = 2 }, []attempt.Result{exit1},
			"attempt before1 before2 attempt gave up fallback", event.Exhausted, 0},
		{"the fallback's code", func(e *Config, s *stage) { e.Policy.Attempts, s.hooks["fallback"] = 1, exit75 },
			[]attempt.Result{exit1}, "attempt gave up fallback", event.Exhausted, 75},
		{"no fallback", func(e *Config, _ *stage) { e.Policy.Attempts, e.Hooks.Fallback = 1, "" },
			[]attempt.Result{exit75}, "attempt gave up", event.Exhausted, 75},
		{"stopped", nil, []attempt.Result{{ExitCode: 127, StartErr: fmt.Errorf("not found")}},
			"attempt gave up fallback", event.Stopped, 0},
		{"a hook asks for the end", func(e *Config, s *stage) {
			s.hooks["before1"], e.Hooks.Fallback = exit75, ""
		}, []attempt.Result{exit1}, "attempt before1 gave up", event.Stopped, 1},
		{"cancelled", nil, []attempt.Result{{ExitCode: 143, Signal: "SIGTERM", Cancelled: "SIGTERM"}}, "attempt",
			event.Cancelled, 143},
		{"the program failed", nil, []attempt.Result{{Err: fmt.Errorf("no memory")}}, "attempt", event.Failed, 125},
		{"the deadline passes in a hook", func(e *Config, s *stage) {
			e.Policy.Deadline, s.took["before1"], e.Hooks.Fallback = 10*time.Second, time.Hour, ""
		}, []attempt.Result{exit75}, "attempt before1 gave up", event.Deadline, 75},
		{"the hook's own limit", func(_ *Config, s *stage) {
			s.took["before1"], s.took["success"] = time.Hour, time.Hour
		}, []attempt.Result{exit1, exit0}, "attempt before1 before2 attempt success", event.Succeeded, 0},
		{"the fallback's limit", func(e *Config, s *stage) { e.Policy.Attempts, s.took["fallback"] = 1, time.Hour },
			[]attempt.Result{exit1}, "attempt gave up fallback", event.Exhausted, 124},
		{"the deadline does not hold for what follows", func(e *Config, s *stage) {
			e.Policy.Deadline, s.took["gave up"], s.took["fallback"] = 100*time.Millisecond, 10*time.Second,
				10*time.Second
		}, []attempt.Result{exit1}, "attempt gave up fallback", event.Deadline, 0},
		{"refused at once", func(e *Config, _ *stage) { e.Admission = (&shop{refuse: "admit 1"}).admission() }, nil,
			"gave up fallback", event.Refused, 0},
	} {
		s, r, end := staged(t, all, test.prepare, test.results...)
		if got := strings.Join(s.order, " "); got != test.order || r.last().Outcome != test.outcome ||
			end.Code != test.code || r.last().ExitCode != test.code {
			t.Errorf("%s: %s: %s, code %d; %+v", test.name, got, r.last().Outcome, end.Code, r.last())
		}
		if ran := slices.Contains(s.order, "fallback"); ran != (r.last().FallbackExitCode != nil) || ran &&
			*r.last().FallbackExitCode != test.code {
			t.Errorf("%s: fallback_exit_code %v", test.name, r.last().FallbackExitCode)
		}
		if started, finished := strings.Count(r.kinds(), "hook_started"),
			strings.Count(r.kinds(), "hook_finished"); started != finished || started != len(s.seen) {
			t.Errorf("%s: events %s", test.name, r.kinds())
		}
	}
}

// A signal ends a hook and the run at once; nothing follows, whichever hook it
// was.
func TestASignalEndsAHook(t *testing.T) {
	for _, which := range []string{"before", "success", "gave up", "fallback"} {
		results := []attempt.Result{exit1, exit0}
		if which == "gave up" || which == "fallback" {
			results = []attempt.Result{exit1}
		}
		var start, ended time.Time
		s, r, end := staged(t, Hooks{BeforeRetry: []string{"before"}, AfterSuccess: "success", AfterGiveUp: "gave up",
			Fallback: "fallback"}, func(e *Config, s *stage) {
			start, s.took[which] = time.Now(), time.Hour
			e.Policy.Attempts = 2
			cancelled := make(chan attempt.Signal, 1)
			e.Signals.Cancelled = cancelled
			time.AfterFunc(20*time.Second, func() { cancelled <- "SIGTERM" })
		}, results...)
		ended = r.last().Time
		if end.Signal != "SIGTERM" || r.last().Outcome != event.Cancelled || ended.Sub(start) != 20*time.Second ||
			s.order[len(s.order)-1] != which || r.last().FallbackExitCode != nil {
			t.Errorf("%s: %+v after %v: %v", which, end, ended.Sub(start), s.order)
		}
	}
}

func TestWhatHooksGet(t *testing.T) {
	killed := attempt.Result{ExitCode: 137, Signal: "SIGKILL"}
	kept := map[string]string{}
	tails := func(stdout, stderr []byte) ([]string, func()) {
		name := fmt.Sprintf("file%d", len(kept))
		kept[name] = string(stdout) + string(stderr)
		return []string{"RETRY_TAIL_STDOUT=" + name}, func() { kept[name] += " removed" }
	}
	s, _, _ := staged(t, Hooks{BeforeRetry: []string{"before"}, AfterGiveUp: "gave up", Fallback: "fallback",
		Tails: tails}, func(e *Config, s *stage) {
		e.Policy.Attempts, e.Policy.Deadline = 3, time.Hour
		e.Policy.Rules.ReadStdout, e.Policy.Rules.ReadStderr = true, true
		e.Identity.Environ = []string{"HOME=/h", "RETRY_HOOK=outer", "RETRY_RESULT_EXIT=9", "RETRY_TAIL_STDOUT=outer"}
	}, exit75, killed, exit1)
	for _, spec := range s.specs {
		for _, name := range set[slices.Index(set, "RETRY_HOOK"):] {
			if value := variable(spec, name); value != "-" {
				t.Errorf("an attempt sees %s=%s", name, value)
			}
		}
	}
	want := []map[string]string{
		{"RETRY_HOOK": "before-retry", "RETRY_ATTEMPT": "2", "RETRY_MAX_ATTEMPTS": "3", "RETRY_LAST_EXIT": "75",
			"RETRY_DELAY_MS": "1000", "RETRY_RESULT_EXIT": "75", "RETRY_RESULT_SIGNAL": "",
			"RETRY_RESULT_REASON":  "exit 75: the command reports a temporary failure (75)",
			"RETRY_RESULT_VERDICT": "transient", "RETRY_RESULT_RULE": "sysexits-tempfail", "RETRY_RESULT_OUTCOME": "",
			"RETRY_NEXT_DELAY_MS": "2000", "RETRY_TAIL_STDOUT": "file0", "HOME": "/h"},
		{"RETRY_HOOK": "before-retry", "RETRY_ATTEMPT": "3", "RETRY_LAST_EXIT": "137", "RETRY_RESULT_EXIT": "137",
			"RETRY_RESULT_SIGNAL": "SIGKILL", "RETRY_NEXT_DELAY_MS": "0"},
		{"RETRY_HOOK": "after-give-up", "RETRY_ATTEMPT": "3", "RETRY_LAST_EXIT": "137", "RETRY_RESULT_EXIT": "1",
			"RETRY_RESULT_OUTCOME": "exhausted", "RETRY_NEXT_DELAY_MS": "0", "RETRY_EXPIRES_AT": "-",
			"RETRY_IDEMPOTENCY_KEY": "key", "RETRY_RUN_ID": "id", "RETRY_DEPTH": "1"},
		{"RETRY_HOOK": "fallback", "RETRY_ATTEMPT": "3", "RETRY_RESULT_EXIT": "1", "RETRY_RESULT_OUTCOME": "exhausted"},
	}
	if len(s.seen) != len(want) {
		t.Fatalf("%d hooks ran: %v", len(s.seen), s.order)
	}
	for i, variables := range want {
		spec := s.seen[i]
		for name, value := range variables {
			if got := variable(spec, name); got != value {
				t.Errorf("hook %d: %s=%s, want %s", i, name, got, value)
			}
		}
		if got := strings.Join(spec.Argv[3:], "|"); got != "retry|cmd|a b" || !spec.KillAtOnce ||
			(spec.Streams == attempt.Instead) != (i == 3) || spec.Timeout != 0 {
			t.Errorf("hook %d: %+v", i, spec)
		}
		for j, entry := range spec.Env {
			name, _, _ := strings.Cut(entry, "=")
			if slices.ContainsFunc(spec.Env[j+1:],
				func(other string) bool { return strings.HasPrefix(other, name+"=") }) {
				t.Errorf("hook %d: %s is set twice", i, name)
			}
		}
	}
	if expires := variable(s.seen[0], "RETRY_EXPIRES_AT"); expires == "-" {
		t.Error("before a retry there is a deadline")
	}
	for name, data := range kept {
		if data != " removed" {
			t.Errorf("%s: %q", name, data)
		}
	}
}

// From attempt 2 on another command runs, judged as the command is.
func TestRetryWith(t *testing.T) {
	s, r, _ := staged(t, Hooks{RetryWith: `"$@" --resume`}, func(e *Config, _ *stage) { e.Policy.Attempts = 2 }, exit1)
	if got := strings.Join(s.specs[0].Argv, "|"); got != "cmd|a b" {
		t.Error(got)
	}
	if got := strings.Join(s.specs[1].Argv, "|"); got != `/bin/sh|-c|"$@" --resume|retry|cmd|a b` ||
		s.specs[1].Streams != attempt.Configured {
		t.Error(got)
	}
	if r.last().Attempts != 2 || r.last().Outcome != event.Exhausted {
		t.Errorf("%+v", r.last())
	}
	e := &execution{Config: &Config{}}
	for script, want := range map[string]string{
		`"$@" --resume`:    "curl -f x",
		`exec "$@"`:        "curl -f x",
		`A=b "$@"`:         "curl -f x",
		"wget -c http://x": `/bin/sh -c wget -c http://x retry curl -f x`,
		`make clean; "$@"`: `/bin/sh -c make clean; "$@" retry curl -f x`,
		`other "$@"`:       `/bin/sh -c other "$@" retry curl -f x`,
	} {
		e.Hooks.RetryWith = script
		if _, judged := e.retryWith([]string{"curl", "-f", "x"}); strings.Join(judged, " ") != want {
			t.Errorf("%s is judged as %q", script, judged)
		}
	}
}
