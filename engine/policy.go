package engine

// This file is the policy of a run. It is fixed when the program starts.

import (
	"regexp"
	"slices"
	"time"

	"github.com/retrysh/retry/engine/backoff"
	"github.com/retrysh/retry/engine/classify"
	"github.com/retrysh/retry/engine/linematch"
	"github.com/retrysh/retry/engine/rotate"
)

// Policy says how often to try, how long to wait and what to retry. A duration of 0 is no
// limit.
type Policy struct {
	// Attempts is the greatest number of attempts, the first included; 0 is unlimited.
	// ByDefault says that nobody has set it.
	Attempts  int
	ByDefault bool
	Schedule  backoff.Schedule
	// InitialDelay and a uniform part of Splay are the wait before attempt 1.
	InitialDelay, Splay time.Duration
	// ResetAfter starts the schedule again after an attempt that ran this long.
	ResetAfter time.Duration
	// Timeout limits one attempt, IdleTimeout a time without output, Deadline
	// everything, waits included.
	Timeout, IdleTimeout, Deadline time.Duration
	// Consecutive is how many successes in a row end the run; 0 is 1. With UntilFailure
	// only a failure ends it.
	Consecutive  int
	UntilFailure bool
	// Repeat makes all Attempts, with Schedule.Base between them, and counts failures.
	Repeat bool
	// FlakyExit is the code of a run that succeeded after a failed attempt.
	FlakyExit int
	// HedgeMax is the greatest number of copies of an attempt, the first included; 0 is 1.
	// Another one starts after HedgeDelay.
	HedgeDelay time.Duration
	HedgeMax   int
	// Rotate says which values the command's words have.
	Rotate []rotate.List
	// MaxHint is the longest wait that a server may ask for.
	MaxHint time.Duration
	// LastLook, if not 0, has a wait that would end past the deadline end so long before it
	// (at once if less is left); the attempt that follows is the last.
	LastLook time.Duration
	Rules    Rules
}

// Rules say which results are successes, which are retried and which are not.
type Rules struct {
	SuccessOnExit, StopOnExit, OnExit classify.Exits
	Stdout, Stderr                    Patterns
	// Mode decides if no rule of the user does, by Table. Table is called at the first
	// failure: to read the rules takes longer than to start the program.
	Mode  Mode
	Table func() *classify.Table
	Hints Hints
	// ReadStdout and ReadStderr say that a stream is read without a rule on it, for a hint
	// or a letter.
	ReadStdout, ReadStderr bool
}

// Patterns are the rules on one output stream of the command.
type Patterns struct {
	Until, FailOn, StopOn, On []*linematch.Pattern
}

// all are the patterns in the order by which the matcher numbers them.
func (p *Patterns) all() []*linematch.Pattern {
	return slices.Concat(p.Until, p.FailOn, p.StopOn, p.On)
}

func (p *Patterns) any() bool {
	return len(p.Until)+len(p.FailOn)+len(p.StopOn)+len(p.On) > 0
}

// Mode is what --classify asks for.
type Mode int

// The modes of --classify.
const (
	Any    Mode = iota // retry every failure
	Smart              // retry unless the failure is known to be permanent
	Strict             // retry only what is known to be transient
)

// Hints says how the output of a failed attempt is searched for a wait that the server
// asked for.
type Hints struct {
	Use bool
	// Pattern replaces the known forms if it is not nil.
	Pattern *regexp.Regexp
}

// hasRetryRule reports whether any --on-* rule was given: then nothing else is retried.
func (r *Rules) hasRetryRule() bool {
	return len(r.OnExit)+len(r.Stdout.On)+len(r.Stderr.On) > 0
}

// Reads reports which streams a run under these rules has to read.
func (r *Rules) Reads() (stdout, stderr bool) {
	both := r.Mode != Any
	return both || r.ReadStdout || r.Stdout.any(), both || r.ReadStderr || r.Stderr.any()
}
