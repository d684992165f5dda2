package message

import (
	"testing"
	"time"

	"github.com/retrysh/retry/engine/event"
)

func TestCountdownSaysWhatComesAfterTheWait(t *testing.T) {
	h := event.Header{Attempt: 1, MaxAttempts: 3}
	for want, e := range map[string]event.Event{
		"first try in 2s":                      &event.InitialWait{Wait: 5 * time.Second},
		"attempt 2 of 3 in 2s":                 &event.RetryScheduled{Header: h, Wait: event.Wait{Jittered: 5 * time.Second}},
		"waiting for a slot (2s left): 1 of 1": &event.SlotPending{Reason: "1 of 1", Left: 5 * time.Second},
		"waiting for its turn (in 2s): --rate": &event.SlotPending{Turn: true, Reason: "--rate", Left: 5 * time.Second},
	} {
		if lasts, text := Countdown(e); lasts != 5*time.Second || text("2s") != want {
			t.Errorf("%v, %q; not 5s, %q", lasts, text("2s"), want)
		}
	}
	if _, text := Countdown(&event.RetryWaited{}); text != nil {
		t.Errorf("the end of a wait has %q", text("2s"))
	}
}

func TestRunningNamesTheLimitThatComesNext(t *testing.T) {
	start := time.Unix(1e9, 0)
	h := event.Header{Time: start, Attempt: 2, MaxAttempts: 5}
	in := func(s int) time.Time { return start.Add(time.Duration(s) * time.Second) }
	for _, c := range []struct {
		e        event.AttemptStarted
		deadline time.Time
		ran      int
		want     string
	}{
		{event.AttemptStarted{Header: h}, time.Time{}, 0, "attempt 2 of 5 runs"},
		{event.AttemptStarted{Header: h}, time.Time{}, 65, "attempt 2 of 5 runs: 1m5s"},
		{event.AttemptStarted{Header: h}, in(9), 2, "attempt 2 of 5 runs: 2s, deadline in 7s"},
		{event.AttemptStarted{Header: h, Timeout: 5 * time.Second}, in(9), 2, "attempt 2 of 5 runs: 2s, timeout in 3s"},
		{event.AttemptStarted{Header: h, Timeout: time.Minute}, in(9), 2, "attempt 2 of 5 runs: 2s, deadline in 7s"},
		{event.AttemptStarted{Header: h, Timeout: 5 * time.Second}, time.Time{}, 7, "attempt 2 of 5 runs: 7s"},
		{event.AttemptStarted{Header: h, Repeats: true, Failed: 1}, time.Time{}, 1, "2 of 5, 1 failed: 1s"},
	} {
		if got := Running(&c.e, c.deadline, in(c.ran)); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}
