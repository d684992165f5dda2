package history

// This file makes a record of a run's events.

import (
	"time"

	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/text"
)

// Recorder collects a run from its events. Its fields are what the events do not
// say.
type Recorder struct {
	ParentRunID, Cwd, Host         string
	Commit, CI                     string
	UntilFailure, Repeat, Redriven bool
	// Tool is the command as rules name it.
	Tool func() string

	record  Record
	started time.Time // of the attempt under way, or of its first copy
	number  int       // of the attempt that is the last in the record
	waiting time.Time // when the wait began that has not ended; zero where there is none
}

// Emit takes note of an event. It returns the record when the run has ended, and
// nil before.
func (r *Recorder) Emit(ev event.Event) *Record {
	switch e := ev.(type) {
	case *event.RunStarted:
		r.record = Record{
			Version: version, Time: e.Time, RunID: e.RunID, ParentRunID: r.ParentRunID, Depth: e.Depth, Name: e.Name, Command: text.MaskedArgs(e.Command),
			Cwd: r.Cwd, Key: e.Key, Policy: e.Policy, Commit: r.Commit, CI: r.CI, Host: r.Host,
			UntilFailure: r.UntilFailure, Repeat: r.Repeat, Redriven: r.Redriven,
		}
	case *event.AttemptStarted:
		if e.Copy == 0 {
			r.started = e.Time
		}
	case *event.AttemptFinished:
		r.finished(e)
	case *event.RetryScheduled:
		if n := len(r.record.Attempts); n > 0 {
			a := &r.record.Attempts[n-1]
			a.JitteredMS, a.SleptMS, r.waiting = new(text.Milliseconds(e.Jittered)), new(0.0), e.Time
		}
	case *event.RetryWaited:
		r.slept(e.Slept)
	case *event.RunFinished:
		if !r.waiting.IsZero() { // the run ended in the wait
			r.slept(e.Time.Sub(r.waiting))
		}
		r.record.Outcome, r.record.ExitCode, r.record.ElapsedMS = string(e.Outcome), e.ExitCode, text.Milliseconds(e.Elapsed)
		return &r.record
	}
	return nil
}

// finished adds an attempt. Of a hedged one the copy counts that ended last: it
// won, or failed when all had.
func (r *Recorder) finished(e *event.AttemptFinished) {
	result := &e.Result
	r.record.Rehearsed = r.record.Rehearsed || result.Rehearsed
	if result.NotRun {
		return
	}
	a := Attempt{
		ExitCode: result.ExitCode, Signal: string(result.Signal), TimedOut: result.TimedOut || result.DeadlinePassed,
		MS: text.Milliseconds(result.Duration), Success: e.Success,
	}
	if e.Hedged {
		a.MS = text.Milliseconds(e.Time.Sub(r.started))
	}
	if !e.Success {
		a.Verdict, a.Rule, a.Reason = string(e.Verdict), e.Rule, text.OneLine(text.Masked(e.Reason))
		a.FP = Fingerprint(r.Tool(), a.result(), text.Masked(e.Line))
	}
	if n := len(r.record.Attempts); n > 0 && r.number == e.Attempt {
		r.record.Attempts[n-1] = a
		return
	}
	r.number = e.Attempt
	r.record.AttemptCount++
	r.record.Attempts = append(r.record.Attempts, a)
	if n := len(r.record.Attempts); n > 2*mostAttempts { // of an endless run
		kept := append(r.record.Attempts[:mostAttempts/2], r.record.Attempts[n-mostAttempts/2:]...)
		r.record.Attempts, r.record.Cut = kept, true
	}
}

// slept takes note of the end of a wait.
func (r *Recorder) slept(d time.Duration) {
	if n := len(r.record.Attempts); n > 0 {
		r.record.Attempts[n-1].SleptMS = new(text.Milliseconds(d))
	}
	r.record.WaitedMS += text.Milliseconds(d)
	r.waiting = time.Time{}
}
