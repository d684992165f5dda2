package option

// This file turns the flags into a policy and options. It has every rule that
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
	"github.com/retrysh/retry/engine/guard"
	"github.com/retrysh/retry/engine/telemetry"
	"github.com/retrysh/retry/engine/text"
)

// Options is everything that a run needs to know, checked.
type Options struct {
	Run // what was given, defaults included; changed if several flags together say so

	Policy  engine.Policy
	Process processConfig
	Command []string
	Targets []Target
	Tries   backoff.Schedule // the waits between two tries of a target
	Hooks   engine.Hooks
	Guards  guard.Guards
	Closed  bool // no attempt starts without the store of the guards

	EventFormat string // that of the events of a run: JSON in a file, unless a format was given
	Telemetry   telemetry.Config

	About      string // --help, -h, version or man, asked for in place of all else, or ""
	HelpOn     string // help on this mode alone, or ""
	Simulation *simulation

	Chosen   *Chosen   // the policy in force
	Settings []Setting // all that were given and are in force, the policy's first
	Idle     []string  // lines about settings that have no effect
	Own      []string  // the program's own words, nil if "--" ends them
}

// UsageError names the flag, or variable, that is wrong.
type UsageError struct {
	Flag string
	Err  error
}

// Usage is a usage error about a flag.
func Usage(flag string, err error) error { return &UsageError{flag, err} }

func (e *UsageError) Error() string { return e.Flag + ": " + e.Err.Error() }

// Shown is an error as it is printed, without what is secret in it. The flag in front, such
// as RETRY_TOKENS, is no name of a secret.
func Shown(err error) string {
	if usage, is := err.(*UsageError); is {
		return usage.Flag + ": " + Shown(usage.Err)
	}
	return text.Masked(err.Error())
}

// resolver keeps the first error, so that resolve reads as a table.
type resolver struct {
	*Run // the flags
	o    *Options
	// partial is set for the settings of a policy alone; flags that they need may come
	// from other sources.
	partial bool
	err     error
}

func (r *resolver) fail(flag string, err error) {
	if r.err == nil && err != nil {
		r.err = Usage(r.o.last(flag).Word, err)
	}
}

// refuse fails if the use of a flag is wrong.
func (r *resolver) refuse(flag string, wrong bool, format string, args ...any) {
	if wrong {
		r.fail(flag, fmt.Errorf(format, args...))
	}
}

// Given reports whether any source sets a flag.
func (o *Options) Given(flag string) bool { return Last(o.Settings, flag) != nil }

// typed reports whether the command line has a flag.
func (r *resolver) typed(flag string) bool {
	s := Last(r.o.Settings, flag)
	return s != nil && s.Source == FromCommandLine
}

// last returns the setting in force of a flag. A default has no source.
func (o *Options) last(flag string) Setting {
	if s := Last(o.Settings, flag); s != nil {
		return *s
	}
	return Setting{Word: "--" + flag}
}

// Resolve checks what the flags mean together.
func (o *Options) Resolve() error {
	o.Command = o.ToRun()
	r := &resolver{Run: &o.Run, o: o}
	r.values()
	r.modes()
	r.refuse("explain", r.Explain && !r.o.Given("exit"),
		"needs the result that it judges: --exit CODE, or --exit SIGKILL, and --stderr-file FILE for what the "+
			"command wrote")
	r.simulation()
	if !r.Plan || !r.o.Given("outage") {
		r.Outage = 0 // for --plan to outlive
	}
	r.checkCombinations()
	r.withoutEffect()
	return r.err
}

// modes refuses a second mode, and the flags of a mode that was not asked for.
func (r *resolver) modes() {
	first := ""
	for _, s := range r.o.Settings {
		modes := s.Flag.Tag("only")
		switch name := s.Flag.Name(); {
		case s.Flag.IsMode() && !s.Off():
			if first != "" && first != name {
				r.fail(name, fmt.Errorf("cannot be used with --%s; give only one of them", first))
			}
			first = name
		case modes == "" || slices.ContainsFunc(strings.Split(modes, ","), r.o.Asks):
		default:
			only := "is valid with --" + strings.ReplaceAll(modes, ",", " and --") + " only"
			if first != "" {
				only += ", not with --" + first
			}
			r.fail(name, errors.New(only))
		}
	}
}

// values resolves the flags of a policy, section by section.
func (r *resolver) values() {
	r.policy()
	r.judging(&r.o.Policy.Rules)
	r.o.Process.KillAfter = orLongest(r.KillAfter)
	r.o.Process.KillLeftovers = r.KillLeftovers
	r.o.Process.Signal = attempt.Signal(r.Signal)
	r.o.Process.SignalGroup = r.SignalGroup
	setStreams(&r.o.Process, r.Stdin, r.Stdout, r.Stderr)
	r.waiting()
	r.o.Hooks = engine.Hooks{
		AfterSuccess: string(r.AfterSuccess), AfterGiveUp: string(r.AfterGiveUp), RetryWith: string(r.RetryWith),
		Fallback: string(r.Fallback),
		Limit:    r.HookTimeout,
	}
	for _, hook := range r.BeforeRetry {
		r.o.Hooks.BeforeRetry = append(r.o.Hooks.BeforeRetry, string(hook))
	}
	r.hedging()
	r.guards()
	r.rehearsal()
	r.letters()
	r.output()
}

// output resolves the sections on output and telemetry.
func (r *resolver) output() {
	r.o.EventFormat = string(r.LogFormat)
	if r.o.Given("log-file") && !r.o.Given("log-format") {
		r.o.EventFormat = "json"
	}
	r.o.Telemetry = telemetry.Config{
		MetricsFile: string(r.MetricsFile), StatsD: r.Statsd, OTLP: string(r.Otlp),
		OTLPTimeout: time.Duration(r.OtlpTimeout), OTLPTimeoutGiven: r.o.Given("otlp-timeout"), OTLPArgs: r.OtlpArgs,
	}
}

// checkCombinations checks what flags mean beside one another.
func (r *resolver) checkCombinations() {
	r.refuse("exec", r.Exec && len(r.o.Command) == 0, "needs a command to become, after --")
	r.refuse("hedge", r.Exec && r.o.Given("hedge"),
		"cannot be used with --exec, which becomes the command and makes no copies")
	r.refuse("rotate", r.Exec && r.o.Given("rotate"),
		"cannot be used with --exec, which becomes the command and makes no second attempt")
	if r.err == nil && r.runs() && len(r.o.Command) == 0 && len(r.o.Targets) == 0 {
		r.err = errors.New("no command given; write it after the flags, as in: retry -n 3 -- curl -f http://localhost/")
	}
}

// ToRun is the command, which the shell runs if --shell was given.
func (o *Options) ToRun() []string {
	if o.Shell != "" {
		return text.Shell(string(o.Shell), o.Command)
	}
	return o.Command
}

// Chosen is the policy in force and what else its files define.
type Chosen struct {
	// Name and Source are "" if there is none. Source is its file and line.
	Name, Source string
	Settings     []Setting
	// Rules are the rule blocks of the files that were read.
	Rules []*classify.Table
	// Warning is a line for a person, "" for none.
	Warning string
	// All are the policies that there are, if a list of them was asked for.
	All []NamedPolicy
}

// NamedPolicy is a policy that can be asked for.
type NamedPolicy struct {
	Name    string `json:"name"`
	Source  string `json:"source"`
	Inherit string `json:"inherit,omitempty"`
}

// resolverOf resolves settings by themselves. What they need besides may come from other
// sources.
func resolverOf(settings []Setting) *resolver {
	o := &Options{Settings: settings}
	r := &resolver{Run: &o.Run, o: o, partial: true}
	r.err = o.Fill()
	return r
}

// Check checks the settings of a policy by themselves.
func Check(settings []Setting) error {
	r := resolverOf(settings)
	r.values()
	return r.err
}

// withoutEffect lists the groups of flags that do nothing in this run.
func (r *resolver) withoutEffect() {
	none := func(is bool, format string, args ...any) {
		if is {
			r.o.Idle = append(r.o.Idle, fmt.Sprintf(format, args...))
		}
	}
	attempts := r.typedOf("attempts")
	none(r.Exec && attempts != "", "no effect with --exec, which becomes the command and makes no attempts: %s",
		attempts)
	none(r.Exec && r.Plan, "--exec has no effect with --plan, which runs nothing")
	if guards := r.typedOf("guards"); guards != "" && !r.o.Guards.Any() && !r.PrintPolicy {
		none(true, "no effect without a guard (%s): %s", flagsWith("guard", "yes"), guards)
	}
	none(r.o.Guards.Slots.Lost != guard.WarnUnasked && (r.Store == nil || r.Store.Dir != ""),
		"lost= of --max-concurrent has no effect with a store in files, in which a slot cannot be lost")
	computed := r.typedAny("base", "factor", "backoff")
	none(r.typed("delays") && computed != "", "no effect beside --delays, which lists the waits: %s", computed)
	retries0 := func(s Setting) bool {
		return s.Flag.Is("on-exit") && s.Source == FromCommandLine && slices.Contains(strings.Split(s.Value, ","), "0")
	}
	// exit 0 may be a failure
	checked := len(r.UntilStdout)+len(r.UntilStderr)+len(r.FailOnStdout)+len(r.FailOnStderr) > 0
	none(slices.ContainsFunc(r.o.Settings, retries0) && !r.o.Given("success-on-exit") && !checked,
		"0 in %s has no effect, since exit 0 is a success; --success-on-exit says what is one",
		r.o.last("on-exit").Word)
	none(r.runs() && len(r.o.Command) == 0 && !r.Exec && attempts != "", "no effect without a command: %s", attempts)
	hooks := len(r.BeforeRetry) > 0 || r.AfterSuccess != "" || r.AfterGiveUp != "" || r.Fallback != ""
	none(r.typed("hook-timeout") && !hooks, "%s has no effect without a hook or a fallback",
		r.o.last("hook-timeout").Word)
	number := r.o.last("signal")
	limited := r.Timeout > 0 || r.IdleTimeout > 0 || r.Deadline > 0 || r.o.Policy.HedgeMax > 1
	none(r.typed("signal") && !limited && strings.Trim(number.Value, "0123456789") == "",
		"%s %s is the signal that ends an attempt at its limit, and there is no limit; a wait of %[2]s s before "+
			"attempt 2 is --base %[2]s", number.Word, number.Value)
}

// runs reports whether nothing is printed in place of the run.
func (r *resolver) runs() bool {
	return !r.Plan && !r.PrintPolicy && !r.Explain && r.o.Simulation == nil
}

// typedAny are the words of those flags that the command line has.
func (r *resolver) typedAny(names ...string) string {
	var words []string
	for _, name := range names {
		if r.typed(name) {
			words = append(words, r.o.last(name).Word)
		}
	}
	return strings.Join(words, ", ")
}

// flagsWith are the flags of which a tag says so.
func flagsWith(tag, value string) string {
	var names []string
	for _, f := range Table() {
		if f.Tag(tag) == value {
			names = append(names, "--"+f.name)
		}
	}
	return strings.Join(names, ", ")
}

// typedOf are the words of the flags about something that the command line has.
func (r *resolver) typedOf(about string) string {
	var words []string
	for _, f := range Table() {
		if r.typed(f.name) && f.Tag("of") == about {
			words = append(words, r.o.last(f.name).Word)
		}
	}
	return strings.Join(words, ", ")
}
