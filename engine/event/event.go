// Package event holds what can happen in a run, one struct a kind behind a
// common header.
//
// Everything that the program tells, to a person or to a machine, hangs on
// this stream: the engine emits, the sinks write. The package is plain data;
// it will never format, filter or write anything. What a sink has to tell apart
// is a field, never a sentence.
package event

import (
	"time"

	"github.com/retrysh/retry/engine/attempt"
)

// Kind names what happened, as the JSON field "event" has it.
type Kind string

// Event is one thing that happened: a pointer to one of the structs below.
type Event interface {
	Kind() Kind
	// Head returns what every event has.
	Head() *Header
}

// Header is what every event has.
type Header struct {
	Time    time.Time
	RunID   string
	TraceID string
	// Elapsed is the time since the run started.
	Elapsed time.Duration
	// Attempt is the attempt that the event belongs to or follows, from 1; 0
	// before the first. MaxAttempts is the limit, 0 for none.
	Attempt, MaxAttempts int
}

// Head returns the header itself.
func (h *Header) Head() *Header { return h }

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
	Parked    Outcome = "parked"    // kept, to go on when its wait is over
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

// Which says which copy of an attempt it is, where it has copies, and which
// values its words have, where they rotate.
type Which struct {
	// SpanID is its place in the trace, which the command sees in TRACEPARENT;
	// "" where it was not started or is no process.
	SpanID string
	// Hedged says that the attempt may have copies; Copy counts them from 0.
	Hedged bool
	Copy   int
	// Use are the values of the rotated names, by name.
	Use map[string]string
}

// RunStarted is the first event of a run.
type RunStarted struct {
	Header
	Command []string
	// Name is what the run is called, Depth 1 and one more inside another retry.
	Name  string
	Depth int
	// SpanID is the run's place in the trace, ParentSpanID that of who started it,
	// "" where the trace begins here. Sampled says that the trace is recorded.
	SpanID, ParentSpanID string
	Sampled              bool
	// Letter is the dead letter that is run again, ParentRunID its last run; ""
	// for none.
	Letter, ParentRunID string
	// Key names what the guards protect; Policy and PolicySource the policy and
	// its file and line. "" where there is none.
	Key, Policy, PolicySource string
	// PolicyUnasked says that the policy was chosen by its tools, not by name.
	PolicyUnasked bool
	// Deadline is when the run ends at the latest; the zero time is never.
	Deadline time.Time
}

// Target is one that is waited for: until it is ready or, where Gone is set, no
// longer ready. Reason says in one line why not yet, "" where that is not known
// yet.
type Target struct {
	Name, Reason string
	Gone         bool
}

// TargetPending tells that the state of a target has changed and is not what is
// waited for; for a person only.
type TargetPending struct {
	Header
	Target
}

// TargetsPending tells what a wait for targets still waits for: after a moment,
// when that changes, and every ten seconds (Beat); for a person only.
type TargetsPending struct {
	Header
	Pending []Target
	// Left is how long the wait lasts at most where it is Limited.
	Left    time.Duration
	Limited bool
	Beat    bool
}

// TargetReady tells that a target is what was waited for, After so long.
type TargetReady struct {
	Header
	Target
	After time.Duration
}

// TargetFailed tells that a target did not become so in time; Reason is its last
// error.
type TargetFailed struct {
	Header
	Target
}

// InitialWait tells of --initial-delay and --splay; for a person only.
type InitialWait struct {
	Header
	Wait time.Duration
}

// InitialWaited tells that this wait has ended; for who shows the run's state only.
type InitialWaited struct{ Header }

// AttemptStarted tells that an attempt, or a copy of it, is about to start.
type AttemptStarted struct {
	Header
	Which
	// Timeout is the attempt's own limit, 0 for none.
	Timeout time.Duration
	// Rehearsed says that it is pretended.
	Rehearsed bool
	// Repeats says that the attempts are counted (--repeat), Failed how many have
	// failed.
	Repeats bool
	Failed  int
}

// AttemptFinished tells what came of an attempt, or of a copy of it, and how it
// was judged.
type AttemptFinished struct {
	Header
	Which
	Result attempt.Result
	// Success says that the attempt was accepted, NotYet that more successes in
	// a row are asked for.
	Success, NotYet bool
	Verdict         Verdict
	// Reason is one line in words: Ended, how the attempt ended, and Known, what
	// is known of such a failure. Rule names the rule that decided. "" if there
	// is none.
	Reason, Ended, Known, Rule string
	// ByRule says that Rule decided; else it only names the failure.
	ByRule bool
	// Line is the line of the output that decided on a failure, or else the last
	// one captured, without escape sequences; "" where there is none.
	Line string
}

// AttemptCancelled tells that a copy of a hedged attempt was ended since
// another one decided. It is not judged.
type AttemptCancelled struct {
	Header
	Which
	Result attempt.Result
}

// Wait is what the waits between attempts are told with.
type Wait struct {
	// Delay is the plain delay, Jittered the wait after jitter, Hint what the
	// server asked for where HasHint is set.
	Delay, Jittered, Hint time.Duration
	HasHint               bool
	// NotYet says that the wait follows a success.
	NotYet bool
}

// RetryScheduled tells of the wait that begins.
type RetryScheduled struct {
	Header
	Wait
	// IgnoredHint says in words which hint was not believed.
	IgnoredHint string
}

// RetryWaited tells that a wait has ended; Slept is the time that really
// passed.
type RetryWaited struct {
	Header
	Wait
	Slept time.Duration
}

// GuardRefused is a guard's refusal of an attempt, or of a further copy of one.
// RetryIn is the time until it admits attempts again, nil where it is not known.
type GuardRefused struct {
	Header
	Which
	Guard, Key, Reason string
	RetryIn            *time.Duration
}

// SlotPending tells that a slot is waited for, and why none is free; for a person
// only. Left is how long at most.
type SlotPending struct {
	Header
	Reason string
	Left   time.Duration
}

// BreakerChanged tells that this run changed the state of a breaker.
type BreakerChanged struct {
	Header
	Key, From, To string
}

// StoreFailed tells that the guards' store cannot be used.
type StoreFailed struct {
	Header
	Store, Reason string
}

// HookStarted tells that a hook or the fallback is about to start; for a person
// only.
type HookStarted struct {
	Header
	Hook string
}

// HookFinished tells that a hook or the fallback has ended. Reason is its own
// failure in one line, "" where it succeeded.
type HookFinished struct {
	Header
	Hook     string
	ExitCode int
	Duration time.Duration
	Reason   string
}

// Repeated is how often a command was run and failed (--repeat).
type Repeated struct {
	Passed, Failed int
	FailedAttempts []int
	// FailedLow and FailedHigh are the 95 % interval of the share that fails.
	FailedLow, FailedHigh float64
	// Median and Longest are durations of an attempt.
	Median, Longest time.Duration
}

// RunFinished is the last event of a run.
type RunFinished struct {
	Header
	Outcome Outcome
	// Command is what was run, nil where there was nothing to run.
	Command []string
	// Attempts is how many there were, ExitCode the program's own.
	Attempts, ExitCode int
	// Verdict, Reason, Ended, Known and Rule are the last attempt's; CodeOnly
	// says that Ended says no more than its exit code, ByRule that Rule decided.
	Verdict                    Verdict
	Reason, Ended, Known, Rule string
	CodeOnly, ByRule           bool
	// Why says why no attempt followed, where that is more than the outcome.
	// Advice is one more line for a person. "" for none.
	Why, Advice string
	HasHint     bool
	Hint        time.Duration
	// ReaderGone says that standard output has no reader left: the run ends as
	// SIGPIPE has it, which says nothing.
	ReaderGone bool
	// NotStarted says that there was no command to start: a shell would say so.
	NotStarted bool
	// FallbackExitCode is that of the fallback, nil where none ran.
	FallbackExitCode *int
	// Found says that the failure was hunted for (--until-failure).
	Found bool
	// Repeated is what --repeat has counted, nil without it.
	Repeated *Repeated
	// Letter is the dead letter that the run has become, "" for none; DueAt is
	// when one that is parked goes on.
	Letter string
	DueAt  time.Time
}

// Worked reports whether the user has got what was asked for: a success, also the
// fallback's, or the failure that was hunted for.
func (e *RunFinished) Worked() bool {
	return e.Outcome == Succeeded || e.Found || e.FallbackExitCode != nil && *e.FallbackExitCode == 0
}

// Kind and its like are the values of the JSON field "event" (docs/logs.md).
func (*RunStarted) Kind() Kind       { return "run_started" }
func (*TargetPending) Kind() Kind    { return "wait_pending" }
func (*TargetsPending) Kind() Kind   { return "targets_pending" }
func (*TargetReady) Kind() Kind      { return "wait_ready" }
func (*TargetFailed) Kind() Kind     { return "wait_failed" }
func (*InitialWait) Kind() Kind      { return "initial_wait" }
func (*InitialWaited) Kind() Kind    { return "initial_waited" }
func (*AttemptStarted) Kind() Kind   { return "attempt_started" }
func (*AttemptFinished) Kind() Kind  { return "attempt_finished" }
func (*AttemptCancelled) Kind() Kind { return "attempt_cancelled" }
func (*RetryScheduled) Kind() Kind   { return "retry_scheduled" }
func (*RetryWaited) Kind() Kind      { return "retry_waited" }
func (*GuardRefused) Kind() Kind     { return "guard_refused" }
func (*SlotPending) Kind() Kind      { return "slot_pending" }
func (*BreakerChanged) Kind() Kind   { return "breaker_changed" }
func (*StoreFailed) Kind() Kind      { return "store_failed" }
func (*HookStarted) Kind() Kind      { return "hook_started" }
func (*HookFinished) Kind() Kind     { return "hook_finished" }
func (*RunFinished) Kind() Kind      { return "run_finished" }
