package cli

// This file turns the grammar's text into a policy and options: every value is
// checked here, and every rule that spans flags stands here. Nothing is
// touched; reading the clock, files and the environment is for others.

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/backoff"
	"github.com/retrysh/retry/engine/hook"
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

	plan, help, version, man bool
	brief                    bool   // one screen of the help
	completion               string // a shell, or ""
	explain                  *explanation
	simulation               *simulation

	guarding guarding

	chosen      *chosenPolicy // the policy in force
	settings    []setting     // all that were given, the policy's first
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
	g     *grammar
	words map[string]string // flag name to how the user named it
	from  map[string]source // flag name to where its value comes from, 0: the default
	// partial says that these are the settings of a policy alone: what they need
	// beside them may come from elsewhere.
	partial bool
	err     error
}

func (r *resolver) fail(flag string, err error) {
	if r.err == nil && err != nil {
		word, ok := r.words[flag]
		if !ok {
			word = "--" + flag
		}
		r.err = &usageError{word, err}
	}
}

func (r *resolver) given(flag string) bool { return r.words[flag] != "" }

// resolve checks all flags and what they mean together.
func resolve(table []flag, settings []setting, command []string) (*options, error) {
	r := newResolver(table, settings)
	g := r.g
	if r.given("shell") {
		if g.Shell == "" {
			r.fail("shell", errors.New(`"" is not a shell command; write it as in -c 'make | tee log'`))
		}
		command = shellArgv(g.Shell, command)
	}
	o := &options{
		command: command, exec: g.Exec, quiet: g.Quiet, verbose: g.Verbose, logFile: g.LogFile, rules: g.Rules, ruleVia: r.words["rules"], hedgeVia: r.words["hedge"],
		plan: g.Plan, printPolicy: g.PrintPolicy, help: g.Help, version: g.Version, man: g.Man, key: g.IdempotencyKey,
	}
	if r.given("completion") {
		o.completion = r.oneOf("completion", g.Completion)
	}
	if o.help || o.version || o.man || o.completion != "" || r.err != nil {
		return o, r.err
	}
	r.values(o, settings)
	o.explain = r.explanation()
	o.simulation = r.simulation(table, settings, o)
	r.together(o)
	o.meaningless = r.meaningless()
	return o, r.err
}

func newResolver(table []flag, settings []setting) *resolver {
	r := &resolver{g: apply(table, settings), words: map[string]string{}, from: map[string]source{}}
	for _, s := range settings {
		r.words[s.flag.name], r.from[s.flag.name] = s.word, s.source
	}
	return r
}

// values checks each flag's value, section by section.
func (r *resolver) values(o *options, settings []setting) {
	g := r.g
	r.booleans(settings)
	r.policy(&o.policy)
	r.judging(&o.policy.Rules)
	r.process(&o.process)
	r.waiting(o)
	r.hedging(o)
	o.guarding = r.guarding()
	r.hooks(&o.hooks)
	o.rehearsal = r.rehearsal()
	r.saying(o)
	o.nested = r.oneOf("nested", g.Nested)
	if r.given("seed") {
		var err error
		o.seed, err = strconv.ParseUint(g.Seed, 10, 64)
		o.hasSeed = true
		if err != nil {
			r.fail("seed", fmt.Errorf("%q is not a whole number from 0 to %d", g.Seed, uint64(math.MaxUint64)))
		}
	}
	if r.given("idempotency-key") && g.IdempotencyKey == "" {
		r.fail("idempotency-key", errors.New(`"" is not a key; give any text, such as a build number`))
	}
}

// booleans refuses variables that switch a flag neither on nor off; the command
// line's own have been looked at while it was read.
func (r *resolver) booleans(settings []setting) {
	for _, s := range settings {
		if s.flag.kind == reflect.Bool && s.value != "true" && s.value != "false" {
			r.fail(s.flag.name, fmt.Errorf("%q is not true or false", s.value))
		}
	}
}

// fileName refuses an empty name.
func (r *resolver) fileName(flag, name string) {
	if r.given(flag) && name == "" {
		r.fail(flag, errors.New(`"" is not a file name`))
	}
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

func (r *resolver) duration(flag, value string) time.Duration {
	d, err := backoff.ParseDuration(value)
	r.fail(flag, err)
	return d
}

// oneOf checks a value against those of the grammar. A default is one of them,
// so that nothing is read for a flag that was not given.
func (r *resolver) oneOf(flag, value string) string {
	if !r.given(flag) {
		return value
	}
	valid := validValues(flag)
	if !slices.Contains(valid, value) {
		last := len(valid) - 1
		r.fail(flag, fmt.Errorf("%q is not %s or %s", value, strings.Join(valid[:last], ", "), valid[last]))
	}
	return value
}
