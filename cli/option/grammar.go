// Package option holds the flags of a run and says what they mean: a grammar for
// kong, types that read values, and options for what wires a run together.
//
// It reads no files, no clock and no environment: callers pass those in.
package option

// This file is the grammar of a run: every flag with its type, short form,
// default and words. A type says what its values mean (values.go), and
// manual/flags.txt what a person reads about the flag.

import (
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

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
// number or duration it is, from and to bound a number (values.go); variable:"-" marks
// what belongs to one call, and so has no variable and no place in a policy;
// nested:"-" a flag whose variable belongs to the outer run inside another retry
// (docs/environment.md); mode the modes that have the flag for themselves.
type grammar struct {
	// The loop.
	Attempts     int `default:"5" short:"n" from:"0"`
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
	Key           string         `is:"key" nested:"-"`
	Breaker       guard.Breaker  `nested:"-"`
	Budget        guard.Budget   `nested:"-"`
	Tokens        guard.Tokens   `nested:"-"`
	MaxConcurrent guard.Slots    `nested:"-"`
	Adaptive      bool           `nested:"-"`
	Priority      guard.Priority `default:"normal" nested:"-"`
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
	Simulate    string `default:"" enum:",outage,contention" variable:"-"`

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
	Trials      int           `default:"100" to:"100000" variable:"-" mode:"simulate"`
	Svg         string        `is:"file" variable:"-" mode:"simulate"`
}

// Flag is one field of the grammar.
type Flag struct {
	name  string
	field reflect.StructField
}

// Table returns the flags of the grammar, in its order.
func Table() []Flag { return FlagsOf(reflect.TypeFor[grammar]()) }

// FlagsOf returns the flags of a grammar, those of embedded structs included.
func FlagsOf(t reflect.Type) []Flag {
	all := make([]Flag, 0, t.NumField())
	for i := range t.NumField() {
		switch field := t.Field(i); {
		case field.Tag == `kong:"-"`: // the call of a mode
		case field.Anonymous:
			for _, f := range FlagsOf(field.Type) {
				f.field.Index = append(field.Index, f.field.Index...)
				all = append(all, f)
			}
		case field.IsExported():
			all = append(all, Flag{dashed(field.Name), field})
		}
	}
	return all
}

// dashed is the name that kong gives to the flag of a field: OnExit is on-exit.
func dashed(field string) string {
	b := make([]byte, 0, len(field)+4)
	for i, c := range []byte(field) { // all are ASCII
		if 'A' <= c && c <= 'Z' {
			if i > 0 {
				b = append(b, '-')
			}
			c += 'a' - 'A'
		}
		b = append(b, c)
	}
	return string(b)
}

// Switch returns a flag without a value; its name is one word.
func Switch(name string) Flag {
	return Flag{name, reflect.StructField{Name: strings.ToUpper(name[:1]) + name[1:], Type: reflect.TypeFor[bool]()}}
}

// in is the flag's place in a grammar.
func (f *Flag) in(grammar reflect.Value) any {
	return grammar.FieldByIndex(f.field.Index).Addr().Interface()
}

func (f *Flag) tag(key string) string { return f.field.Tag.Get(key) }

// Name is the flag without dashes.
func (f *Flag) Name() string        { return f.name }
func (f *Flag) Is(name string) bool { return f.name == name }

func (f *Flag) Preset() string { return f.tag("default") }
func (f *Flag) IsBool() bool   { return f.field.Type.Kind() == reflect.Bool }

// Repeats reports whether the flag may be given several times.
func (f *Flag) Repeats() bool {
	return f.field.Type.Kind() == reflect.Slice && f.field.Type.Name() == ""
}

// HasVariable reports whether a variable can set the flag, and so a policy.
func (f *Flag) HasVariable() bool { return f.tag("variable") == "" }

func (f *Flag) Variable() string {
	return "RETRY_" + strings.ToUpper(strings.ReplaceAll(f.name, "-", "_"))
}

// IsOfOuterRun reports whether the flag's variable belongs to the outer run, inside
// another retry.
func (f *Flag) IsOfOuterRun() bool { return f.tag("nested") != "" }

// Short is the flag's letter, 0 for none.
func (f *Flag) Short() rune {
	if letter, size := utf8.DecodeRuneInString(f.tag("short")); size > 0 {
		return letter
	}
	return 0
}

// Words are those that the grammar lists for a flag, nil where any value may do.
func (f *Flag) Words() []string {
	return strings.FieldsFunc(f.tag("enum"), func(c rune) bool { return c == ',' })
}

// runModes are the modes that take the flags of a run.
var runModes = []string{"help", "version", "man", "completion", "plan", "explain", "print-policy", "simulate"}

// IsRunMode reports whether a flag asks for a mode that takes the flags of a run.
func IsRunMode(f *Flag) bool { return slices.Contains(runModes, f.name) }

// ByName returns the flag of that name, nil for none.
func ByName(all []Flag, name string) *Flag {
	return first(all, func(f *Flag) bool { return f.name == name })
}

func byShort(all []Flag, letter rune) *Flag {
	return first(all, func(f *Flag) bool { return f.Short() == letter })
}

func first(all []Flag, is func(*Flag) bool) *Flag {
	for i := range all {
		if is(&all[i]) {
			return &all[i]
		}
	}
	return nil
}
