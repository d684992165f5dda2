// Package option holds the flags of a run and says what they mean: structs of flags for
// kong, types that read values, and options for what wires a run together.
//
// It reads no files, no clock and no environment: callers pass those in.
package option

// This file is the flags of a run: every flag with its type and what holds of it, and the
// defaults. The type says what a value may be (values.go), manual/flags.txt what a person
// reads about the flag.

import (
	"time"

	"github.com/retrysh/retry/engine/backoff"
	"github.com/retrysh/retry/engine/classify"
	"github.com/retrysh/retry/engine/guard"
	"github.com/retrysh/retry/engine/linematch"
	"github.com/retrysh/retry/engine/rotate"
	"github.com/retrysh/retry/engine/telemetry"
)

// Run is the flags of a run, a struct for each section. kong gets those that are named or
// set (kong.go).
//
// short is kong's tag. The others say what holds of a flag in the program; on a section
// they hold of all its flags that do not say otherwise. TestFlags lists what they say.
//
//	of:"attempts"      about attempts: no effect with --exec
//	of:"guards"        about guards: no effect without one
//	of:"output"        about what the program prints: not kept in a letter, and its variable counts for --redrive
//	of:"program"       a mode that uses no setting of a policy or a variable
//	guard:"yes"        a guard, which needs --key
//	file:"yes"         the name of a file, which --redrive takes against the working directory
//	variable:"no"      belongs to one call: no variable, no place in a policy
//	policy:"no"        no place in a policy
//	inner:"no"         inside another retry, its variable belongs to the outer run (docs/environment.md)
//	letter:"no"        not kept in a letter
//	redrive:"no"       not a flag of --redrive: the letter alone sets it
//	excludes:"a,b"     of two sources, the higher one decides between these flags and this one
//	needs:"a,b"        a variable has no effect without one of these
//	mode:"yes"         takes the place of a run
//	only:"a,b"         belongs to these modes
//	secret:"address"   an address, which may hold a password
type Run struct {
	LoopFlags
	WaitFlags
	LimitFlags
	JudgeFlags          `of:"attempts"`
	StreamFlags         `of:"attempts"`
	ClassificationFlags `of:"attempts"`
	TargetFlags
	HookFlags      `inner:"no"`
	GuardFlags     `inner:"no"`
	OutputFlags    `of:"output"`
	TelemetryFlags `of:"attempts"`
	LetterFlags    `inner:"no"`
	HistoryFlags
	SourceFlags   `policy:"no" redrive:"no" letter:"no"`
	AboutFlags    `mode:"yes" of:"program" variable:"no"`
	ModeFlags     `mode:"yes" variable:"no"`
	ExplainFlags  `only:"explain" variable:"no"`
	SimulateFlags `only:"simulate" variable:"no"`
}

// LoopFlags say how often the command runs.
type LoopFlags struct {
	Attempts     Limit    `short:"n" of:"attempts"`
	Repeat       Count    `excludes:"attempts,consecutive,until-failure,hedge"`
	Consecutive  Count    `of:"attempts"`
	UntilFailure bool     `of:"attempts" excludes:"consecutive"`
	FlakyExit    exitCode `of:"attempts"`
	Shell        script   `short:"c" variable:"no"`
}

// WaitFlags are about the wait between attempts.
type WaitFlags struct {
	Backoff      Word[curves]
	Base         time.Duration
	Cap          time.Duration
	Factor       factor
	Jitter       backoff.Jitter
	MinDelay     time.Duration
	Delays       delays `excludes:"backoff,base,factor"`
	InitialDelay time.Duration
	Splay        time.Duration
	ResetAfter   time.Duration `of:"attempts"`
	Seed         seed
}

// LimitFlags are time limits.
type LimitFlags struct {
	Timeout     time.Duration `short:"t" of:"attempts"`
	IdleTimeout time.Duration `of:"attempts"`
	Deadline    time.Duration
	KillAfter   time.Duration `short:"k"`
	Signal      signal        `short:"s"`
	SignalGroup bool
}

// JudgeFlags decide about success, retry or stop.
type JudgeFlags struct {
	SuccessOnExit []classify.Exits
	UntilStdout   []*linematch.Pattern
	UntilStderr   []*linematch.Pattern
	FailOnStdout  []*linematch.Pattern
	FailOnStderr  []*linematch.Pattern
	StopOnExit    []classify.Exits
	StopOnStdout  []*linematch.Pattern
	StopOnStderr  []*linematch.Pattern
	OnExit        []classify.Exits
	OnStdout      []*linematch.Pattern
	OnStderr      []*linematch.Pattern
}

// StreamFlags are about the command's process, its streams and its variables.
type StreamFlags struct {
	KillLeftovers  bool
	Stdin          Word[inputs] `redrive:"no"`
	Stdout         Word[outputs]
	Stderr         Word[outputs]
	IdempotencyKey idempotencyKey `inner:"no" redrive:"no"`
	Nested         Word[nesting]  `of:""`
}

// ClassificationFlags are about failures that are worth another attempt.
type ClassificationFlags struct {
	Classify   Word[classifications]
	Rules      []file `file:"yes"`
	RetryAfter retryAfter
	MaxHint    time.Duration
}

// TargetFlags are about what is waited for before attempt 1.
type TargetFlags struct {
	WaitFor     []*WaitTarget `inner:"no" secret:"address"`
	WaitGone    []*WaitTarget `inner:"no" secret:"address"`
	WaitWhile   []*WaitTarget `inner:"no" secret:"address" needs:"wait-for,wait-gone"`
	WaitTimeout time.Duration `needs:"wait-for,wait-gone,retry-when"`
	Exec        bool          `variable:"no"`
}

// HookFlags are about what runs around the attempts and in their place.
type HookFlags struct {
	BeforeRetry    []script `of:"attempts"`
	AfterSuccess   script   `of:"attempts"`
	AfterGiveUp    script
	RetryWith      script `of:"attempts"`
	Fallback       script
	RetryWhen      *WaitTarget `of:"attempts" secret:"address"`
	HookTimeout    time.Duration
	Rehearse       steps `redrive:"no" excludes:"hedge"`
	RehearseStdout file  `file:"yes" needs:"rehearse" redrive:"no"`
	RehearseStderr file  `file:"yes" needs:"rehearse" redrive:"no"`
	Hedge          Above0
	HedgeMax       Count `needs:"hedge"`
	Rotate         []rotate.List
}

// GuardFlags are guards and where their state is.
type GuardFlags struct {
	Key           key             `of:"guards"`
	Breaker       guard.Breaker   `of:"attempts" guard:"yes"`
	Budget        guard.Budget    `of:"attempts" guard:"yes"`
	Tokens        guard.Tokens    `of:"attempts" guard:"yes"`
	MaxConcurrent guard.Slots     `of:"attempts" guard:"yes"`
	RateLimit     guard.RateLimit `of:"attempts" guard:"yes"`
	Adaptive      bool            `of:"attempts" guard:"yes"`
	Priority      guard.Priority  `of:"guards"`
	Store         *storeAddress   `of:"guards" inner:"" secret:"address"`
	StoreTimeout  Above0          `of:"guards" inner:""`
	StoreFail     Word[failing]   `of:"guards" inner:""`
}

// OutputFlags are about what the program prints.
type OutputFlags struct {
	Quiet      bool `short:"q" excludes:"verbose"`
	Verbose    bool `short:"v"`
	Color      Word[Colors]
	LogFormat  Word[formats]
	LogFile    file `file:"yes"`
	Name       name `of:"" inner:"no" redrive:"no"`
	Timestamps bool
}

// TelemetryFlags are about metrics and traces.
type TelemetryFlags struct {
	MetricsFile metricsFile      `file:"yes"`
	Statsd      telemetry.StatsD `secret:"address"`
	Otlp        collector        `secret:"address"`
	OtlpTimeout Above0
	OtlpArgs    bool
}

// LetterFlags are about dead letters.
type LetterFlags struct {
	DeadLetter    Place         `of:"attempts" letter:"no"`
	DeadLetterEnv []nameList    `redrive:"no"`
	DeadLetterMax Count         `redrive:"no" letter:"no"`
	Park          time.Duration `of:"attempts"`
}

// HistoryFlags are about the history.
type HistoryFlags struct {
	History Place `file:"yes"`
}

// SourceFlags say where settings come from.
type SourceFlags struct {
	Policy Text `inner:"no"`
	Config []Text
	NoEnv  bool `variable:"no"`
}

// AboutFlags are the modes that print what the program is.
type AboutFlags struct {
	Help       bool `short:"h"`
	Version    bool `short:"V"`
	Man        bool
	Completion Word[shells]
}

// ModeFlags are the other modes that take the flags of a run.
type ModeFlags struct {
	Plan        bool
	Explain     bool
	PrintPolicy bool
	Simulate    Word[simulations]
}

// ExplainFlags are those of --explain.
type ExplainFlags struct {
	Exit       result
	StdoutFile file
	StderrFile file
	At         moment
}

// SimulateFlags are those of --simulate.
type SimulateFlags struct {
	Clients     clients
	Capacity    callRate
	Outage      time.Duration `only:"simulate,plan"`
	AttemptTime time.Duration
	Queue       time.Duration
	Compare     Text
	Svg         file
}

// newRun returns the defaults. kong leaves a flag alone that nothing sets.
func newRun() *Run {
	return &Run{
		LoopFlags:           LoopFlags{Attempts: 5, Consecutive: 1},
		WaitFlags:           WaitFlags{Backoff: "exponential", Base: defaultBase, Cap: defaultCap, Factor: 2},
		LimitFlags:          LimitFlags{KillAfter: 5 * time.Second, Signal: "SIGTERM"},
		StreamFlags:         StreamFlags{Stdin: "inherit", Stdout: "stream", Stderr: "stream", Nested: "warn"},
		ClassificationFlags: ClassificationFlags{Classify: "any", MaxHint: 5 * time.Minute},
		TargetFlags:         TargetFlags{WaitTimeout: time.Minute},
		HookFlags:           HookFlags{HookTimeout: time.Minute, HedgeMax: 1},
		GuardFlags:          GuardFlags{StoreTimeout: Above0(250 * time.Millisecond)},
		OutputFlags:         OutputFlags{Color: "auto", LogFormat: "text"},
		TelemetryFlags:      TelemetryFlags{OtlpTimeout: Above0(time.Second)},
		LetterFlags:         LetterFlags{DeadLetter: "off", DeadLetterMax: 1000},
		HistoryFlags:        HistoryFlags{History: "off"},
		SimulateFlags: SimulateFlags{
			Clients: 1000, Capacity: 100, Outage: 30 * time.Second, AttemptTime: 50 * time.Millisecond,
			Queue: time.Second,
		},
	}
}
