package option

// This file turns the grammar into a policy and options. It has every rule that
// spans several flags.

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/backoff"
	"github.com/retrysh/retry/engine/classify"
	"github.com/retrysh/retry/engine/telemetry"
	"github.com/retrysh/retry/engine/text"
	"github.com/retrysh/retry/exitcodes"
)

// Options is everything that a run needs to know, checked.
type Options struct {
	Policy  engine.Policy
	Process processConfig
	Command []string

	Seed    uint64
	HasSeed bool
	Key     string
	Nested  string // warn, once or allow
	Rules   []string

	Targets     []Target
	RetryWhen   *WaitTarget // nil: none
	WaitTimeout time.Duration
	Tries       backoff.Schedule // the waits between two tries of a target
	Exec        bool
	Idle        []string // lines about settings that have no effect
	Own         []string // the program's own words, nil where "--" ends them

	Hooks     engine.Hooks
	Rehearsal *rehearsal // nil for none

	Quiet, Verbose bool
	Sources        []string // lines that say where each flag comes from, in verbose mode
	Color          string   // auto, always or never
	LogFormat      string   // text, json, github, gitlab or auto
	EventFormat    string   // the same for the events of a run: JSON in a file, unless a format was given
	LogFile        string
	Name           string // "" for none
	Timestamps     bool
	Telemetry      telemetry.Config

	Plan, Help, Version, Man bool
	Outage                   time.Duration // that --plan is to outlive; 0 for none
	Brief                    bool          // one screen of the help
	HelpOn                   string        // help on this mode alone, or ""
	Completion               string        // a shell, or ""
	Explain                  *explanation
	Simulation               *simulation

	Guarding Guarding
	Letters  Letters
	History  string // on, off or a file

	Chosen      *InForce  // the policy in force
	Settings    []Setting // all that were given, the policy's first
	PrintPolicy bool
}

// UsageError names the flag, or variable, that is wrong.
type UsageError struct {
	Flag string
	Err  error
}

// Usage is a usage error about a flag.
func Usage(flag string, err error) error { return &UsageError{flag, err} }

func (e *UsageError) Error() string { return e.Flag + ": " + e.Err.Error() }
func (e *UsageError) ExitCode() int { return exitcodes.Failure }

// resolver keeps the first error, so that resolve reads as a table.
type resolver struct {
	g        *grammar
	settings []Setting // all that were given and are in force
	// partial is set for the settings of a policy alone; flags that they need may come
	// from other sources.
	partial bool
	err     error
}

func (r *resolver) fail(flag string, err error) {
	if r.err == nil && err != nil {
		r.err = Usage(r.last(flag).Word, err)
	}
}

func (r *resolver) given(flag string) bool { return Last(r.settings, flag) != nil }

// last returns the setting in force of a flag. A default has no source.
func (r *resolver) last(flag string) Setting {
	if s := Last(r.settings, flag); s != nil {
		return *s
	}
	return Setting{Word: "--" + flag}
}

// Resolve checks what the flags mean together.
func Resolve(g *grammar, settings []Setting, command []string) (*Options, error) {
	r := &resolver{g: g, settings: settings}
	o := &Options{
		Command: ToRun(g, command), Settings: settings, Exec: g.Exec, Quiet: g.Quiet, Verbose: g.Verbose, LogFile: string(g.LogFile),
		Plan: g.Plan, PrintPolicy: g.PrintPolicy, Key: string(g.IdempotencyKey),
	}
	for _, name := range g.Rules {
		o.Rules = append(o.Rules, string(name))
	}
	r.values(o)
	r.modes()
	o.Explain = r.explanation()
	o.Simulation = r.simulation(o)
	if r.given("outage") && g.Plan {
		o.Outage = g.Outage
	}
	r.together(o)
	o.Idle = r.withoutEffect(o)
	return o, r.err
}

// modes refuses a second mode, and the flags of a mode that was not asked for.
func (r *resolver) modes() {
	first := ""
	for _, s := range r.settings {
		modes := strings.Fields(s.Flag.field.Tag.Get("mode"))
		switch name := s.Flag.name; {
		case IsRunMode(s.Flag) && s.Value != "false":
			if first != "" && first != name {
				r.fail(name, fmt.Errorf("cannot be used with --%s; give only one of them", first))
			}
			first = name
		case len(modes) == 0 || slices.ContainsFunc(modes, r.given):
		default:
			only := "is valid with --" + strings.Join(modes, " and --") + " only"
			if first != "" {
				only += ", not with --" + first
			}
			r.fail(name, errors.New(only))
		}
	}
}

// values resolves the flags of a policy, section by section.
func (r *resolver) values(o *Options) {
	g := r.g
	r.policy(&o.Policy)
	r.judging(&o.Policy.Rules)
	o.Process.KillAfter, o.Process.KillLeftovers, o.Process.Signal = g.KillAfter, g.KillLeftovers, attempt.Signal(g.Signal)
	setStreams(&o.Process, g.Stdin, g.Stdout, g.Stderr)
	r.waiting(o)
	o.Hooks = r.hooks()
	r.hedging(o)
	o.Guarding = r.guarding()
	o.Rehearsal = r.rehearsal()
	o.Letters, o.History = r.letters(), string(g.History)
	r.output(o)
	o.Nested = g.Nested
	o.Seed, o.HasSeed = uint64(g.Seed), r.given("seed")
}

// explanation is what --explain is given to judge.
type explanation struct {
	Result                 attempt.Result
	StdoutFile, StderrFile string
	At                     time.Time // zero: now
}

// explanation resolves what --explain judges (docs/classify.md).
func (r *resolver) explanation() *explanation {
	g := r.g
	if !g.Explain {
		return nil
	}
	if !r.given("exit") {
		r.fail("explain", errors.New("needs the result that it judges: --exit CODE, or --exit SIGKILL, and --stderr-file FILE for what the command wrote"))
	}
	return &explanation{Result: g.Exit, StdoutFile: string(g.StdoutFile), StderrFile: string(g.StderrFile), At: g.At}
}

// output resolves the sections on output and telemetry.
func (r *resolver) output(o *Options) {
	o.Color, o.LogFormat, o.EventFormat, o.Name = r.g.Color, r.g.LogFormat, r.g.LogFormat, string(r.g.Name)
	o.Timestamps = r.g.Timestamps
	if r.given("log-file") && !r.given("log-format") {
		o.EventFormat = "json"
	}
	o.Telemetry = telemetry.Config{
		MetricsFile: string(r.g.MetricsFile), StatsD: r.g.Statsd, OTLP: string(r.g.Otlp),
		OTLPTimeout: time.Duration(r.g.OtlpTimeout), OTLPTimeoutGiven: r.given("otlp-timeout"), OTLPArgs: r.g.OtlpArgs,
	}
}

// together checks what flags mean beside one another.
func (r *resolver) together(o *Options) {
	switch {
	case o.Outage > 0 && o.Rehearsal != nil:
		r.fail("outage", errors.New("cannot be used with --rehearse, which sets the result of each attempt"))
	case o.Exec && len(o.Command) == 0:
		r.fail("exec", errors.New("needs a command to become, after --"))
	case o.Exec && r.given("hedge"):
		r.fail("hedge", errors.New("cannot be used with --exec, which becomes the command and makes no copies"))
	case o.Exec && r.given("rotate"):
		r.fail("rotate", errors.New("cannot be used with --exec, which becomes the command and makes no second attempt"))
	case r.err == nil && len(o.Command) == 0 && len(o.Targets) == 0 && !o.Plan && !o.PrintPolicy && o.Explain == nil && o.Simulation == nil:
		r.err = errors.New("no command given; write it after the flags, as in: retry -n 3 -- curl -f http://localhost/")
	}
}

// ToRun is the command, which the shell runs where --shell was given.
func ToRun(g *grammar, command []string) []string {
	if g.Shell != "" {
		return text.Shell(string(g.Shell), command)
	}
	return command
}

// InForce is the policy in force and what else its files define.
type InForce struct {
	// Name and Source are "" where there is none. Source is its file and line.
	Name, Source string
	// Unasked says that it was chosen by the name of the command.
	Unasked  bool
	Settings []Setting
	// Rules are the rule blocks of the files that were read.
	Rules []*classify.Table
	// Warning is a line for a person, "" for none.
	Warning string
	// All are the policies that there are, where a list of them was asked for.
	All []Known
}

// Known is a policy that can be asked for.
type Known struct {
	Name    string   `json:"name"`
	Source  string   `json:"source"`
	Inherit string   `json:"inherit,omitempty"`
	Tools   []string `json:"tools,omitempty"`
}

// Prove checks the settings of a policy by themselves. What they need besides may
// come from other sources.
func Prove(table []Flag, settings []Setting) error {
	g, err := Fill(table, settings)
	if err != nil {
		return err
	}
	r := &resolver{g: g, settings: settings, partial: true}
	r.values(new(Options))
	return r.err
}

// ofAttempts are flags about attempts, of which --exec makes none.
var ofAttempts = []string{
	"attempts", "consecutive", "until-failure", "flaky-exit", "reset-after", "timeout", "idle-timeout", "kill-leftovers",
	"stdin", "stdout", "stderr", "success-on-exit", "on-exit", "stop-on-exit", "until-stdout", "until-stderr", "fail-on-stdout", "fail-on-stderr",
	"on-stdout", "on-stderr", "stop-on-stdout", "stop-on-stderr", "classify", "rules", "retry-after", "max-hint", "idempotency-key",
	"before-retry", "after-success", "retry-with", "retry-when", "breaker", "budget", "tokens", "max-concurrent", "adaptive", "dead-letter", "park",
	"metrics-file", "statsd", "otlp", "otlp-timeout", "otlp-args",
}

// withoutEffect returns a line for each group of flags that do nothing in this run.
func (r *resolver) withoutEffect(o *Options) (lines []string) {
	g := r.g
	if words := r.typed(ofAttempts...); g.Exec && len(words) > 0 {
		lines = append(lines, "no effect with --exec, which becomes the command and makes no attempts: "+strings.Join(words, ", "))
	}
	if o.Plan && g.Exec {
		lines = append(lines, "--exec has no effect with --plan, which runs nothing")
	}
	words := r.typed("key", "store", "store-timeout", "store-fail", "priority")
	if len(words) > 0 && !o.Guarding.Guards.Any() && !(o.Guarding.Key != "" && len(o.Policy.Rotate) > 0) && !o.PrintPolicy {
		lines = append(lines, "no effect without a guard (--breaker, --budget, --tokens, --max-concurrent, --adaptive): "+strings.Join(words, ", "))
	}
	limited := o.Policy.Timeout > 0 || o.Policy.IdleTimeout > 0 || o.Policy.Deadline > 0 || o.Policy.Hedge.Max > 1
	if number := r.last("signal"); number.Source == FromCommandLine && !limited && strings.Trim(number.Value, "0123456789") == "" {
		lines = append(lines, fmt.Sprintf("%s %s is the signal that ends an attempt at its limit, and there is no limit; a wait of %[2]s s before attempt 2 is --base %[2]s", number.Word, number.Value))
	}
	return lines
}

// typed are those of the flags that the command line has, as it names them.
func (r *resolver) typed(flags ...string) (words []string) {
	for _, flag := range flags {
		if s := r.last(flag); s.Source == FromCommandLine {
			words = append(words, s.Word)
		}
	}
	return words
}
