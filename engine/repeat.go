package engine

// This file counts how often a command fails (--repeat, docs/flaky.md). The next attempt
// follows any result.

import (
	"slices"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/statistics"
	"github.com/retrysh/retry/exitcodes"
)

// measures reports whether the result counts: the command was run, and nothing but its own
// limits ended it.
func measures(r *attempt.Result) bool {
	return r.Err == nil && r.StartErr == nil && r.Cancelled == "" && !r.ReaderGone && !r.DeadlinePassed && !r.NotRun
}

// repeat decides what follows a measured attempt: the next one after base, or the end.
func repeat(d *Decision, p *Policy, s State, r *attempt.Result, now time.Time) {
	d.Retry = false
	d.Advice, d.Why = "", ""
	if !measures(r) {
		if d.NotStarted {
			d.Outcome = event.Stopped
		}
		d.End = end(*r, d.Outcome)
		return
	}
	if !d.Accepted {
		s.Failures++
	}
	wait := p.Schedule.Base
	switch more := s.Attempt < p.Attempts; {
	case more && !s.late(wait, now):
		d.follow(wait, s)
	case more:
		giveUp(d, event.Deadline, passing(wait))
		d.End = End{Code: exitcodes.Timeout}
	case s.Failures > 0:
		d.Outcome, d.End = event.Exhausted, End{Code: exitcodes.Rejected}
	}
}

// measure adds an attempt to the measurement.
func (e *execution) measure(t *trial) {
	if e.Policy.Repeat && measures(&t.result) {
		e.durations = append(e.durations, float64(t.result.Duration))
		if !t.decision.Accepted {
			e.failed = append(e.failed, e.attempts)
		}
	}
}

// repeated is the measurement for run_finished, nil without --repeat.
func (e *execution) repeated() *event.Repeated {
	if !e.Policy.Repeat {
		return nil
	}
	n, failed := len(e.durations), len(e.failed)
	all := &event.Repeated{Passed: n - failed, Failed: failed, FailedAttempts: e.failed}
	all.FailedLow, all.FailedHigh = statistics.Wilson(failed, n)
	if n > 0 {
		sorted := slices.Sorted(slices.Values(e.durations))
		all.Median, all.Longest = time.Duration(statistics.Quantile(sorted, 0.5)), time.Duration(sorted[n-1])
	}
	return all
}
