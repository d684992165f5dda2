// Package history keeps a line about each run in a file, and computes what these
// lines say (docs/history.md).
//
// record.go is the record, fields.go its text, recorder.go makes it of events, parse.go
// reads it. file.go appends lines, read.go reads files. report.go and
// learn.go are pure statistics over records. The package runs nothing, and shows
// nothing: cli/report does.
package history

import (
	"slices"
	"time"

	"github.com/retrysh/retry/engine/event"
)

// version is that of the record's format.
const version = 1

// longestLine is the size of the largest line with its newlines; mostAttempts is
// how many attempts a line holds.
const (
	longestLine  = 64 << 10
	mostAttempts = 100
)

// Record is what is kept of a run. What does not apply is zero.
type Record struct {
	Version      int
	Time         time.Time // when the run started
	RunID        string
	ParentRunID  string // of the retry around it, or of the letter's last run
	Depth        int
	Name         string
	Command      []string // secrets masked
	Cwd          string
	Key, Policy  string
	Outcome      string
	ExitCode     int
	Attempts     []Attempt
	AttemptCount int
	ElapsedMS    float64
	WaitedMS     float64 // as slept
	Commit, CI   string
	Host         string
	UntilFailure bool
	Repeat       bool // --repeat: failures and successes are counted, none is retried
	Rehearsed    bool
	Redriven     bool
	Cut          bool // something was left out, or shortened
}

// Attempt is one attempt of a record.
type Attempt struct {
	ExitCode int
	Signal   string
	TimedOut bool
	MS       float64
	Success  bool
	// Verdict, Rule, Reason and FP, the fingerprint, are those of a failure.
	Verdict, Rule, Reason, FP string
	// Waited says that a wait followed, JitteredMS as scheduled and SleptMS as slept.
	Waited              bool
	JitteredMS, SleptMS float64
}

// Encode returns the record as a line with its newline, of at most 64 KiB. Where
// it is longer, the longest texts are cut.
func (r *Record) Encode() []byte {
	if len(r.Attempts) > mostAttempts {
		kept := append([]Attempt(nil), r.Attempts[:mostAttempts/2]...)
		short := *r
		short.Attempts, short.Cut = append(kept, r.Attempts[len(r.Attempts)-mostAttempts/2:]...), true
		r = &short
	}
	const newlines = 2 // one of its own, and one before it where the last line is torn
	fields := r.fields()
	line := appendFields(nil, fields[:], longestLine) // what that cuts makes the line too long
	for limit := longestLine / 4; len(line)+newlines > longestLine; limit /= 2 {
		short := *r
		short.Cut = true
		fields = short.fields()
		line = appendFields(line[:0], fields[:], limit)
	}
	return append(line, '\n')
}

// Failed reports whether the run did not succeed, or only after a failed attempt.
func (r *Record) Failed() bool {
	return r.Outcome != string(event.Succeeded) || slices.ContainsFunc(r.Attempts, func(a Attempt) bool { return !a.Success })
}
