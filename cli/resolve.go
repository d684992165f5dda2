package cli

// This file turns the grammar's text into a policy and options: every value is
// checked here, and every rule that spans flags stands here. Nothing is
// touched; reading the clock, files and the environment is for others.

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/backoff"
	"github.com/retrysh/retry/engine/classify"
	"github.com/retrysh/retry/engine/match"
	"github.com/retrysh/retry/engine/probe"
	"github.com/retrysh/retry/engine/proc"
	"github.com/retrysh/retry/exitcodes"
)

// options is everything that a run needs to know, checked.
type options struct {
	policy  engine.Policy
	process proc.Config
	command []string

	seed    uint64
	hasSeed bool
	key     string
	nested  string // warn, once or allow
	rules   []string
	ruleVia string // how the user named --rules

	targets     []*probe.Target
	waitTimeout time.Duration
	waitCap     time.Duration // the longest wait between two tries of a target
	exec        bool

	quiet, verbose bool
	color          string // auto, always or never
	logFormat      string // text, json, github, gitlab or auto
	logFile        string

	plan, help, version, man bool
	completion               string // a shell, or ""
	explain                  *explanation
}

// runs reports whether anything is to be run or waited for.
func (o *options) runs() bool {
	return !o.plan && !o.help && !o.version && !o.man && o.completion == "" && o.explain == nil
}

// explanation is what --explain is given to judge.
type explanation struct {
	result                 attempt.Result
	stdoutFile, stderrFile string
	at                     time.Time // zero: now
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
	err   error
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

// fromEnvironment reports whether a variable set the flag.
func (r *resolver) fromEnvironment(flag string) bool {
	return r.given(flag) && !strings.HasPrefix(r.words[flag], "-")
}

// resolve checks all flags and what they mean together.
func resolve(table []flag, settings []setting, command []string) (*options, error) {
	r := &resolver{g: apply(table, settings), words: map[string]string{}}
	for _, s := range settings {
		r.words[s.flag.name] = s.word
	}
	g := r.g
	o := &options{
		command: command, exec: g.Exec, quiet: g.Quiet, verbose: g.Verbose, logFile: g.LogFile, rules: g.Rules, ruleVia: r.words["rules"],
		plan: g.Plan, help: g.Help, version: g.Version, man: g.Man, key: g.IdempotencyKey,
	}
	if r.given("completion") {
		o.completion = r.oneOf("completion", g.Completion)
	}
	if o.help || o.version || o.man || o.completion != "" || r.err != nil {
		return o, r.err
	}
	r.booleans(settings)
	r.policy(&o.policy)
	r.judging(&o.policy.Rules)
	r.process(&o.process)
	r.waiting(o)
	r.saying(o)
	o.nested = r.oneOf("nested", g.Nested)
	if r.given("seed") {
		var err error
		o.seed, err = strconv.ParseUint(g.Seed, 10, 64)
		o.hasSeed = true
		if err != nil {
			r.fail("seed", fmt.Errorf("%q is no whole number from 0 to %d", g.Seed, uint64(math.MaxUint64)))
		}
	}
	if r.given("idempotency-key") && g.IdempotencyKey == "" {
		r.fail("idempotency-key", errors.New(`"" is no key; give any text, such as a build number`))
	}
	o.explain = r.explanation()
	r.together(o)
	return o, r.err
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

// policy resolves the sections on the loop, the wait and the limits.
func (r *resolver) policy(p *engine.Policy) {
	g := r.g
	p.Attempts = r.count("attempts", g.Attempts)
	s := &p.Schedule
	s.Base, s.Cap = r.duration("base", g.Base), r.duration("cap", g.Cap)
	s.MinDelay = r.duration("min-delay", g.MinDelay)
	factor, err := strconv.ParseFloat(g.Factor, 64)
	if err != nil || !(factor >= 1) || math.IsInf(factor, 0) {
		r.fail("factor", fmt.Errorf("%q is no number of at least 1, such as 2 or 1.5", g.Factor))
	}
	switch r.oneOf("backoff", g.Backoff) {
	case "exponential":
		s.Curve = backoff.Exponential{Base: s.Base, Factor: factor}
	case "linear":
		s.Curve = backoff.Linear{Base: s.Base}
	case "constant":
		s.Curve = backoff.Constant{Base: s.Base}
	case "fibonacci":
		s.Curve = backoff.Fibonacci{Base: s.Base}
	}
	jitter := g.Jitter
	if r.given("delays") {
		delays := r.delays(g.Delays)
		s.Curve, s.Base = delays, delays[0] // the base of decorrelated jitter
		if !r.given("jitter") {
			jitter = "none"
		}
	}
	s.Jitter, err = backoff.ParseJitter(jitter)
	r.fail("jitter", err)
	p.InitialDelay, p.Splay = r.duration("initial-delay", g.InitialDelay), r.duration("splay", g.Splay)
	p.ResetAfter = r.duration("reset-after", g.ResetAfter)
	p.Timeout, p.Deadline = r.duration("timeout", g.Timeout), r.duration("deadline", g.Deadline)
	p.MaxHint = r.duration("max-hint", g.MaxHint)
}

func (r *resolver) delays(list string) backoff.List {
	var delays backoff.List
	for item := range strings.SplitSeq(list, ",") {
		d, err := backoff.ParseDuration(strings.TrimSpace(item))
		if err != nil {
			r.fail("delays", fmt.Errorf("%w; separate several by commas, as in 1s,5s,30s", err))
		}
		delays = append(delays, d)
	}
	return delays
}

// judging resolves the sections on success, retry or stop.
func (r *resolver) judging(rules *engine.Rules) {
	g := r.g
	rules.SuccessOnExit = r.exits("success-on-exit", g.SuccessOnExit)
	rules.StopOnExit = r.exits("stop-on-exit", g.StopOnExit)
	rules.OnExit = r.exits("on-exit", g.OnExit)
	rules.Stdout = engine.Patterns{
		Until: r.patterns("until-stdout", g.UntilStdout), FailOn: r.patterns("fail-on-stdout", g.FailOnStdout),
		StopOn: r.patterns("stop-on-stdout", g.StopOnStdout), On: r.patterns("on-stdout", g.OnStdout),
	}
	rules.Stderr = engine.Patterns{
		Until: r.patterns("until-stderr", g.UntilStderr), FailOn: r.patterns("fail-on-stderr", g.FailOnStderr),
		StopOn: r.patterns("stop-on-stderr", g.StopOnStderr), On: r.patterns("on-stderr", g.OnStderr),
	}
	rules.Mode = map[string]engine.Mode{"any": engine.Any, "smart": engine.Smart, "strict": engine.Strict}[r.oneOf("classify", g.Classify)]
	switch g.RetryAfter {
	case "off":
	case "auto", "":
		if r.given("retry-after") && g.RetryAfter == "" {
			r.fail("retry-after", errors.New(`"" is not auto, off or a regular expression`))
		}
		rules.Hints = engine.Hints{Use: true, Capture: r.given("retry-after")}
	default:
		re, err := regexp.Compile(g.RetryAfter)
		if err != nil {
			_, err = match.Parse(g.RetryAfter)
			r.fail("retry-after", err)
		}
		rules.Hints = engine.Hints{Use: true, Capture: true, Pattern: re}
	}
	rules.Hints.HeldStdout, rules.Hints.HeldStderr = g.Stdout == "hold", g.Stderr == "hold"
}

func (r *resolver) exits(flag string, lists []string) classify.Exits {
	var all classify.Exits
	for _, list := range lists {
		exits, err := classify.ParseExits(list)
		r.fail(flag, err)
		all = append(all, exits...)
	}
	return all
}

func (r *resolver) patterns(flag string, sources []string) []*match.Pattern {
	var all []*match.Pattern
	for _, source := range sources {
		p, err := match.Parse(source)
		if err == nil && source == "" {
			err = errors.New(`"" matches every line; if that is meant, write "^"`)
		}
		r.fail(flag, err)
		all = append(all, p)
	}
	return all
}

// process resolves the sections on processes and streams.
func (r *resolver) process(c *proc.Config) {
	g := r.g
	c.KillAfter, c.KillLeftovers = r.duration("kill-after", g.KillAfter), g.KillLeftovers
	c.Signal = r.signal(g.Signal)
	c.Stdin = map[string]proc.StdinMode{"inherit": proc.Inherit, "replay": proc.Replay, "null": proc.Null}[r.oneOf("stdin", g.Stdin)]
	output := map[string]proc.OutputMode{"stream": proc.Stream, "hold": proc.Hold}
	c.Stdout = output[r.oneOf("stdout", g.Stdout)]
	c.Stderr = output[r.oneOf("stderr", g.Stderr)]
}

// signal reads a signal's name or, as timeout(1) has it, its number.
func (r *resolver) signal(value string) attempt.Signal {
	var signal attempt.Signal
	var known bool
	if n, err := strconv.Atoi(value); err == nil {
		signal, known = proc.SignalOf(n)
	} else {
		signal, err = attempt.ParseSignal(value)
		r.fail("signal", err)
		_, known = proc.NumberOf(signal)
	}
	if !known {
		r.fail("signal", fmt.Errorf("this system has no signal %q; use one such as TERM, INT, HUP or KILL", value))
	}
	return signal
}

// waiting resolves the section on waiting, then running.
func (r *resolver) waiting(o *options) {
	for _, text := range r.g.WaitFor {
		target, err := probe.Parse(text)
		r.fail("wait-for", err)
		o.targets = append(o.targets, target)
	}
	if len(o.targets) > 0 || !r.fromEnvironment("wait-timeout") {
		o.waitTimeout = r.duration("wait-timeout", r.g.WaitTimeout)
	}
	o.waitCap = time.Second
	if r.given("cap") {
		o.waitCap = o.policy.Schedule.Cap
	}
}

// saying resolves the section on what the program says.
func (r *resolver) saying(o *options) {
	o.color = r.oneOf("color", r.g.Color)
	o.logFormat = r.oneOf("log-format", r.g.LogFormat)
	r.fileName("log-file", r.g.LogFile)
}

// fileName refuses an empty name.
func (r *resolver) fileName(flag, name string) {
	if r.given(flag) && name == "" {
		r.fail(flag, errors.New(`"" is no file name`))
	}
}

// explanation resolves what --explain judges.
func (r *resolver) explanation() *explanation {
	g := r.g
	if !g.Explain {
		for _, flag := range []string{"exit", "stdout-file", "stderr-file", "at"} {
			if r.given(flag) {
				r.fail(flag, errors.New("goes with --explain only"))
			}
		}
		return nil
	}
	x := &explanation{stdoutFile: g.StdoutFile, stderrFile: g.StderrFile}
	r.fileName("stdout-file", g.StdoutFile)
	r.fileName("stderr-file", g.StderrFile)
	if code, err := strconv.ParseUint(g.Exit, 10, 8); err == nil {
		x.result.ExitCode = int(code)
	} else if signal, err := attempt.ParseSignal(g.Exit); err == nil {
		number, known := proc.NumberOf(signal)
		if !known {
			r.fail("exit", fmt.Errorf("this system has no signal %q", g.Exit))
		}
		x.result = attempt.Result{Signal: signal, ExitCode: exitcodes.OfSignal(number)}
	} else {
		r.fail("exit", fmt.Errorf("%q is no exit code from 0 to 255 and no signal such as SIGKILL; --explain needs one", g.Exit))
	}
	if r.given("at") {
		seconds, err := strconv.ParseFloat(g.At, 64)
		if err != nil || !(math.Abs(seconds) < 1e11) {
			r.fail("at", fmt.Errorf("%q is no Unix time in seconds, such as 1795213573", g.At))
		}
		x.at = time.UnixMilli(int64(seconds * 1000))
	}
	return x
}

// together checks what flags mean beside one another.
func (r *resolver) together(o *options) {
	switch {
	case o.plan && o.explain != nil:
		r.fail("plan", errors.New("goes without --explain; give one of them"))
	case o.exec && len(o.targets) == 0:
		r.fail("exec", errors.New("goes with --wait-for only; without it, start the command itself"))
	case o.exec && len(o.command) == 0:
		r.fail("exec", errors.New("needs a command to become, after --"))
	case r.err == nil && len(o.command) == 0 && len(o.targets) == 0 && !o.plan && o.explain == nil:
		r.err = errors.New("no command given; write it after the flags, as in: retry -n 3 -- curl -f http://localhost/")
	}
}

func (r *resolver) duration(flag, value string) time.Duration {
	d, err := backoff.ParseDuration(value)
	r.fail(flag, err)
	return d
}

// count reads a number of attempts; 2^31 - 1 is the greatest that an int holds
// on every system.
func (r *resolver) count(flag, value string) int {
	n, err := strconv.ParseUint(value, 10, 31)
	if err != nil {
		r.fail(flag, fmt.Errorf("%q is no whole number from 0 to %d; 0 is unlimited", value, math.MaxInt32))
	}
	return int(n)
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
