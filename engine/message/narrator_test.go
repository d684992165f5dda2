package message

import (
	"slices"
	"testing"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/event"
)

// told are the lines for events, but for details, as a sink gets them.
func told(events ...event.Event) (lines []string) {
	n := Narrator{Run: new(event.Run)}
	for _, e := range slices.Concat([]event.Event{&event.RunStarted{BareTimeout: "5"}}, events) {
		e.Head().MaxAttempts = 3
		n.Run.Add(e)
		for _, l := range n.Tell(e) {
			if l.Level > Detail {
				lines = append(lines, l.String())
			}
		}
	}
	return lines
}

func head(attempt int) event.Header { return event.Header{Attempt: attempt} }

func failed(n int, r attempt.Result) *event.AttemptFinished {
	return &event.AttemptFinished{Header: head(n), Result: r, Judgement: event.Judgement{Ended: "it"}}
}

// A failure is told once, with the first of what follows it; what the number of -t means is told
// with the first timeout alone.
func TestAFailureIsToldOnce(t *testing.T) {
	late := attempt.Result{TimedOut: true}
	wait := &event.RetryScheduled{Header: head(1), Wait: event.Wait{Jittered: time.Second}}
	end := &event.RunFinished{Header: head(2), Command: []string{"x"}, Attempts: 2, ExitCode: 1,
		Ending: event.Ending{Outcome: event.Exhausted, Judgement: event.Judgement{Ended: "it"}}}
	hedged := func(copy int) event.Which { return event.Which{Hedged: true, Copy: copy} }
	copies := []event.Event{
		&event.AttemptStarted{Header: head(2), Which: hedged(0)},
		&event.AttemptStarted{Header: head(2), Which: hedged(1)},
		&event.AttemptFinished{Header: head(2), Which: hedged(1), Judgement: event.Judgement{Ended: "one"}},
		&event.AttemptFinished{Header: head(2), Which: hedged(0), Judgement: event.Judgement{Ended: "two"}},
	}
	const (
		first   = "attempt 1 of 3 failed after 0s: it; next try in 1s"
		meaning = " (-t 5 limits one attempt to 5 s; -n 5 is the number of attempts)"
		last    = "x failed with exit 1 after 2 attempts in 0s: it"
	)
	for name, c := range map[string]struct {
		events []event.Event
		want   []string
	}{
		"two timeouts": {[]event.Event{
			&event.AttemptStarted{Header: head(1)}, failed(1, late), wait,
			&event.AttemptStarted{Header: head(2)}, failed(2, late), end,
		}, []string{first + meaning, "attempt 2 of 3 failed after 0s: it", last}},
		"before a hook": {[]event.Event{
			&event.AttemptStarted{Header: head(2)}, failed(2, attempt.Result{}), &event.HookStarted{Hook: "h"}, end,
		}, []string{"attempt 2 of 3 failed after 0s: it", last}},
		"before output that was kept": {slices.Concat(copies, []event.Event{
			&event.Concluding{Header: head(2), Ending: end.Ending},
		}), []string{"attempt 2 of 3 failed after 0s: two"}},
		"not of an attempt that succeeded after it": {[]event.Event{
			&event.AttemptStarted{Header: head(1)}, failed(1, attempt.Result{}), wait,
			&event.AttemptStarted{Header: head(2)}, &event.AttemptFinished{Header: head(2), Success: true},
			&event.HookStarted{Hook: "h"},
		}, []string{first}},
		"not without a reader": {[]event.Event{
			&event.AttemptStarted{Header: head(2)}, failed(2, attempt.Result{ReaderGone: true}),
			&event.HookStarted{Hook: "h"},
		}, nil},
	} {
		if got := told(c.events...); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%q; want\n%q", name, got, c.want)
		}
	}
}
