package message

import (
	"strings"
	"testing"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/event"
)

func TestFailureSaysResultAndNextWaitFirst(t *testing.T) {
	h := event.Header{Attempt: 2, MaxAttempts: 5}
	next := &event.RetryScheduled{Wait: event.Wait{Delay: 2 * time.Second, Jittered: 850 * time.Millisecond}}
	hinted := &event.RetryScheduled{Wait: event.Wait{Jittered: 7 * time.Second, HasHint: true, Hint: 6 * time.Second}}
	ran := attempt.Result{Duration: 13 * time.Millisecond}
	for _, c := range []struct {
		e       event.AttemptFinished
		next    *event.RetryScheduled
		verbose bool
		want    string
	}{
		{event.AttemptFinished{Header: h, Result: ran, Judgement: event.Judgement{Ended: "exit 7"}}, nil, false,
			"attempt 2 of 5 failed|after 13ms: exit 7"},
		{event.AttemptFinished{Header: h, Result: ran, Judgement: event.Judgement{Ended: "exit 7"}}, next, false,
			"attempt 2 of 5 failed|after 13ms: exit 7; next try in 850ms"},
		{event.AttemptFinished{Header: h, Result: ran,
			Judgement: event.Judgement{Ended: "exit 7", Known: "not connected", Rule: "curl-connect", ByRule: true}},
			next, true, "attempt 2 of 5 failed|after 13ms: exit 7; next try in 850ms (2s before jitter): not " +
				"connected [curl-connect]"},
		{event.AttemptFinished{Header: event.Header{Attempt: 9}, Result: ran,
			Judgement: event.Judgement{Ended: "exit 22", Known: "limited", Rule: "http-429", ByRule: true}}, hinted,
			true, "attempt 9 failed|after 13ms: exit 22; next try in 7s (it asked for 6s): limited [http-429]"},
		{event.AttemptFinished{Header: h, Result: ran, Judgement: event.Judgement{Reason: "x"}}, nil, false,
			"attempt 2 of 5 failed|after 13ms: x"},
	} {
		title, text := failure(&c.e, c.next, c.verbose)
		if got := title + "|" + text; got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

// The verdict stands between asterisks.
func TestEndNamesTheCodeAndTheCause(t *testing.T) {
	h := event.Header{Elapsed: 2300 * time.Millisecond}
	npm := []string{"npm", "ci"}
	for want, e := range map[string]event.RunFinished{
		"*succeeded* after 2 attempts of npm ci in 2.3s": {Attempts: 2,
			Ending: event.Ending{Outcome: event.Succeeded}},
		"*succeeded* after 2 attempts of npm ci in 2.3s, with exit code 9": {Attempts: 2,
			ExitCode: 9, Ending: event.Ending{Outcome: event.Succeeded}},
		"npm ci *failed with exit 7* and was not retried": {Attempts: 1,
			ExitCode: 7, Ending: event.Ending{Outcome: event.Exhausted, Judgement: event.Judgement{Ended: "exit 7"}}},
		"npm ci *failed with exit 1* and was not retried: package not found [npm-code]": {Attempts: 1,
			ExitCode: 1, Ending: event.Ending{Outcome: event.Stopped,
				Judgement: event.Judgement{Ended: "exit 1", Known: "package not found", Rule: "npm-code",
					ByRule: true}}},
		"npm ci *failed with exit 7* after 3 attempts in 2.3s: not connected": {Attempts: 3,
			ExitCode: 7, Ending: event.Ending{Outcome: event.Exhausted,
				Judgement: event.Judgement{Ended: "exit 7", Known: "not connected", Rule: "x"}}},
		"npm ci *failed with exit 124* after 3 attempts in 2.3s: timed out after 10m [--timeout]": {Attempts: 3,
			ExitCode: 124, Ending: event.Ending{Outcome: event.Exhausted,
				Judgement: event.Judgement{Ended: "timed out after 10m", Rule: "--timeout", ByRule: true}}},
		"npm ci *failed with exit 7* after 3 attempts in 2.3s; too late; do that": {Attempts: 3, ExitCode: 7,
			Ending: event.Ending{Outcome: event.Deadline, Why: "too late", Advice: "do that",
				Judgement: event.Judgement{Ended: "exit 7"}}},
		"npm ci *failed with exit 9* after 3 attempts in 2.3s: exit 7; the fallback failed": {Attempts: 3, ExitCode: 9,
			FallbackExitCode: new(int(9)),
			Ending:           event.Ending{Outcome: event.Exhausted, Judgement: event.Judgement{Ended: "exit 7"}}},
		"cancelled by SIGTERM, after 1 attempt of npm ci in 2.3s, with exit code 143": {Attempts: 1, ExitCode: 143,
			Ending: event.Ending{Outcome: event.Cancelled, Judgement: event.Judgement{Reason: "cancelled by SIGTERM"}}},
		"the fallback *succeeded* after 2 attempts of npm ci in 2.3s: lost": {Attempts: 2,
			FallbackExitCode: new(int), Ending: event.Ending{Outcome: event.Exhausted,
				Judgement: event.Judgement{Known: "lost"}}},
		"*found a failure* after 2 attempts of npm ci in 2.3s with exit code 3": {Attempts: 2, ExitCode: 3,
			Ending: event.Ending{Outcome: event.Stopped, Found: true, Judgement: event.Judgement{Ended: "exit 3"}}},
		"*no failure* in 9 attempts of npm ci in 2.3s": {Attempts: 9, Hunted: true,
			Ending: event.Ending{Outcome: event.Succeeded}},
		"no slot (npm ci, after 2.3s, exit code 75)": {ExitCode: 75,
			Ending: event.Ending{Outcome: event.Refused, Judgement: event.Judgement{Reason: "no slot"}}},
	} {
		e.Header, e.Command = h, npm
		got, verdict := End(&e)
		if verdict != "" {
			got = strings.Replace(got, verdict, "*"+verdict+"*", 1)
		}
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestLimitsReadAsTheyAreTyped(t *testing.T) {
	for d, want := range map[time.Duration]string{
		time.Second: "1s", 10 * time.Minute: "10m", 2 * time.Hour: "2h", 90 * time.Second: "1m30s",
		500 * time.Millisecond: "500ms", 0: "0s", time.Hour + time.Minute: "1h1m",
	} {
		if got := Limit(d); got != want {
			t.Errorf("Limit(%v) = %q, want %q", d, got, want)
		}
	}
}

func FuzzPrintable(f *testing.F) {
	for _, s := range []string{"a\nb", "##[x]", "###", "\x1b[2J", "\u2028", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if p := Printable(s); strings.ContainsAny(p, "\n\r\x1b\x00\u2028\u2029\u202a\u202e\u2066\u2069") ||
			strings.Contains(p, "##") {
			t.Errorf("Printable(%q) = %q", s, p)
		}
	})
}
