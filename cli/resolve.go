package cli

// This file turns the grammar into a policy and options: every rule that spans
// flags stands here. Nothing is touched; reading the clock, files and the
// environment is for others.

import (
	"errors"
	"fmt"
	"time"

	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/backoff"
	"github.com/retrysh/retry/engine/classify"
	"github.com/retrysh/retry/engine/hook"
	"github.com/retrysh/retry/engine/telemetry"
	"github.com/retrysh/retry/exitcodes"
)

// options is everything that a run needs to know, checked.
type options struct {
	policy  engine.Policy
	process processConfig
	command []string

	seed     uint64
	hasSeed  bool
	key      string
	nested   string // warn, once or allow
	rules    []string
	ruleVia  string // how the user named --rules
	hedgeVia string // and --hedge

	targets     []target
	retryWhen   *waitTarget // nil: none
	waitTimeout time.Duration
	tries       backoff.Schedule // the waits between two tries of a target
	exec        bool
	meaningless []string // flags that say nothing to --exec

	hooks     hook.Set
	rehearsal *rehearsal // nil for none

	quiet, verbose bool
	sources        []string // lines that say where each flag comes from, in verbose mode
	color          string   // auto, always or never
	logFormat      string   // text, json, github, gitlab or auto
	eventFormat    string   // the same for the events of a run: JSON in a file, unless a format was given
	logFile        string
	telemetry      telemetry.Config

	plan, help, version, man bool
	brief                    bool   // one screen of the help
	helpOn                   string // help on this mode alone, or ""
	completion               string // a shell, or ""
	explain                  *explanation
	simulation               *simulation

	guarding guarding

	chosen      *inForce  // the policy in force
	settings    []setting // all that were given, the policy's first
	printPolicy bool
}

// usageError names the flag, or variable, that is wrong.
type usageError struct {
	flag string
	err  error
}

func (e *usageError) Error() string { return e.flag + ": " + e.err.Error() }
func (e *usageError) ExitCode() int { return exitcodes.Failure }

// resolver collects the first error, so that resolve reads as a table.
type resolver struct {
	g        *grammar
	settings []setting // all that were given and are in force
	// partial says that these are the settings of a policy alone: what they need
	// beside them may come from elsewhere.
	partial bool
	err     error
}

func (r *resolver) fail(flag string, err error) {
	if r.err == nil && err != nil {
		r.err = &usageError{r.word(flag), err}
	}
}

func (r *resolver) given(flag string) bool { return last(r.settings, flag) != nil }

// word is how the user named a flag.
func (r *resolver) word(flag string) string {
	if s := last(r.settings, flag); s != nil {
		return s.word
	}
	return "--" + flag
}

// from is where a flag's value comes from, 0 for its default.
func (r *resolver) from(flag string) source {
	if s := last(r.settings, flag); s != nil {
		return s.source
	}
	return 0
}

// text is a flag's value as it was given.
func (r *resolver) text(flag string) string {
	if s := last(r.settings, flag); s != nil {
		return s.value
	}
	return ""
}

// resolve checks what the flags mean together.
func resolve(g *grammar, settings []setting, command []string) (*options, error) {
	r := &resolver{g: g, settings: settings}
	o := &options{
		command: toRun(g, command), settings: settings, exec: g.Exec, quiet: g.Quiet, verbose: g.Verbose, logFile: string(g.LogFile), ruleVia: r.word("rules"), hedgeVia: r.word("hedge"),
		plan: g.Plan, printPolicy: g.PrintPolicy, key: string(g.IdempotencyKey),
	}
	for _, name := range g.Rules {
		o.rules = append(o.rules, string(name))
	}
	r.values(o)
	r.modeFlags()
	o.explain = r.explanation()
	o.simulation = r.simulation(o)
	r.together(o)
	o.meaningless = r.meaningless()
	return o, r.err
}

// modeFlags refuses the flags of a mode that was not asked for.
func (r *resolver) modeFlags() {
	for _, s := range r.settings {
		if mode := s.flag.field.Tag.Get("mode"); mode != "" && !r.given(mode) {
			r.fail(s.flag.name(), fmt.Errorf("goes with --%s only", mode))
		}
	}
}

// values resolves the flags of a policy, section by section.
func (r *resolver) values(o *options) {
	r.policy(&o.policy)
	r.judging(&o.policy.Rules)
	r.process(&o.process)
	r.waiting(o)
	r.hedging(o)
	o.guarding = r.guarding()
	r.hooks(&o.hooks)
	o.rehearsal = r.rehearsal()
	r.saying(o)
	o.nested = r.g.Nested
	o.seed, o.hasSeed = uint64(r.g.Seed), r.given("seed")
}

// together checks what flags mean beside one another.
func (r *resolver) together(o *options) {
	switch {
	case o.plan && o.explain != nil:
		r.fail("plan", errors.New("goes without --explain; give one of them"))
	case o.simulation != nil && (o.plan || o.explain != nil):
		r.fail("simulate", errors.New("goes without --plan and --explain; give one of them"))
	case o.exec && len(o.command) == 0:
		r.fail("exec", errors.New("needs a command to become, after --"))
	case o.exec && r.given("hedge"):
		r.fail("hedge", errors.New("goes without --exec, which becomes the command; there are no copies of it"))
	case o.exec && r.given("rotate"):
		r.fail("rotate", errors.New("goes without --exec, which becomes the command; there is no second attempt for another value"))
	case r.err == nil && len(o.command) == 0 && len(o.targets) == 0 && !o.plan && !o.printPolicy && o.explain == nil && o.simulation == nil:
		r.err = errors.New("no command given; write it after the flags, as in: retry -n 3 -- curl -f http://localhost/")
	}
}

// toRun is the command, which the shell runs where --shell was given.
func toRun(g *grammar, command []string) []string {
	if g.Shell != "" {
		return shellArgv(string(g.Shell), command)
	}
	return command
}

// inForce is the policy in force and what came with its files.
type inForce struct {
	// name and source are "" where there is none. Source is its file and line.
	name, source string
	// unasked says that it was chosen by the name of the command.
	unasked  bool
	settings []setting
	// rules stand in the files that were read.
	rules []*classify.Table
	// warning is a line for a person, "" for none.
	warning string
}

// prove checks the settings of a policy by themselves: what they need beside them
// may come from elsewhere.
func prove(table []flag, settings []setting) error {
	g, err := fill(table, settings)
	if err != nil {
		return err
	}
	r := &resolver{g: g, settings: settings, partial: true}
	r.values(new(options))
	return r.err
}
