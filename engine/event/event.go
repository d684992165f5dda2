// Package event holds the one struct that says what happened in a run.
//
// Everything that the program tells, to a person or to a machine, hangs on
// this stream: the engine emits, the sinks write. The package is plain data;
// it will never format, filter or write anything.
package event

import (
	"time"

	"github.com/retrysh/retry/engine/attempt"
)

// Kind names what happened, as the JSON field "event" has it.
type Kind string

// The kinds of event, in the order in which a run emits them.
const (
	RunStarted      Kind = "run_started"
	WaitPending     Kind = "wait_pending" // a target's state changed; for a person only
	WaitReady       Kind = "wait_ready"
	WaitFailed      Kind = "wait_failed"
	InitialWait     Kind = "initial_wait" // --initial-delay and --splay; for a person only
	AttemptStarted  Kind = "attempt_started"
	AttemptFinished Kind = "attempt_finished"
	RetryScheduled  Kind = "retry_scheduled"
	RetryWaited     Kind = "retry_waited"
	RunFinished     Kind = "run_finished"
)

// Outcome says how a run ended, as the JSON field "outcome" has it.
type Outcome string

// The outcomes of a run.
const (
	Succeeded Outcome = "succeeded"
	Exhausted Outcome = "exhausted" // the last attempt failed
	Stopped   Outcome = "stopped"   // the result is not worth a retry
	Deadline  Outcome = "deadline"  // no time is left
	Cancelled Outcome = "cancelled" // a signal asked for the end
	Refused   Outcome = "refused"   // a guard let no attempt through
	Failed    Outcome = "error"     // the program itself failed
)

// Verdict says what is known of a failure.
type Verdict string

// The verdicts on a failure; "" stands for a success.
const (
	Transient Verdict = "transient" // trying again may help
	Permanent Verdict = "permanent" // trying again cannot help
	Unknown   Verdict = "unknown"
)

// Event is one thing that happened. Which fields apply is fixed by Kind; the
// others hold their zero value.
type Event struct {
	// Always set.
	Time    time.Time
	Kind    Kind
	RunID   string
	TraceID string
	// Elapsed is the time since the run started.
	Elapsed time.Duration

	// RunStarted: what is run.
	Command []string

	// Attempt counts from 1 and MaxAttempts is the limit, 0 for none:
	// AttemptStarted, AttemptFinished, RetryScheduled, RetryWaited.
	Attempt     int
	MaxAttempts int

	// AttemptFinished: what came of it and what it was judged to be.
	// RunFinished: the last attempt's, with Attempts 0 where there was none.
	Result  attempt.Result
	Success bool
	Verdict Verdict
	// Reason is one line in words; Rule names the rule that decided, "" if
	// none did.
	Reason string
	Rule   string

	// RetryScheduled: the plain delay, the wait after jitter, and the server's
	// hint where HasHint is set, or in words the hint that was not believed.
	// RetryWaited: Slept is the time that really passed. InitialWait: Jittered.
	Delay       time.Duration
	Jittered    time.Duration
	HasHint     bool
	Hint        time.Duration
	IgnoredHint string
	Slept       time.Duration

	// WaitPending, WaitReady, WaitFailed: the --wait-for target, with Reason its
	// last error.
	Target string

	// RunFinished: how it ended, the total of attempts, the program's exit code.
	Outcome  Outcome
	Attempts int
	ExitCode int
	// Advice is one more line for a person, "" for none.
	Advice string
}
