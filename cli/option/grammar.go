// Package option holds the flags of a run and says what they mean: a grammar for
// kong, types that read values, and options for what wires a run together.
//
// It reads no files, no clock and no environment: callers pass those in.
package option

// This file is the grammar of a run: every flag with its type, short form, default and
// words. Type and tags say what its values mean (values.go), and manual/flags.txt what a
// person reads about the flag.

import (
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/retrysh/retry/cli/manual"
	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/backoff"
	"github.com/retrysh/retry/engine/classify"
	"github.com/retrysh/retry/engine/guard"
	"github.com/retrysh/retry/engine/linematch"
	"github.com/retrysh/retry/engine/rehearse"
	"github.com/retrysh/retry/engine/rotate"
	"github.com/retrysh/retry/engine/telemetry"
)

// grammar holds what was given, defaults included.
//
// Tags: default comes first, short and enum are kong's; is says what kind of text,
// number or duration it is, from and to bound a number, zero says what 0 is
// (values.go); variable:"-" marks what belongs to one call, and so has no variable and
// no place in a policy; nested:"-" a flag whose variable belongs to the outer run inside
// another retry (docs/environment.md); mode the modes that have the flag for themselves.
type grammar struct {
	// The loop.
	Attempts     int `default:"5" short:"n" from:"0" zero:"unlimited"`
	Repeat       int
	Consecutive  int `default:"1"`
	UntilFailure bool
	FlakyExit    int    `default:"0" is:"an exit code" from:"0" to:"255"`
	Shell        string `short:"c" is:"script" variable:"-"`

	// The wait between attempts.
	Backoff      string         `default:"exponential" enum:"exponential,linear,constant,fibonacci"`
	Base         time.Duration  `default:"1s"`
	Cap          time.Duration  `default:"30s"`
	Factor       factor         `default:"2"`
	Jitter       backoff.Jitter `default:"full"`
	MinDelay     time.Duration  `default:"0"`
	Delays       delays
	InitialDelay time.Duration `default:"0"`
	Splay        time.Duration `default:"0"`
	ResetAfter   time.Duration `default:"0"`
	Seed         uint64

	// Time limits.
	Timeout     time.Duration  `default:"0" short:"t"`
	IdleTimeout time.Duration  `default:"0"`
	Deadline    time.Duration  `default:"0"`
	KillAfter   time.Duration  `default:"5s" short:"k"`
	Signal      attempt.Signal `default:"TERM" short:"s"`

	// Success, retry or stop.
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

	// Processes and streams.
	KillLeftovers  bool
	Stdin          string `default:"inherit" enum:"inherit,replay,null"`
	Stdout         string `default:"stream" enum:"stream,hold"`
	Stderr         string `default:"stream" enum:"stream,hold"`
	IdempotencyKey string `is:"idempotency key" nested:"-"`
	Nested         string `default:"warn" enum:"warn,once,allow"`

	// Classification of failures.
	Classify   string   `default:"any" enum:"any,smart,strict"`
	Rules      []string `is:"file"`
	RetryAfter retryAfter
	MaxHint    time.Duration `default:"5m"`

	// Waiting for targets.
	WaitFor     []*WaitTarget `nested:"-"`
	WaitGone    []*WaitTarget `nested:"-"`
	WaitTimeout time.Duration `default:"60s"`
	Exec        bool          `variable:"-"`

	// Hooks, rehearsals, copies and rotated values.
	BeforeRetry    []string       `is:"script" nested:"-"`
	AfterSuccess   string         `is:"script" nested:"-"`
	AfterGiveUp    string         `is:"script" nested:"-"`
	RetryWith      string         `is:"script" nested:"-"`
	Fallback       string         `is:"script" nested:"-"`
	RetryWhen      *WaitTarget    `nested:"-"`
	HookTimeout    time.Duration  `default:"60s" nested:"-"`
	Rehearse       rehearse.Steps `nested:"-"`
	RehearseStdout string         `is:"file" nested:"-"`
	RehearseStderr string         `is:"file" nested:"-"`
	Hedge          time.Duration  `is:"above 0" nested:"-"`
	HedgeMax       int            `default:"1" nested:"-"`
	Rotate         []rotate.List  `nested:"-"`

	// Guards.
	Key           string          `is:"key" nested:"-"`
	Breaker       guard.Breaker   `nested:"-"`
	Budget        guard.Budget    `nested:"-"`
	Tokens        guard.Tokens    `nested:"-"`
	MaxConcurrent guard.Slots     `nested:"-"`
	RateLimit     guard.RateLimit `nested:"-"`
	Adaptive      bool            `nested:"-"`
	Priority      guard.Priority  `default:"normal" nested:"-"`
	Store         *storeAddress
	StoreTimeout  time.Duration `default:"250ms" is:"above 0"`
	StoreFail     string        `default:"" enum:",open,closed"`

	// Output.
	Quiet      bool   `short:"q"`
	Verbose    bool   `short:"v"`
	Color      string `default:"auto" enum:"auto,always,never"`
	LogFormat  string `default:"text" enum:"text,json,github,gitlab,auto"`
	LogFile    string `is:"file"`
	Name       string `is:"name" nested:"-"`
	Timestamps bool

	// Telemetry.
	MetricsFile string `is:"metrics file"`
	Statsd      telemetry.StatsD
	Otlp        string        `is:"collector"`
	OtlpTimeout time.Duration `default:"1s" is:"above 0"`
	OtlpArgs    bool

	// Dead letters.
	DeadLetter    string        `default:"off" is:"file" nested:"-"`
	DeadLetterEnv []nameList    `nested:"-"`
	DeadLetterMax int           `default:"1000" nested:"-"`
	Park          time.Duration `default:"0" nested:"-"`

	// History.
	History string `default:"off" is:"file"`

	// Sources of settings.
	Policy string `nested:"-"`
	Config []string
	NoEnv  bool `variable:"-"`

	// Modes, which take the place of a run.
	Help        bool   `short:"h" variable:"-"`
	Version     bool   `short:"V" variable:"-"`
	Man         bool   `variable:"-"`
	Completion  string `default:"" enum:",bash,zsh,fish,powershell" variable:"-"`
	Plan        bool   `variable:"-"`
	Explain     bool   `variable:"-"`
	PrintPolicy bool   `variable:"-"`
	Simulate    string `default:"" enum:",outage" variable:"-"`

	// Of --explain.
	Exit       attempt.Result `variable:"-" mode:"explain"`
	StdoutFile string         `is:"file" variable:"-" mode:"explain"`
	StderrFile string         `is:"file" variable:"-" mode:"explain"`
	At         time.Time      `variable:"-" mode:"explain"`

	// Of --simulate.
	Clients     int           `default:"1000" to:"1000000" variable:"-" mode:"simulate"`
	Capacity    callRate      `default:"100" variable:"-" mode:"simulate"`
	Outage      time.Duration `default:"30s" variable:"-" mode:"simulate plan"`
	AttemptTime time.Duration `default:"50ms" variable:"-" mode:"simulate"`
	Queue       time.Duration `default:"1s" variable:"-" mode:"simulate"`
	Compare     string        `variable:"-" mode:"simulate"`
	Svg         string        `is:"file" variable:"-" mode:"simulate"`
}

type Flag = manual.Flag

// Table returns the flags of the grammar, in its order.
var Table = sync.OnceValue(func() []Flag { return manual.FlagsOf(reflect.TypeFor[grammar]()) })

// ByName returns the flag of that name, nil for none.
func ByName(name string) *Flag { return manual.ByName(Table(), name) }

// in is a flag's place in a grammar.
func in(grammar reflect.Value, f *Flag) any {
	return grammar.FieldByIndex(f.Field.Index).Addr().Interface()
}

// runModes are the modes that take the flags of a run.
var runModes = []string{"help", "version", "man", "completion", "plan", "explain", "print-policy", "simulate"}

// IsRunMode reports whether a flag asks for a mode that takes the flags of a run.
func IsRunMode(f *Flag) bool { return slices.Contains(runModes, f.Name()) }
