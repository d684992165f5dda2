package engine

import (
	"testing"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/backoff"
	"github.com/retrysh/retry/engine/classify"
	"github.com/retrysh/retry/engine/event"
)

// Every measured attempt is followed by the next one, whatever came of it; the last
// one says whether any has failed.
func TestDecideRepeat(t *testing.T) {
	now := time.Now()
	p := &Policy{Attempts: 3, Repeat: true, Schedule: backoff.Schedule{Base: time.Second},
		Rules: Rules{Table: classify.BuiltIn}}
	p.Rules.StopOnExit, _ = classify.ParseExits("7")
	for name, c := range map[string]struct {
		attempt, failures int
		deadline          time.Time
		result            attempt.Result
		retry             bool
		outcome           event.Outcome
		code              int
	}{
		"a success":             {attempt: 1, retry: true},
		"a failure":             {attempt: 1, result: attempt.Result{ExitCode: 1}, retry: true},
		"one that a rule stops": {attempt: 1, result: attempt.Result{ExitCode: 7}, retry: true},
		"a timeout":             {attempt: 2, result: attempt.Result{ExitCode: 124, TimedOut: true}, retry: true},
		"a signal": {attempt: 2, result: attempt.Result{ExitCode: 137, Signal: "SIGKILL"},
			retry: true},
		"the last, all passed":     {attempt: 3, outcome: event.Succeeded},
		"the last, one has failed": {attempt: 3, failures: 1, outcome: event.Exhausted, code: 1},
		"the last fails": {attempt: 3, result: attempt.Result{ExitCode: 9}, outcome: event.Exhausted,
			code: 1},
		"not found": {attempt: 1, result: attempt.Result{ExitCode: 127, StartErr: errNotStarted},
			outcome: event.Stopped, code: 127},
		"cancelled": {attempt: 1, result: attempt.Result{ExitCode: 143, Cancelled: "SIGTERM"},
			outcome: event.Cancelled, code: 143},
		"the deadline": {attempt: 1, result: attempt.Result{ExitCode: 124, DeadlinePassed: true},
			outcome: event.Deadline, code: 124},
		"a wait past the deadline": {attempt: 1, deadline: now.Add(time.Millisecond), outcome: event.Deadline,
			code: 124},
		"no wait after the last":     {attempt: 3, deadline: now.Add(time.Millisecond), outcome: event.Succeeded},
		"a wait within the deadline": {attempt: 1, deadline: now.Add(time.Minute), retry: true},
	} {
		d := Decide(p, State{Attempt: c.attempt, Failures: c.failures, Deadline: c.deadline}, c.result, Evidence{},
			now, 0.5)
		if d.Retry != c.retry || !c.retry && (d.Outcome != c.outcome || d.End.Code != c.code) || c.retry &&
			(d.Jittered != time.Second || d.Next.Attempt != c.attempt+1) {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

var errNotStarted = errorText("not found")

type errorText string

func (e errorText) Error() string { return string(e) }
