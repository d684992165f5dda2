// Package history keeps a line about each run in a file, and computes what these
// lines say (docs/history.md).
//
// record.go is the record, json.go its text, recorder.go makes it of an event.Run.
// file.go appends lines, read.go reads files. report.go and learn.go are pure
// statistics over records. The package runs nothing, and shows nothing: cli/report
// does.
package history

import (
	"slices"

	"github.com/retrysh/retry/engine/event"
)

// version is that of the record's format.
const version = 1

// mostAttempts is how many attempts a line holds.
const mostAttempts = 100

// Record is what is kept of a run. What does not apply is zero.
type Record struct {
	Version      int       `json:"v"`
	Time         Moment    `json:"time"` // when the run started
	RunID        string    `json:"run_id"`
	ParentRunID  string    `json:"parent_run_id,omitempty"` // of the retry around it, or of the letter's last run
	Depth        int       `json:"depth"`
	Name         string    `json:"name,omitempty"`
	Command      []string  `json:"command,omitempty"` // secrets masked
	Cwd          string    `json:"cwd,omitempty"`
	Key          string    `json:"key,omitempty"`
	Policy       string    `json:"policy,omitempty"`
	Outcome      string    `json:"outcome,omitempty"`
	ExitCode     int       `json:"exit_code"`
	Attempts     []Attempt `json:"attempts"`
	AttemptCount int       `json:"attempt_count"`
	ElapsedMS    float64   `json:"elapsed_ms"`
	WaitedMS     float64   `json:"waited_ms"` // as slept
	Commit       string    `json:"commit,omitempty"`
	CI           string    `json:"ci,omitempty"`
	Host         string    `json:"host,omitempty"`
	UntilFailure bool      `json:"until_failure,omitempty"`
	Repeat       bool      `json:"repeat,omitempty"` // --repeat: failures and successes are counted, none is retried
	Rehearsed    bool      `json:"rehearsed,omitempty"`
	Redriven     bool      `json:"redriven,omitempty"`
	Cut          bool      `json:"cut,omitempty"` // something was left out, or shortened
}

// Attempt is one attempt of a record.
type Attempt struct {
	ExitCode int     `json:"exit_code"`
	Signal   string  `json:"signal,omitempty"`
	TimedOut bool    `json:"timed_out,omitempty"`
	MS       float64 `json:"ms"`
	Success  bool    `json:"success"`
	// Verdict, Rule, Reason and FP, the fingerprint, are those of a failure.
	Verdict string `json:"verdict,omitempty"`
	Rule    string `json:"rule,omitempty"`
	Reason  string `json:"reason,omitempty"`
	FP      string `json:"fp,omitempty"`
	// The wait that followed, as scheduled and as slept; nil if none did.
	JitteredMS *float64 `json:"jittered_ms,omitempty"`
	SleptMS    *float64 `json:"slept_ms,omitempty"`
}

// valueOf is a number that may be missing.
func valueOf(n *float64) float64 {
	if n == nil {
		return 0
	}
	return *n
}

// Failed reports whether the run did not succeed, or only after a failed attempt.
func (r *Record) Failed() bool {
	failed := func(a Attempt) bool { return !a.Success }
	return r.Outcome != string(event.Succeeded) || slices.ContainsFunc(r.Attempts, failed)
}

func (r *Record) parked() bool { return r.Outcome == string(event.Parked) }

// merge is a parked run with what followed.
func (r *Record) merge(rest *Record) *Record {
	whole := *rest
	whole.Time = r.Time
	whole.Attempts = append(r.Attempts, rest.Attempts...)
	whole.AttemptCount += r.AttemptCount
	whole.ElapsedMS += r.ElapsedMS
	whole.WaitedMS += r.WaitedMS
	whole.Cut = r.Cut || rest.Cut
	return &whole
}
