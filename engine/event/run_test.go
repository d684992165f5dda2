package event

import (
	"testing"
	"time"

	"github.com/retrysh/retry/engine/attempt"
)

func at(second, n int) Header {
	return Header{Time: time.Unix(int64(second), 0), Attempt: n}
}

// TestRun: a hedged attempt is one attempt, whose last copy decides, and a wait belongs to
// the attempt before it.
func TestRun(t *testing.T) {
	var r Run
	for _, e := range []Event{
		&RunStarted{Header: at(0, 0)},
		&AttemptStarted{Header: at(1, 1), Which: Which{Hedged: true}},
		&AttemptStarted{Header: at(2, 1), Which: Which{Hedged: true, Copy: 1}},
		&AttemptFinished{Header: at(3, 1), Which: Which{Hedged: true}},
	} {
		r.Add(e)
	}
	if r.Running() == nil || r.Failure != nil || r.Attempt() != 1 || len(r.Tries) != 1 || r.Ended != 1 {
		t.Errorf("while a copy runs: %+v", r)
	}
	failed := &AttemptFinished{Header: at(4, 1), Which: Which{Hedged: true, Copy: 1}}
	r.Add(failed)
	r.Add(&RetryScheduled{Header: at(4, 1)})
	if r.Running() != nil || r.Failure != failed || r.Attempts[0].Result != failed || r.Ended != 1 {
		t.Errorf("when both have failed: %+v", r)
	}
	if r.Tries[0].Started != time.Unix(1, 0) || r.Tries[1].Started != time.Unix(2, 0) {
		t.Errorf("the copies started at %v and %v", r.Tries[0].Started, r.Tries[1].Started)
	}
	r.Add(&RetryWaited{Header: at(6, 1), Slept: 2 * time.Second})
	r.Add(&AttemptStarted{Header: at(6, 2)})
	r.Add(&AttemptFinished{Header: at(7, 2), Success: true})
	r.Add(&RetryScheduled{Header: at(7, 2)})
	r.Add(&RunFinished{Header: at(8, 2)})
	if a := r.Attempts; r.Waits != 2 || r.Waited != 2*time.Second || *a[0].Slept != 2*time.Second ||
		a[1].Wait == nil || a[1].Slept != nil {
		t.Errorf("the waits: %+v", r)
	}
	if r.FirstFailed != time.Unix(3, 0) || r.LastFailed != time.Unix(4, 0) || r.Failure != failed || r.End == nil {
		t.Errorf("the end: %+v", r)
	}
}

// TestRunWaits: a wait has an end from its beginning to that end, also one that precedes
// attempt 1.
func TestRunWaits(t *testing.T) {
	var r Run
	for i, step := range []struct {
		event   Event
		until   int64
		between bool
	}{
		{&RunStarted{Header: at(0, 0)}, 0, true},
		{&InitialWait{Header: at(1, 0), Wait: 2 * time.Second}, 3, true},
		{&InitialWaited{Header: at(3, 0)}, 0, true},
		{&AttemptStarted{Header: at(3, 1)}, 0, false},
		{&AttemptFinished{Header: at(4, 1)}, 0, false},
		{&RetryScheduled{Header: at(4, 1), Wait: Wait{Jittered: 5 * time.Second}}, 9, true},
		{&RetryWaited{Header: at(9, 1), Slept: 5 * time.Second}, 0, true},
		{&AttemptStarted{Header: at(9, 2)}, 0, false},
	} {
		r.Add(step.event)
		if ends := !r.Until.IsZero(); ends != (step.until > 0) || ends && r.Until.Unix() != step.until ||
			r.Between() != step.between {
			t.Errorf("step %d, %T: until %v, between attempts %t", i, step.event, r.Until, r.Between())
		}
	}
	if r.Length != 5*time.Second {
		t.Errorf("the wait took %v", r.Length)
	}
}

// TestRunIsBounded: of an endless run the first and the last attempts are kept.
func TestRunIsBounded(t *testing.T) {
	var r Run
	const n = 10_000
	for i := 1; i <= n; i++ {
		r.Add(&AttemptStarted{Header: at(i, i)})
		r.Add(&AttemptFinished{Header: at(i, i), Result: attempt.Result{ExitCode: 1}})
	}
	if len(r.Attempts) > mostAttempts || len(r.Tries) > 2*lastAttempts || r.Ended != n || len(r.open) != 0 {
		t.Errorf("%d attempts, %d tries, %d open", len(r.Attempts), len(r.Tries), len(r.open))
	}
	tail := r.Attempts[len(r.Attempts)-lastAttempts:]
	if r.Attempts[firstAttempts-1].Number != firstAttempts || tail[0].Number != n-lastAttempts+1 {
		t.Errorf("attempt %d and attempt %d", r.Attempts[firstAttempts-1].Number, tail[0].Number)
	}
}
