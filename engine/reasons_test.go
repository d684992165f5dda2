package engine

// This file holds what a decision says beside what follows: reasons, advice, and what the
// rules know.

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/backoff"
	"github.com/retrysh/retry/engine/classify"
	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/linematch"
)

// TestHowAnAttemptEnded holds the words for each end of an attempt.
func TestHowAnAttemptEnded(t *testing.T) {
	for want, r := range map[string]attempt.Result{
		"exit 0": {}, "exit 7": {ExitCode: 7}, "killed by SIGTERM": {ExitCode: 143, Signal: "SIGTERM"},
		"timed out":            {ExitCode: 124, TimedOut: true},
		"timed out after 1.5s": {ExitCode: 124, TimedOut: true, Limit: 1500 * time.Millisecond},
		"timed out after 1h without output": {ExitCode: 124, TimedOut: true, Idle: true, Limit: time.Hour,
			Signal: "SIGKILL"},
		`"x --token=xxxxx": not found`: {ExitCode: 127, StartErr: errors.New(`"x --token=secret": not found`)},
		"connection refused":           {ExitCode: 1, Note: "connection refused"},
		"killed by KILL; the kernel has killed 1 process of this control group for want of memory": {ExitCode: 137,
			Signal: "SIGKILL", OOMKills: 1},
	} {
		if got := describe(r); got != want {
			t.Errorf("%+v: %q, not %q", r, got, want)
		}
	}
}

// TestWhatTheRulesKnow holds what a failure that no rule of the user names says in each mode.
func TestWhatTheRulesKnow(t *testing.T) {
	type said struct {
		retry, unnamed, byRule           bool
		verdict                          event.Verdict
		rule, reason, known, why, advice string
	}
	code := func(n int) attempt.Result { return attempt.Result{ExitCode: n} }
	const temporary = "the command reports a temporary failure (75)"
	const usage = "the command reports wrong use, wrong data, missing permission or wrong configuration"
	for _, c := range []struct {
		name   string
		result attempt.Result
		mode   Mode
		onExit string
		want   said
	}{
		{"unknown, any", code(1), Any, "", said{true, false, false, event.Unknown, "", "exit 1", "", "", ""}},
		{"unknown, strict", code(1), Strict, "",
			said{false, false, false, event.Unknown, "", "exit 1", "",
				"--classify strict retries only what is known to be transient", ""}},
		{"transient, any", code(75), Any, "",
			said{true, false, false, event.Transient, "sysexits-tempfail", "exit 75: " + temporary, temporary, "", ""}},
		{"transient, strict", code(75), Strict, "",
			said{true, false, true, event.Transient, "sysexits-tempfail", "exit 75: " + temporary, temporary, "", ""}},
		{"transient, unnamed", code(75), Smart, "7",
			said{false, true, false, event.Transient, "sysexits-tempfail", "exit 75: " + temporary, temporary,
				"no --on-* rule names it", ""}},
		{"a guess, any", code(64), Any, "",
			said{true, false, false, event.Permanent, "sysexits-permanent", "exit 64", "", "",
				"--classify smart would not retry this (" + usage + ")"}},
		{"a guess, smart", code(64), Smart, "",
			said{false, false, true, event.Permanent, "sysexits-permanent", "exit 64: " + usage, usage, "", ""}},
		{"a guess, unnamed", code(64), Any, "7",
			said{false, true, false, event.Permanent, "sysexits-permanent", "exit 64", "", "no --on-* rule names it",
				""}},
		{"killed", killed, Smart, "", said{true, false, true, event.Unknown, "signal-kill",
			"killed by KILL, by a person or for want of memory", "", "", ""}},
	} {
		p := testPolicy()
		p.Rules.Mode = c.mode
		p.Rules.OnExit = exits(t, c.onExit)
		d := Decide(&p, p.First(), c.result, Evidence{}, time.Unix(0, 0), 0)
		got := said{d.Retry, d.Unnamed, d.ByRule, d.Verdict, d.Rule, d.Reason, d.Known, d.Why, d.Advice}
		if got != c.want {
			t.Errorf("%s:\n got %+v\nwant %+v", c.name, got, c.want)
		}
	}
}

// TestTheItemOfAMissingCommand is the code or the range that has it retried, not any.
func TestTheItemOfAMissingCommand(t *testing.T) {
	p := testPolicy()
	p.Rules.OnExit = exits(t, "any,KILL,120-127")
	if d := Decide(&p, p.First(), notFound, Evidence{}, time.Unix(0, 0), 0); d.Rule != "--on-exit 120-127" {
		t.Errorf("rule %q", d.Rule)
	}
}

// TestTheLineOfAKnownFailure is the one that the rule has matched, not the last.
func TestTheLineOfAKnownFailure(t *testing.T) {
	p := testPolicy()
	e := Evidence{Stderr: []byte("dial tcp 10.0.0.7:443: connect: connection refused\nsee the manual\n")}
	d := Decide(&p, State{Attempt: 1, Place: Place{Step: 1}, Argv: []string{"app"}}, exit1, e, time.Unix(0, 0), 0)
	if d.Line != "dial tcp 10.0.0.7:443: connect: connection refused" || d.Rule == "" {
		t.Errorf("line %q by rule %q", d.Line, d.Rule)
	}
	d = Decide(&p, State{Attempt: 1, Place: Place{Step: 1}, Argv: []string{"other"}}, attempt.Result{ExitCode: 6},
		Evidence{Stderr: []byte("see the manual --token=secret\n")}, time.Unix(0, 0), 0)
	if d.Line != "see the manual --token=xxxxx" {
		t.Errorf("line %q", d.Line)
	}
}

// TestSuccessesInARow holds what follows a success if more are needed, and how a run that had
// failures before ends.
func TestSuccessesInARow(t *testing.T) {
	now := time.Unix(1000, 0)
	for name, c := range map[string]struct {
		change  func(p *Policy, s *State)
		retry   bool
		outcome event.Outcome
		why     string
		end     End
	}{
		"one is enough": {func(*Policy, *State) {}, false, event.Succeeded, "", End{}},
		"the first of two": {func(p *Policy, _ *State) { p.Consecutive = 2 }, true, event.Succeeded,
			"", End{}},
		"the second of two": {func(p *Policy, s *State) {
			p.Consecutive, s.Successes, s.Attempt = 2, 1, 2
		}, false, event.Succeeded, "", End{}},
		"no attempt for the second": {func(p *Policy, s *State) { p.Consecutive, s.Attempt = 2, 5 }, false,
			event.Exhausted, "1 of 2 successes in a row", End{Code: 1}},
		"no limit of attempts": {func(p *Policy, s *State) {
			p.Consecutive, p.Attempts, s.Attempt = 2, 0, 999
		}, true, event.Succeeded, "", End{}},
		"the last but one attempt": {func(p *Policy, s *State) { p.Consecutive, s.Attempt = 2, 4 }, true,
			event.Succeeded, "", End{}},
		"no time for the second": {func(p *Policy, s *State) {
			p.Consecutive, s.Deadline = 2, now.Add(time.Second-1)
		}, false, event.Deadline, "a wait of 1s would pass the deadline", End{Code: 1}},
		"just time for the second": {func(p *Policy, s *State) {
			p.Consecutive, s.Deadline = 2, now.Add(time.Second)
		}, true, event.Succeeded, "", End{}},
		"after a failure": {func(p *Policy, s *State) { p.FlakyExit, s.Failures = 7, 1 }, false,
			event.Succeeded, "", End{Code: 7}},
		"without one": {func(p *Policy, s *State) { p.FlakyExit = 7 }, false, event.Succeeded,
			"", End{}},
		"until a failure, the last attempt": {func(p *Policy, s *State) {
			p.UntilFailure, p.FlakyExit, s.Attempt, s.Failures = true, 7, 5, 1
		}, false, event.Succeeded, "", End{}},
		"until a failure, another attempt": {func(p *Policy, s *State) { p.UntilFailure = true }, true,
			event.Succeeded, "", End{}},
	} {
		p := testPolicy()
		p.Consecutive = 1
		s := p.First()
		c.change(&p, &s)
		d := Decide(&p, s, exit0, Evidence{}, now, 0)
		if !d.Accepted || d.Retry != c.retry || d.Outcome != c.outcome || d.Why != c.why || d.End != c.end ||
			d.NotYet != c.retry {
			t.Errorf("%s: %+v", name, d)
		}
		if d.Retry && (d.Jittered != time.Second || d.Next.Attempt != s.Attempt+1 || d.Next.Successes != s.Successes+
			1 || d.Next.Place != s.Place) {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

// TestAFoundFailure ends a run that looks for one, whatever a rule says of it.
func TestAFoundFailure(t *testing.T) {
	for name, c := range map[string]struct {
		result  attempt.Result
		mode    Mode
		found   bool
		outcome event.Outcome
		code    int
	}{
		"one that would be retried":     {exit1, Any, true, event.Stopped, 1},
		"one that a guess advises of":   {attempt.Result{ExitCode: 64}, Any, true, event.Stopped, 64},
		"one that would not be retried": {exit1, Strict, true, event.Stopped, 1},
		"no command":                    {notFound, Any, false, event.Stopped, 127},
		"the deadline":                  {late, Any, false, event.Deadline, 124},
		"a signal":                      {cancelledBy(exit1, "SIGTERM"), Any, false, event.Cancelled, 1},
	} {
		p := testPolicy()
		p.UntilFailure, p.Rules.Mode = true, c.mode
		d := Decide(&p, p.First(), c.result, Evidence{}, time.Unix(0, 0), 0)
		if d.Retry || d.Found != c.found || d.Outcome != c.outcome || d.End.Code != c.code || d.Advice != "" {
			t.Errorf("%s: %+v", name, d)
		}
	}
	p := testPolicy()
	gone := attempt.Result{ExitCode: 141, Signal: "SIGPIPE", ReaderGone: true}
	for cancelled, want := range map[attempt.Signal]bool{"": true, "SIGTERM": false} {
		if d := Decide(&p, p.First(), cancelledBy(gone, cancelled), Evidence{}, time.Unix(0, 0),
			0); d.ReaderGone != want {
			t.Errorf("cancelled by %q, and the reader is gone: %+v", cancelled, d)
		}
	}
}

// TestUnusedTime: the default number of attempts is told of if most of the deadline is left.
func TestUnusedTime(t *testing.T) {
	const advice = "the default of 5 attempts left 31s of --deadline 1m unused; -n 0 has no limit of attempts"
	for name, c := range map[string]struct {
		byDefault bool
		deadline  time.Duration
		left      time.Duration
		want      string
	}{
		"more than half":      {true, time.Minute, 31 * time.Second, advice},
		"half":                {true, time.Minute, 30 * time.Second, ""},
		"no deadline":         {true, 0, 31 * time.Second, ""},
		"attempts were asked": {false, time.Minute, 31 * time.Second, ""},
	} {
		p := testPolicy()
		p.ByDefault, p.Deadline = c.byDefault, c.deadline
		now := time.Unix(1000, 0)
		s := State{Attempt: 5, Place: Place{Step: 5}, Deadline: now.Add(c.left)}
		if d := Decide(&p, s, exit1, Evidence{}, now, 0); d.Outcome != event.Exhausted || d.Advice != c.want {
			t.Errorf("%s: %q", name, d.Advice)
		}
		p.Consecutive = 2
		if d := Decide(&p, s, exit0, Evidence{}, now, 0); d.Outcome != event.Exhausted || d.Advice != c.want {
			t.Errorf("%s, a success: %q", name, d.Advice)
		}
	}
	p := testPolicy()
	p.ByDefault, p.Deadline = true, time.Minute
	now := time.Unix(1000, 0)
	d := Decide(&p, State{Attempt: 5, Place: Place{Step: 5}, Deadline: now.Add(31 * time.Second)},
		attempt.Result{ExitCode: 64}, Evidence{}, now, 0)
	if want := "--classify smart would not retry this (the command reports wrong use, wrong data, missing " +
		"permission or wrong configuration); " + advice; d.Advice != want {
		t.Errorf("%q, not %q", d.Advice, want)
	}
}

// TestLastLooks: a wait that would end at the deadline or after it ends so long before it, and the
// attempt that follows is the last.
func TestLastLooks(t *testing.T) {
	now := time.Unix(1000, 0)
	for name, c := range map[string]struct {
		left, look, wait time.Duration
		last             bool
	}{
		"it ends in time":         {11 * time.Second, 2 * time.Second, 10 * time.Second, false},
		"it ends with a ns left":  {10*time.Second + 1, 2 * time.Second, 10 * time.Second, false},
		"it ends at the deadline": {10 * time.Second, 2 * time.Second, 8 * time.Second, true},
		"it ends after it":        {5 * time.Second, 2 * time.Second, 3 * time.Second, true},
		"less is left":            {time.Second, 2 * time.Second, 0, true},
		"as much is left":         {2 * time.Second, 2 * time.Second, 0, true},
	} {
		p := testPolicy()
		p.Schedule = backoff.Schedule{Curve: backoff.Constant, Base: 10 * time.Second, Cap: time.Minute,
			Jitter: backoff.Jitter{Kind: backoff.None}}
		p.LastLook = c.look
		s := p.First()
		s.Deadline = now.Add(c.left)
		d := Decide(&p, s, exit1, Evidence{}, now, 0)
		if !d.Retry || d.Jittered != c.wait || d.Next.LastLook != c.last || d.Next.Previous != 10*time.Second {
			t.Errorf("%s: %+v", name, d)
		}
		s.LastLook = true
		if d = Decide(&p, s, exit1, Evidence{}, now, 0); d.Retry || d.Outcome != event.Deadline ||
			d.Why != "this was the last look before the deadline" {
			t.Errorf("%s, after it: %+v", name, d)
		}
		p.LastLook, s.LastLook = 0, false
		if d = Decide(&p, s, exit1, Evidence{}, now, 0); d.Retry != (c.left >= 10*time.Second) {
			t.Errorf("%s, without one: %+v", name, d)
		}
	}
	p := testPolicy()
	if d := DecideRetry(&p, p.First(), now, 0); !d.Retry || d.Jittered != time.Second || d.Next.Attempt != 2 ||
		d.Next.Failures != 1 || d.Next.Step != 2 {
		t.Errorf("%+v", d)
	}
}

// TestHintsAreFound: in the first part of a stream too, in standard error before standard output;
// one that is not plausible is told of.
func TestHintsAreFound(t *testing.T) {
	now := time.Unix(1000, 0)
	header := func(seconds string) []byte { return []byte("< Retry-After: " + seconds + "\n") }
	for name, c := range map[string]struct {
		e       Evidence
		wait    time.Duration
		ok      bool
		ignored string
	}{
		"standard output":      {Evidence{Stdout: header("7")}, 7 * time.Second, true, ""},
		"standard error first": {Evidence{Stdout: header("7"), Stderr: header("8")}, 8 * time.Second, true, ""},
		"the first part": {Evidence{StdoutHead: header("7"), Stdout: []byte("body")}, 7 * time.Second,
			true, ""},
		"the first part of an error": {Evidence{StderrHead: header("9"), Stderr: []byte("body"), Stdout: header("7")},
			9 * time.Second, true, ""},
		"both parts are apart": {Evidence{StderrHead: []byte("< Retry-After: 1"), Stderr: []byte("2\n")},
			time.Second, true, ""},
		"none": {Evidence{Stdout: []byte("body")}, 0, false, ""},
		"one that is not plausible": {Evidence{Stderr: header("99999999999"), Stdout: []byte("x")}, 0, false,
			"Retry-After"},
	} {
		wait, ok, ignored := FindHint(&Hints{Use: true}, c.e, now)
		if ok && wait != c.wait || ok != c.ok || (ignored == "") != (c.ignored == "") ||
			!strings.Contains(ignored, c.ignored) {
			t.Errorf("%s: %v, %v, %q", name, wait, ok, ignored)
		}
		if wait, ok, ignored := FindHint(&Hints{}, c.e, now); wait != 0 || ok || ignored != "" {
			t.Errorf("%s, unasked: %v, %v, %q", name, wait, ok, ignored)
		}
	}
	p, s := testPolicy(), State{Attempt: 1, Place: Place{Step: 1}}
	p.Rules.Hints.Use = true
	if d := Decide(&p, s, exit1, Evidence{Stderr: header("300")}, now, 0); !d.Retry || d.Jittered != 300*time.Second {
		t.Errorf("a hint of --max-hint: %+v", d)
	}
	if d := Decide(&p, s, exit1, Evidence{Stderr: header("301")}, now,
		0); d.Why != "the server asks for a wait of 5m1s, longer than --max-hint 5m0s" {
		t.Errorf("%q", d.Why)
	}
	if d := Decide(&p, State{Attempt: 4, Place: Place{Step: 4}}, exit1, Evidence{Stderr: header("1")}, now,
		0); d.Jittered != 8*time.Second {
		t.Errorf("a hint that is less than the schedule: %v", d.Jittered)
	}
}

// TestEnds holds how the program ends after results that few rows of the table have.
func TestEnds(t *testing.T) {
	for _, c := range []struct {
		name    string
		result  attempt.Result
		outcome event.Outcome
		want    End
	}{
		{"a limit that ended it by a signal", attempt.Result{ExitCode: 124, TimedOut: true, Signal: "SIGTERM"},
			event.Exhausted, End{Code: 124}},
		{"a deadline that ended it by a signal",
			attempt.Result{ExitCode: 124, DeadlinePassed: true, Signal: "SIGTERM"}, event.Deadline, End{Code: 124}},
		{"a signal", killed, event.Exhausted, End{137, "SIGKILL"}},
		{"a slot that was lost", attempt.Result{ExitCode: 143, Signal: "SIGTERM", SlotLost: true}, event.Refused,
			End{Code: 75}},
		{"a guard", attempt.Result{ExitCode: 143, Signal: "SIGTERM"}, event.Refused, End{143, "SIGTERM"}},
		{"a slot that was lost, and a deadline", attempt.Result{ExitCode: 3, SlotLost: true}, event.Deadline,
			End{Code: 3}},
		{"a success that is none", exit0, event.Refused, End{Code: 1}},
	} {
		if got := end(c.result, c.outcome); got != c.want {
			t.Errorf("%s: %+v, not %+v", c.name, got, c.want)
		}
	}
}

// TestWhichStreamsAreRead holds each rule that has a stream read, and each that names what is retried.
func TestWhichStreamsAreRead(t *testing.T) {
	pattern, err := linematch.Parse("x")
	if err != nil {
		t.Fatal(err)
	}
	one := []*linematch.Pattern{pattern}
	for name, c := range map[string]struct {
		rules          Rules
		stdout, stderr bool
		names          bool
	}{
		"nothing":                 {Rules{}, false, false, false},
		"smart":                   {Rules{Mode: Smart}, true, true, false},
		"strict":                  {Rules{Mode: Strict}, true, true, false},
		"standard output for all": {Rules{ReadStdout: true}, true, false, false},
		"standard error for all":  {Rules{ReadStderr: true}, false, true, false},
		"--until-stdout":          {Rules{Stdout: Patterns{Until: one}}, true, false, false},
		"--fail-on-stderr":        {Rules{Stderr: Patterns{FailOn: one}}, false, true, false},
		"--stop-on-stdout":        {Rules{Stdout: Patterns{StopOn: one}}, true, false, false},
		"--on-stderr":             {Rules{Stderr: Patterns{On: one}}, false, true, true},
		"--on-stdout":             {Rules{Stdout: Patterns{On: one}}, true, false, true},
		"--on-exit":               {Rules{OnExit: exits(t, "7")}, false, false, true},
		"two on one stream":       {Rules{Stdout: Patterns{Until: one, FailOn: one}}, true, false, false},
		"two others": {Rules{Stdout: Patterns{StopOn: one, On: one}, OnExit: exits(t, "7"),
			Stderr: Patterns{On: one}}, true, true, true},
		"three of one stream": {Rules{Stdout: Patterns{FailOn: one, StopOn: one, Until: one}}, true, false, false},
	} {
		stdout, stderr := c.rules.Reads()
		if stdout != c.stdout || stderr != c.stderr || c.rules.hasRetryRule() != c.names {
			t.Errorf("%s: standard output %v, standard error %v, names what is retried %v", name, stdout, stderr,
				c.rules.hasRetryRule())
		}
		w := c.rules.NewWatch()
		if (w.Stdout != nil) != c.stdout || (w.Stderr != nil) != c.stderr {
			t.Errorf("%s: %+v", name, w)
		}
	}
}

// evidenceOf watches what is written, a "1" or "2" before each part for the stream.
func evidenceOf(rules *Rules, pauses map[int]time.Duration, parts ...string) Evidence {
	w := rules.NewWatch()
	for i, part := range parts {
		time.Sleep(pauses[i])
		to := w.Stdout
		if part[0] == '2' {
			to = w.Stderr
		}
		if to != nil {
			_, _ = to.Write([]byte(part[1:]))
		}
	}
	return w.Close()
}

// TestWhatPatternsSay: the first rule of a kind that matches is told, with the last line that it
// matched; --until-* needs a line in the stream that it names.
func TestWhatPatternsSay(t *testing.T) {
	rules := Rules{Table: classify.BuiltIn}
	parse := func(text string) *linematch.Pattern {
		p, err := linematch.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	long := strings.Repeat("y", 200)
	rules.Stdout = Patterns{Until: []*linematch.Pattern{parse("up"), parse("ready")},
		FailOn: []*linematch.Pattern{parse("oops"), parse("bad")}}
	rules.Stderr = Patterns{StopOn: []*linematch.Pattern{parse("denied")},
		On: []*linematch.Pattern{parse("nothing"), parse(long), parse("busy")}}
	e := evidenceOf(&rules, nil, "1up\nbad one\nb", "1ad two", "2first busy\nlast busy\ndenied here\nmore "+long)
	if e.Missing != "--until-stdout ready" || e.Fail != "--fail-on-stdout bad" || e.Stop != "--stop-on-stderr denied" {
		t.Errorf("%+v", e)
	}
	if !strings.HasPrefix(e.Retry, "--on-stderr yyy") || len(e.Retry) > len("--on-stderr ")+excerptLimit+8 {
		t.Errorf("%q", e.Retry)
	}
	if e.failLine != "bad two" || e.stopLine != "denied here" || e.retryLine != "more "+long {
		t.Errorf("%q, %q, %q", e.failLine, e.stopLine, e.retryLine)
	}
	d := Decision{}
	for rule, want := range map[string]string{"": "bad two", e.Stop: "denied here", e.Retry: "more " + long} {
		d.Rule = rule
		if got := e.line(&d); got != want {
			t.Errorf("the line of %q: %q, not %q", rule, got, want)
		}
	}
	if e = evidenceOf(&rules, nil, "1ready\nup\n"); e.Missing != "" || e.Fail != "" || e.Stop != "" || e.Retry != "" {
		t.Errorf("%+v", e)
	}
}

// TestWhatIsKeptOfOutput: the last part, the first part if that is not in the last, and how much of
// each stream came when.
func TestWhatIsKeptOfOutput(t *testing.T) {
	rules := Rules{ReadStdout: true, ReadStderr: true}
	for size, head := range map[int]int{0: 0, 100: 0, classify.TailSize: 0, classify.TailSize + 1: headSize,
		3 * classify.TailSize: headSize} {
		text := strings.Repeat("0123456789", size/10+1)[:size]
		e := evidenceOf(&rules, nil, "1"+text[:size/3], "1"+text[size/3:])
		if string(e.Stdout) != text[max(0, size-classify.TailSize):] || string(e.StdoutHead) != text[:head] ||
			len(e.StderrHead) > 0 {
			t.Errorf("of %d bytes: %d, and %d at the begin", size, len(e.Stdout), len(e.StdoutHead))
		}
	}
	if e := evidenceOf(&rules, nil, "1"+strings.Repeat("x", headSize-1),
		"1yz"+strings.Repeat("x", classify.TailSize)); !strings.HasSuffix(string(e.StdoutHead), "xy") ||
		len(e.StdoutHead) != headSize {
		t.Errorf("%d bytes at the begin", len(e.StdoutHead))
	}
}
