package history

// This file makes a record of a run.

import (
	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/text"
)

// Recorder says of a run what its events do not say.
type Recorder struct {
	ParentRunID, Cwd, Host         string
	Commit, CI                     string
	UntilFailure, Repeat, Redriven bool
	// Tool is the command as rules name it.
	Tool func() string
}

// Record makes the record of a run that has ended.
func (r *Recorder) Record(run *event.Run) *Record {
	start, end := run.Start, run.End
	all := &Record{
		Version: version, Time: Moment{start.Time}, RunID: start.RunID, ParentRunID: r.ParentRunID, Depth: start.Depth,
		Name: start.Name, Command: text.MaskedArgs(start.Command), Cwd: r.Cwd, Key: start.Key, Policy: start.Policy,
		Outcome: string(end.Outcome), ExitCode: end.ExitCode, AttemptCount: run.Ended,
		ElapsedMS: text.Milliseconds(end.Elapsed),
		Commit:    r.Commit, CI: r.CI, Host: r.Host,
		UntilFailure: r.UntilFailure, Repeat: r.Repeat, Rehearsed: run.Rehearsed, Redriven: r.Redriven,
	}
	waited := run.Waited
	for i := range run.Attempts {
		a := &run.Attempts[i]
		if a.Result == nil || a.Result.Result.NotRun {
			continue
		}
		line := r.attempt(a)
		if w := a.Wait; w != nil {
			slept := end.Time.Sub(w.Time) // the run ended in the wait
			if a.Slept != nil {
				slept = *a.Slept
			} else {
				waited += slept
			}
			line.JitteredMS, line.SleptMS = new(text.Milliseconds(w.Jittered)), new(text.Milliseconds(slept))
		}
		all.Attempts = append(all.Attempts, line)
	}
	all.WaitedMS = text.Milliseconds(waited)
	return all
}

// attempt is an attempt as it is kept.
func (r *Recorder) attempt(of *event.Attempt) Attempt {
	e := of.Result
	result := &e.Result
	a := Attempt{
		ExitCode: result.ExitCode, Signal: string(result.Signal), TimedOut: result.TimedOut || result.DeadlinePassed,
		MS: text.Milliseconds(result.Duration), Success: e.Success,
	}
	if e.Hedged {
		a.MS = text.Milliseconds(e.Time.Sub(of.Started))
	}
	if !e.Success {
		a.Verdict = string(e.Verdict)
		a.Rule = e.Rule
		a.Reason = text.OneLine(text.Masked(e.Reason))
		a.FP = Fingerprint(r.Tool(), a.result(), text.Masked(e.Line))
	}
	return a
}
