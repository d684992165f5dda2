// Package event defines the events of a run, one struct for each kind, with a common
// header.
//
// All output of the program, for persons and for machines, comes from these events: the
// engine emits them, the sinks write them. The package is data only. What a sink has to
// distinguish is a field, not a sentence.
package event

import (
	"time"

	"github.com/retrysh/retry/engine/attempt"
)

// Event is a pointer to one of the structs below.
type Event interface{ Head() *Header }

// Header is what every event has.
type Header struct {
	Time           time.Time
	RunID, TraceID string
	// Elapsed is the time since the run started.
	Elapsed time.Duration
	// Attempt is the attempt that the event belongs to or follows, from 1; 0 before the
	// first. MaxAttempts is the limit, 0 for none.
	Attempt, MaxAttempts int
}

// Head returns the header itself.
func (h *Header) Head() *Header { return h }

// Outcome is how a run ended, the JSON field "outcome".
type Outcome string

// The outcomes of a run.
const (
	Succeeded Outcome = "succeeded"
	Exhausted Outcome = "exhausted" // the last attempt failed
	Stopped   Outcome = "stopped"   // the result is not retried
	Deadline  Outcome = "deadline"  // no time is left
	Cancelled Outcome = "cancelled" // a signal asked for the end
	Refused   Outcome = "refused"   // a guard refused an attempt
	Parked    Outcome = "parked"    // kept, to go on when its wait is over
	Failed    Outcome = "error"     // the program itself failed
)

// Verdict is what is known of a failure.
type Verdict string

// The verdicts on a failure; "" stands for a success.
const (
	Transient Verdict = "transient" // another attempt may succeed
	Permanent Verdict = "permanent" // another attempt cannot succeed
	Unknown   Verdict = "unknown"
)

// Judgement is what is known of the result of an attempt.
type Judgement struct {
	Verdict Verdict
	// Reason is one line in words: Ended, how the attempt ended, and Known, what is known
	// of such a failure. Rule is the rule that decided or, without ByRule, that names the
	// failure. "" for none.
	Reason, Ended, Known, Rule string
	ByRule                     bool
	// Line is the line of the output that decided on a failure, or else the last one
	// captured, without escape sequences; "" for none.
	Line string
}

// Which identifies a copy of an attempt, and the values of its rotated names.
type Which struct {
	// SpanID is its span, which the command sees in TRACEPARENT; "" if it was not started
	// or is no process.
	SpanID string
	// Hedged says that the attempt may have copies; Copy counts them from 0.
	Hedged bool
	Copy   int
	// Use are the values by name.
	Use map[string]string
}

// RunStarted is the first event of a run.
type RunStarted struct {
	Header
	Command []string
	Name    string
	// GivenName is the name as it was given, by which the run is found; "" if none was.
	// Name, which is shown, hides secrets in it.
	GivenName string
	Depth     int // 1, or one more than that of the retry around it
	// SpanID is the span of the run, ParentSpanID that of its parent, "" if the trace
	// begins here. Sampled says that the trace is recorded.
	SpanID, ParentSpanID string
	Sampled              bool
	// Letter is the dead letter that is run again, ParentRunID its last run; "" for none.
	Letter, ParentRunID string
	// Key is that of the guards; Policy and PolicySource are the policy and its file and
	// line. "" for none.
	Key, Policy, PolicySource string
	// Deadline is when the run ends; the zero time is never.
	Deadline time.Time
	// BareTimeout is the number that was given to -t, "" if it has a unit: another program
	// of the name takes it for the number of attempts.
	BareTimeout string
}

// Target is waited for until it is ready or, with Gone, no longer ready. Reason says in one
// line why it is not; "" if that is not known yet. While says that it ends the wait for
// others when it is not ready.
type Target struct {
	Name, Reason string
	Gone, While  bool
}

// TargetPending reports that the state of a target has changed and is not the one that is
// waited for; for a person only.
type TargetPending struct {
	Header
	Target
}

// TargetsPending lists the targets that a wait still waits for: after a moment, when that
// changes, and every ten seconds (Beat); for a person only.
type TargetsPending struct {
	Header
	Pending []Target
	// Left is the time left if the wait is Limited.
	Left    time.Duration
	Limited bool
	Beat    bool
}

// TargetReady reports that a target is ready (or gone), After so long.
type TargetReady struct {
	Header
	Target
	After time.Duration
}

// TargetFailed reports that a target did not become ready in time; Reason is its last
// error.
type TargetFailed struct {
	Header
	Target
}

// InitialWait reports the wait of --initial-delay and --splay; for a person only.
type InitialWait struct {
	Header
	Wait time.Duration
}

// InitialWaited reports that this wait has ended; only for displays of the run's state.
type InitialWaited struct{ Header }

// AttemptStarted reports that an attempt, or a copy of it, is about to start.
type AttemptStarted struct {
	Header
	Which
	// Timeout is the attempt's own limit, 0 for none.
	Timeout time.Duration
	// Rehearsed says that it is not run.
	Rehearsed bool
	// Repeats says that the attempts are counted (--repeat), Failed is how many failed.
	Repeats bool
	Failed  int
}

// AttemptFinished is the result of an attempt, or of a copy of it, and its judgement.
type AttemptFinished struct {
	Header
	Which
	Judgement
	Result  attempt.Result
	Success bool // it was accepted
	// Overruled is an --on-stdout or --on-stderr rule that matched although the attempt was
	// a success, "" for none.
	Overruled string
}

// AttemptCancelled reports that a copy of a hedged attempt was ended since another one
// decided. It is not judged.
type AttemptCancelled struct {
	Header
	Which
	Result attempt.Result
}

// Blocking reports that the run is about to do something beside attempts and waits that may
// take long: ask a guard, run a hook, try a target, keep a letter; only for displays of the
// run's state.
type Blocking struct{ Header }

// Wait describes a wait between attempts.
type Wait struct {
	// Delay is the plain delay, Jittered the wait after jitter, Hint what the server asked
	// for if HasHint is set. IgnoredHint says in words which hint was implausible.
	Delay, Jittered, Hint time.Duration
	HasHint               bool
	IgnoredHint           string
	// NotYet says that the wait follows a success.
	NotYet bool
}

// RetryScheduled reports that a wait begins.
type RetryScheduled struct {
	Header
	Wait
}

// RetryWaited reports that a wait has ended; Slept is the time that passed.
type RetryWaited struct {
	Header
	Wait
	Slept time.Duration
}

// GuardRefused is a guard's refusal of an attempt, or of a further copy of one. RetryIn is
// the time until it admits attempts again, nil if not known.
type GuardRefused struct {
	Header
	Which
	Guard, Key, Reason string
	RetryIn            *time.Duration
	// PastDeadline says that the turn of the attempt comes after the deadline, and that nothing
	// else is in its way.
	PastDeadline bool
}

// SlotPending reports that a run waits for a slot and why none is free, or, with Turn, for its
// turn and by which limit; for a person only. Left is the longest that the wait can last.
type SlotPending struct {
	Header
	Turn   bool
	Reason string
	Left   time.Duration
}

// BreakerChanged reports that this run changed the state of a breaker.
type BreakerChanged struct {
	Header
	Key, From, To string
}

// StoreFailed reports that the guards' store cannot be used.
type StoreFailed struct {
	Header
	Store, Reason string
}

// HookStarted reports that a hook or the fallback is about to start; for a person only.
type HookStarted struct {
	Header
	Hook string
}

// HookFinished reports that a hook or the fallback has ended. Reason is its failure in one
// line, "" if it succeeded.
type HookFinished struct {
	Header
	Hook     string
	ExitCode int
	Duration time.Duration
	Reason   string
}

// Repeated is the measurement of --repeat.
type Repeated struct {
	Passed, Failed int
	FailedAttempts []int
	// FailedLow and FailedHigh are the 95 % interval of the share that fails.
	FailedLow, FailedHigh float64
	Median, Longest       time.Duration // of an attempt
}

// Ending is how a run ends.
type Ending struct {
	Judgement // of the last attempt
	Wait      // that would follow
	Outcome   Outcome
	// Why says why no attempt followed, if that is more than the outcome. Advice is one
	// more line for a person. "" for none.
	Why, Advice string
	// ReaderGone says that standard output has no reader left: the run ends as by SIGPIPE,
	// without a message. NotStarted says that there was no command to start, Found that
	// --until-failure has found a failure.
	ReaderGone, NotStarted, Found bool
	// Letter is the letter that the run has become, "" for none; DueAt is when a parked run
	// goes on.
	Letter string
	DueAt  time.Time
}

// Whole is why the last attempt failed, and why no attempt followed.
func (e *Ending) Whole() string {
	if e.Why == "" {
		return e.Reason
	}
	return e.Reason + "; " + e.Why
}

// Concluding reports that a run has given up, before output that was kept for this is
// written; for a person only.
type Concluding struct {
	Header
	Ending
}

// RunFinished is the last event of a run.
type RunFinished struct {
	Header
	Ending
	// Command is nil if there was none. Hunted says that a failure of it was looked for
	// (--until-failure).
	Command []string
	Hunted  bool
	// Attempts is the number of attempts, ExitCode the program's own.
	Attempts, ExitCode int
	// FallbackExitCode is that of the fallback, nil if none ran.
	FallbackExitCode *int
	// Repeated is nil without --repeat.
	Repeated *Repeated
}

// Worked reports whether the user got what was asked for: a success, also of the fallback,
// or the failure that --until-failure looks for.
func (e *RunFinished) Worked() bool {
	return e.Outcome == Succeeded || e.Found || e.FallbackExitCode != nil && *e.FallbackExitCode == 0
}

// OwnFailure reports whether the program itself failed, or had no command to start:
// --quiet does not silence that, since a shell would have said it as well.
func (e *RunFinished) OwnFailure() bool {
	return e.Outcome != Succeeded && (e.Outcome == Failed || e.NotStarted)
}
