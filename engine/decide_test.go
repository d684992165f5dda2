package engine

// This file holds the order of decisions against the contract: a row for each
// row of its table, and one for each pair of rules that could conflict.

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/backoff"
	"github.com/retrysh/retry/engine/classify"
	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/linematch"
)

func exits(t *testing.T, list string) classify.Exits {
	t.Helper()
	if list == "" {
		return nil
	}
	x, err := classify.ParseExits(list)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func testPolicy() Policy {
	return Policy{
		Attempts: 5, MaxHint: 5 * time.Minute,
		Schedule: backoff.Schedule{Curve: backoff.Exponential(2), Base: time.Second, Cap: 30 * time.Second,
			Jitter: backoff.Jitter{Kind: backoff.None}},
		Rules: Rules{Table: classify.BuiltIn},
	}
}

var (
	exit0     = attempt.Result{}
	exit1     = attempt.Result{ExitCode: 1}
	exit75    = attempt.Result{ExitCode: 75}
	killed    = attempt.Result{ExitCode: 137, Signal: "SIGKILL"}
	timedOut  = attempt.Result{ExitCode: 124, TimedOut: true}
	notFound  = attempt.Result{ExitCode: 127, StartErr: errors.New(`"x": not found in PATH`)}
	itself127 = attempt.Result{ExitCode: 127}
	late      = attempt.Result{ExitCode: 124, DeadlinePassed: true}
)

func cancelledBy(r attempt.Result, s attempt.Signal) attempt.Result {
	r.Cancelled = s
	return r
}

// decideCase is one row: flags, result, evidence, and what must follow.
type decideCase struct {
	name                string
	result              attempt.Result
	success, stopOn, on string // EXITS lists
	mode                Mode
	evidence            Evidence
	retryPatterns       bool // an --on-stderr pattern was given
	want                string
	code                int
	signal              attempt.Signal
}

var decideCases = []decideCase{
	// Row 1, and before every other.
	{name: "1 cancelled by INT, the command failed", result: cancelledBy(exit1, "SIGINT"), want: "cancelled",
		code: 130, signal: "SIGINT"},
	{name: "1 cancelled by QUIT, the command failed", result: cancelledBy(exit1, "SIGQUIT"), want: "cancelled",
		code: 131, signal: "SIGQUIT"},
	{name: "1 cancelled by INT, the command exited 0", result: cancelledBy(exit0, "SIGINT"), want: "cancelled",
		code: 0},
	{name: "1 cancelled by TERM, the command exited 1", result: cancelledBy(exit1, "SIGTERM"), want: "cancelled",
		code: 1},
	{name: "1 cancelled by TERM, the command exited 0", result: cancelledBy(exit0, "SIGTERM"), want: "cancelled",
		code: 0},
	{name: "1 cancelled by HUP, the command was killed", result: cancelledBy(killed, "SIGHUP"), want: "cancelled",
		code: 137, signal: "SIGKILL"},
	{name: "1 before 2: cancelled, then the deadline", result: cancelledBy(late, "SIGTERM"), want: "cancelled",
		code: 124},
	{name: "1 before 4: cancelled beats --success-on-exit", result: cancelledBy(exit1, "SIGTERM"), success: "1",
		want: "cancelled", code: 1},
	{name: "1 before 5: cancelled beats --stop-on-exit", result: cancelledBy(exit1, "SIGTERM"), stopOn: "1",
		want: "cancelled", code: 1},
	{name: "1 before 6: cancelled beats the timeout", result: cancelledBy(timedOut, "SIGTERM"), want: "cancelled",
		code: 124},
	{name: "1 before 7: cancelled beats --on-exit", result: cancelledBy(exit1, "SIGTERM"), on: "1", want: "cancelled",
		code: 1},
	{name: "1 the reader has gone", result: attempt.Result{ExitCode: 141, Signal: "SIGPIPE", ReaderGone: true},
		on: "any", want: "cancelled", code: 141, signal: "SIGPIPE"},
	// Row 2.
	{name: "2 the deadline passed", result: late, want: "deadline", code: 124},
	{name: "2 before 4: though the command exited 0", result: attempt.Result{ExitCode: 124, DeadlinePassed: true},
		success: "124", want: "deadline", code: 124},
	{name: "2 before 5: the deadline beats --stop-on-exit", result: late, stopOn: "124", want: "deadline", code: 124},
	{name: "2 before 7: the deadline beats --on-exit", result: late, on: "124,any", want: "deadline", code: 124},
	// Row 3.
	{name: "3 not found", result: notFound, want: "stopped", code: 127},
	{name: "3 not executable", result: attempt.Result{ExitCode: 126, StartErr: errors.New("permission denied")},
		want: "stopped", code: 126},
	{name: "3 unless --on-exit names the code", result: notFound, on: "127", want: "retry"},
	{name: "3 unless --on-exit names a range with it", result: notFound, on: "120-127", want: "retry"},
	{name: "3 any does not count", result: notFound, on: "any", want: "stopped", code: 127},
	{name: "3 a range beside any counts", result: notFound, on: "any,127", want: "retry"},
	{name: "3 before 4: not found beats --success-on-exit", result: notFound, success: "127", want: "stopped",
		code: 127},
	{name: "3 before 7: a pattern does not name it", result: notFound, evidence: Evidence{Retry: "--on-stderr x"},
		retryPatterns: true, want: "stopped", code: 127},
	{name: "3 named, but 5 says stop", result: notFound, on: "127", stopOn: "127", want: "stopped", code: 127},
	{name: "3 is not 127 of a command that did start", result: itself127, want: "retry"},
	// Row 4.
	{name: "4 exit 0", result: exit0, want: "accept"},
	{name: "4 exit 1 is named a success", result: exit1, success: "0,1", want: "accept"},
	{name: "4 a signal is named a success", result: killed, success: "KILL", want: "accept"},
	{name: "4 a timeout is named a success", result: timedOut, success: "timeout", want: "accept"},
	{name: "4 exit 0 is not named", result: exit0, success: "1", want: "retry"},
	{name: "4 an --until pattern was not seen", result: exit0, evidence: Evidence{Missing: "--until-stdout up"},
		want: "retry"},
	{name: "4 a --fail-on pattern was seen", result: exit0, evidence: Evidence{Fail: "--fail-on-stderr oops"},
		want: "retry"},
	{name: "4 --fail-on beats --success-on-exit", result: exit1, success: "1",
		evidence: Evidence{Fail: "--fail-on-stderr oops"}, want: "retry"},
	{name: "4 before 5: success beats --stop-on-exit", result: exit1, success: "1", stopOn: "1", want: "accept"},
	{name: "4 before 5: success beats a stop pattern", result: exit0, evidence: Evidence{Stop: "--stop-on-stdout x"},
		want: "accept"},
	{name: "4 before 7: success beats --on-exit", result: exit0, on: "0", want: "accept"},
	{name: "4 before 8: success beats an --on-* that does not match", result: exit0, on: "75", want: "accept"},
	// Row 5.
	{name: "5 --stop-on-exit", result: exit1, stopOn: "1", want: "stopped", code: 1},
	{name: "5 a stop pattern", result: exit1, evidence: Evidence{Stop: "--stop-on-stderr denied"}, want: "stopped",
		code: 1},
	{name: "5 exit 0 that is no success", result: exit0,
		evidence: Evidence{Fail: "--fail-on-stdout x", Stop: "--stop-on-stdout x"}, want: "stopped", code: 1},
	{name: "5 a signal dies by it", result: killed, stopOn: "KILL", want: "stopped", code: 137, signal: "SIGKILL"},
	{name: "5 before 6: --stop-on-exit timeout", result: timedOut, stopOn: "timeout", want: "stopped", code: 124},
	{name: "5 before 6: a stop pattern beats the timeout", result: timedOut,
		evidence: Evidence{Stop: "--stop-on-stderr denied"}, want: "stopped", code: 124},
	{name: "5 before 7: stop beats --on-exit", result: exit75, stopOn: "75", on: "75", want: "stopped", code: 75},
	{name: "5 before 7: a stop pattern beats --on-exit", result: exit75,
		evidence: Evidence{Stop: "--stop-on-stderr x"}, on: "75", want: "stopped", code: 75},
	{name: "5 before 7: --stop-on-exit beats a retry pattern", result: exit75, stopOn: "75",
		evidence: Evidence{Retry: "--on-stderr x"}, retryPatterns: true, want: "stopped", code: 75},
	// Row 6.
	{name: "6 the attempt hit its limit", result: timedOut, want: "retry"},
	{name: "6 before 8: though an --on-* rule does not name it", result: timedOut, on: "75", want: "retry"},
	{name: "6 before 9: in strict mode too", result: timedOut, mode: Strict, want: "retry"},
	// Row 7.
	{name: "7 --on-exit", result: exit75, on: "75,111", want: "retry"},
	{name: "7 a retry pattern", result: exit1, evidence: Evidence{Retry: "--on-stderr x"}, retryPatterns: true,
		want: "retry"},
	{name: "7 a pattern, though --on-exit does not match", result: exit1, on: "75",
		evidence: Evidence{Retry: "--on-stderr x"}, want: "retry"},
	{name: "7 before 9: --on-exit beats strict", result: exit1, on: "1", mode: Strict, want: "retry"},
	// Row 8.
	{name: "8 an --on-exit that does not match", result: exit1, on: "75", want: "stopped", code: 1},
	{name: "8 an --on-stderr that does not match", result: exit1, retryPatterns: true, want: "stopped", code: 1},
	{name: "8 exit 0 that is no success, any names non-zero results", result: exit0,
		evidence: Evidence{Missing: "--until-stdout x"}, on: "any", want: "stopped", code: 1},
	{name: "8 before 9: in any mode", result: killed, on: "75", want: "stopped", code: 137, signal: "SIGKILL"},
	// Row 9.
	{name: "9 any", result: exit1, want: "retry"},
	{name: "9 smart retries what is unknown", result: exit1, mode: Smart, want: "retry"},
	{name: "9 strict stops at what is unknown", result: exit1, mode: Strict, want: "stopped", code: 1},
	// The program itself failed.
	{name: "0 a failure of the program itself",
		result: attempt.Result{ExitCode: 1, Err: errors.New("no space left on device")}, on: "1", want: "error",
		code: 125},
}

func TestDecideOrder(t *testing.T) {
	for _, c := range decideCases {
		t.Run(c.name, func(t *testing.T) {
			p := testPolicy()
			p.Rules.SuccessOnExit, p.Rules.StopOnExit, p.Rules.OnExit = exits(t, c.success), exits(t, c.stopOn),
				exits(t, c.on)
			p.Rules.Mode = c.mode
			if c.retryPatterns {
				pattern, err := linematch.Parse("x")
				if err != nil {
					t.Fatal(err)
				}
				p.Rules.Stderr.On = []*linematch.Pattern{pattern}
			}
			d := Decide(&p, State{Attempt: 1, Place: Place{Step: 1}}, c.result, c.evidence, time.Unix(0, 0), 0)
			got := string(d.Outcome)
			if d.Retry {
				got = "retry"
			} else if d.Accepted {
				got = "accept"
			}
			if got != c.want || d.End != (End{c.code, c.signal}) {
				t.Errorf("got %s ending with %+v, want %s with code %d signal %q", got, d.End, c.want, c.code, c.signal)
			}
			if d.Accepted == (d.Verdict != "") {
				t.Errorf("accepted %v with verdict %q", d.Accepted, d.Verdict)
			}
			if !d.Accepted && d.Reason == "" {
				t.Error("no reason is given")
			}
		})
	}
}

func TestDecideWaitsAndLimits(t *testing.T) {
	start := time.Unix(1000, 0)
	for _, c := range []struct {
		name   string
		change func(*Policy, *State, *attempt.Result)
		want   event.Outcome // "" for a retry
		wait   time.Duration
	}{
		{"first wait", func(*Policy, *State, *attempt.Result) {}, "", time.Second},
		{"third wait", func(_ *Policy, s *State, _ *attempt.Result) { s.Attempt, s.Step = 3, 3 }, "", 4 * time.Second},
		{"last attempt", func(_ *Policy, s *State, _ *attempt.Result) { s.Attempt = 5 }, event.Exhausted, 0},
		{"unlimited", func(p *Policy, s *State, _ *attempt.Result) {
			p.Attempts, s.Attempt, s.Step = 0, math.MaxInt32, math.MaxInt32
		}, "", 30 * time.Second},
		{"ends at the deadline", func(_ *Policy, s *State, _ *attempt.Result) { s.Deadline = start.Add(time.Second) },
			"", time.Second},
		{"would pass the deadline", func(_ *Policy, s *State, _ *attempt.Result) {
			s.Deadline = start.Add(time.Second - 1)
		}, event.Deadline, 0},
		{"another success would pass the deadline", func(p *Policy, s *State, r *attempt.Result) {
			*r, p.Consecutive, s.Deadline = exit0, 2, start.Add(time.Second-1)
		}, event.Deadline, 0},
		{"until a failure, no time is left", func(p *Policy, s *State, r *attempt.Result) {
			*r, p.UntilFailure, s.Deadline = exit0, true, start.Add(time.Second-1)
		}, event.Succeeded, 0},
		{"long run resets", func(p *Policy, s *State, r *attempt.Result) {
			p.ResetAfter, s.Step, r.Duration = time.Minute, 4, time.Minute
		}, "", time.Second},
		{"short run does not", func(p *Policy, s *State, r *attempt.Result) {
			p.ResetAfter, s.Step, r.Duration = time.Minute, 4, time.Minute-1
		}, "", 8 * time.Second},
		{"floor", func(p *Policy, _ *State, _ *attempt.Result) { p.Schedule.MinDelay = 3 * time.Second }, "",
			3 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, s, r := testPolicy(), State{Attempt: 1, Place: Place{Step: 1}}, exit1
			c.change(&p, &s, &r)
			d := Decide(&p, s, r, Evidence{}, start, 0)
			if d.Retry != (c.want == "") || !d.Retry && d.Outcome != c.want || d.Retry && d.Jittered != c.wait {
				t.Errorf("retry %v wait %v outcome %q, want wait %v outcome %q", d.Retry, d.Jittered, d.Outcome,
					c.wait, c.want)
			}
			if d.Retry && d.Next.Attempt != s.Attempt+1 {
				t.Errorf("next attempt is %d", d.Next.Attempt)
			}
		})
	}
}

func TestDecideHints(t *testing.T) {
	now := time.Unix(1000, 0)
	for _, c := range []struct {
		name, stderr string
		u            float64
		deadline     time.Duration
		want         event.Outcome // "" for a retry
		wait         time.Duration
	}{
		{"the hint itself", "< Retry-After: 7\n", 0, 0, "", 7 * time.Second},
		{"jitter on top, never earlier", "< Retry-After: 7\n", 0.5, 0, "", 7500 * time.Millisecond},
		{"beyond the cap", "< Retry-After: 120\n", 0, 0, "", 120 * time.Second},
		{"beyond --max-hint", "< Retry-After: 301\n", 0, 0, event.Stopped, 0},
		{"past the deadline", "< Retry-After: 60\n", 0, 30 * time.Second, event.Deadline, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, s := testPolicy(), State{Attempt: 1, Place: Place{Step: 1}}
			p.Rules.Hints.Use = true
			if c.deadline > 0 {
				s.Deadline = now.Add(c.deadline)
			}
			d := Decide(&p, s, exit1, Evidence{Stderr: []byte(c.stderr)}, now, c.u)
			if !d.HasHint || d.Retry != (c.want == "") || !d.Retry && d.Outcome != c.want || d.Retry &&
				d.Jittered != c.wait {
				t.Errorf("hint %v, retry %v wait %v outcome %q (%s)", d.HasHint, d.Retry, d.Jittered, d.Outcome, d.Why)
			}
		})
	}
}

func TestDecideDrawsStayWithinTheCap(t *testing.T) {
	p := testPolicy()
	p.Attempts, p.Schedule.Jitter = 0, backoff.Jitter{Kind: backoff.Full}
	s := State{Attempt: 1, Place: Place{Step: 1}}
	for range 200 {
		d := Decide(&p, s, exit1, Evidence{}, time.Unix(0, 0), math.Nextafter(1, 0))
		if !d.Retry || d.Jittered > d.Delay || d.Delay > p.Schedule.Cap {
			t.Fatalf("attempt %d: %+v", s.Attempt, d)
		}
		s = d.Next
	}
}

func TestReasonsAreOneLineAndNameWhatHappened(t *testing.T) {
	for _, c := range []struct {
		result attempt.Result
		want   string
	}{
		{exit1, "exit 1"}, {killed, "killed by KILL, by a person or for want of memory"},
		{attempt.Result{ExitCode: 137, Signal: "SIGKILL", OOMKills: 2},
			"killed by KILL; the kernel has killed 2 processes of this control group for want of memory"},
		{timedOut, "timed out"}, {notFound, "not found"},
		{attempt.Result{ExitCode: 1, Note: "connection refused"}, "connection refused"},
	} {
		if got := describe(c.result); !strings.Contains(got, c.want) || strings.Contains(got, "\n") {
			t.Errorf("describe(%+v) = %q, want %q in it", c.result, got, c.want)
		}
	}
}
