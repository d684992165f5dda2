package cli

// This file puts the packages together for one run. It and the files beside it whose
// names begin with wire_ are the only ones that import packages which touch the system.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/retrysh/retry/cli/option"
	"github.com/retrysh/retry/cli/policy"
	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/classify"
	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/hook"
	"github.com/retrysh/retry/engine/proc"
	"github.com/retrysh/retry/exitcodes"
)

// run does the program's main job and returns the code to exit with, unless
// it dies by the signal that ended the command. letter is what is run, nil for a
// run that has none yet.
func run(o *option.Options, letter *redriven) int {
	captureTails(o)
	err := enoughFiles(o)
	if err == nil {
		err = readRuleFiles(o)
	}
	if err == nil {
		err = readRehearsed(o)
	}
	if err != nil {
		return exitcodes.Of(failed(err))
	}
	signals := proc.Listen()
	environ := os.Environ()
	out := newOutput(o, signals)
	if o.Chosen.Warning != "" && !o.Quiet {
		out.complain("%s", o.Chosen.Warning)
	}
	for _, line := range o.Idle {
		if !o.Quiet {
			out.complain("%s", line)
		}
	}
	for _, line := range o.Sources {
		out.note(line)
	}
	record := out.register(o, letter, signals)
	e, err := build(o, letter, environ, signals, out)
	switch {
	case err == nil:
	case errors.As(err, new(*option.UsageError)):
		refuse(err)
		return exitcodes.Of(err)
	default:
		out.complain("%v", err)
		return exitcodes.Of(err)
	}
	keepHistory(o, letter, e, out)
	e.CloseLimit = out.addTelemetry(o)
	end := e.Run(context.Background())
	if letter != nil {
		letter.claim.Release()
		letter.report()
	}
	if o.Exec && end == (engine.End{}) {
		record.Yield()
		code, err := proc.Exec(signals, o.Command, withoutTargets(environ))
		if err != nil {
			out.complain("%v", err)
		}
		return code
	}
	if end.Signal != "" {
		proc.Die(end.Signal)
	}
	return end.Code
}

// filesOfATarget is what one try of a target may have open: a socket and those of
// the resolver, or the two pipes and the null device of an exec target.
const filesOfATarget = 5

// enoughFiles returns an error where fewer files may be open than the run needs.
func enoughFiles(o *option.Options) error {
	reads, others := 0, filesOfATarget*max(len(o.Targets), 1)
	if len(o.Targets) == 0 && o.RetryWhen == nil {
		others = 0
	}
	stdout, stderr := o.Policy.Rules.Reads()
	switch {
	case stdout && stderr || o.Policy.IdleTimeout > 0:
		reads = 2
	case stdout || stderr:
		reads = 1
	}
	if o.LogFile != "" {
		others++
	}
	if copies := o.Policy.Hedge.Max; copies > 1 {
		others += filesOfACopy * min(copies, manyCopies)
	}
	return proc.EnoughFiles(o.Process, reads, others)
}

// A copy of a hedged attempt has both outputs held: two files, and a pipe for
// each and one to wake who reads them. More than manyCopies are not counted: no
// limit is that high.
const (
	filesOfACopy = 2 + 2*3
	manyCopies   = 1 << 20
)

// build makes the engine for one run.
func build(o *option.Options, letter *redriven, environ []string, signals *proc.Signals, out *output) (*engine.Engine, error) {
	if o.Policy.Hedge.Max > 1 && o.Process.Stdin == proc.Inherit && len(o.Command) > 0 && !proc.NullInput() {
		return nil, option.Usage(o.HedgeVia, errors.New("copies cannot share standard input; give each the same with --stdin replay, or none with --stdin null"))
	}
	o.Process.Report, o.Process.Note = func(line string) { out.complain("%s", line) }, out.note
	runner, err := proc.New(o.Process, signals)
	if err != nil {
		return nil, err
	}
	e := &engine.Engine{
		Policy: o.Policy, Argv: o.Command, WaitOnly: o.Exec || len(o.Command) == 0, Starter: runner, Sink: out,
		Signals:  engine.Signals{Cancelled: signals.Cancelled(), Woken: signals.Woken(), Notify: signals.Notify},
		Draw:     draw(o, 0),
		Identity: identity(o, environ),
		Hooks:    o.Hooks,
		About:    engine.About{Name: o.Name, Policy: o.Chosen.Name, PolicySource: o.Chosen.Source, PolicyUnasked: o.Chosen.Unasked},
	}
	e.Hooks.Keep = out.keepTail
	if o.Exec {
		e.Hooks.AfterSuccess = "" // the run ends where the command begins
	}
	if o.Rehearsal != nil {
		e.Starter = rehearsing(o, runner, e.Signals)
	}
	if len(o.Targets) > 0 && !letter.goesOn() {
		e.Before = (&waiting{o, environ, e.Signals}).untilReady
	}
	if o.RetryWhen != nil {
		e.When = (&waiting{o, environ, e.Signals}).whenReady(e.Draw)
	}
	if o.Guarding.Key != "" {
		e.About.Key = o.Guarding.Key
		if o.Guarding.Guards.Any() || len(o.Policy.Rotate) > 0 {
			e.Gate = gateOf(o, environ, e.GateEvent)
		}
	}
	nest(o, e, out)
	keepLetters(o, letter, e, runner, out)
	return e, nil
}

// draw is the random numbers of a run, which --seed makes repeatable. The waits are
// stream 0: what else is drawn does not change them.
func draw(o *option.Options, stream uint64) func() float64 {
	if o.HasSeed {
		return rand.New(rand.NewPCG(o.Seed, stream)).Float64
	}
	return rand.Float64
}

// readRuleFiles reads the user's rules, if there are any: from a slow file for as
// long as it takes, or until a signal ends the program.
func readRuleFiles(o *option.Options) (err error) {
	o.Policy.Rules.Table = classify.BuiltIn
	if len(o.Rules)+len(o.Chosen.Rules) > 0 {
		proc.Interruptible(func() { o.Policy.Rules.Table, err = ruleTable(o) })
	}
	return err
}

// ruleTable is the built-in rules under those of policy files, where --classify
// asks for rules, under those of --rules, which are checked at once; the
// built-in ones are read when the table is asked for.
func ruleTable(o *option.Options) (func() *classify.Table, error) {
	var own []*classify.Table // each over those before it
	if o.Policy.Rules.Mode != engine.Any {
		own = slices.Clone(o.Chosen.Rules)
		slices.Reverse(own)
	}
	for _, name := range o.Rules {
		data, err := readRules(name)
		if err != nil {
			return nil, option.Usage(o.RuleVia, err)
		}
		rules, err := classify.ParseRules(name, data)
		if err != nil {
			return nil, option.Usage(o.RuleVia, err)
		}
		more, err := policy.IncludedRules(name, string(data))
		if err != nil {
			return nil, option.Usage(o.RuleVia, err)
		}
		own = append(append(own, more...), rules)
	}
	table := classify.BuiltIn
	for _, rules := range own {
		base := table
		table = sync.OnceValue(func() *classify.Table { return rules.Over(base()) })
	}
	return table, nil
}

// largestRules is some twenty times what the built-in rules take.
const largestRules = 4 << 20

func readRules(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, largestRules+1))
	if err == nil && len(data) > largestRules {
		err = fmt.Errorf("%q has more than %d MiB, which rules do not", name, largestRules>>20)
	}
	return data, err
}

// identity names the run. The run's id must be unique, so --seed does not
// touch it.
func identity(o *option.Options, environ []string) engine.Identity {
	id := engine.Identity{
		Environ: environ, RunID: engine.NewRunID(rand.Uint64), Key: o.Key, Depth: 1,
		Trace: engine.ContinueTrace(os.Getenv("TRACEPARENT"), rand.Uint64), Random: rand.Uint64,
	}
	if id.Key == "" {
		id.Key = id.RunID
	}
	return id
}

// nest fits the run into the retry around it, if there is one.
func nest(o *option.Options, e *engine.Engine, out *output) {
	if depth := os.Getenv("RETRY_DEPTH"); depth != "" {
		outer, err := strconv.Atoi(depth)
		if err != nil || outer < 1 || outer >= math.MaxInt32 {
			outer = 1
		}
		e.Identity.Depth = outer + 1
		switch {
		case o.Nested == "once":
			e.Policy.Attempts, e.Policy.Consecutive = 1, 1 // one success is all that one run can have
		case os.Getenv("RETRY_HOOK") != "": // it does not multiply the attempts
		case o.Nested == "warn" && !o.Quiet && e.Policy.Attempts != 1 && !e.WaitOnly:
			out.complain("running inside another retry, so attempts multiply; --nested once leaves retrying to the outer one, --nested allow says nothing")
		}
	}
	now := time.Now()
	left, limited := untilExpiry(os.Getenv("RETRY_EXPIRES_AT"), now)
	if !limited {
		return
	}
	if left <= 0 {
		e.Before, e.Hooks = tooLate, hook.Set{}
	}
	e.Expires = now.Add(left)
}

// tooLate ends a run that the retry around it leaves no time.
func tooLate(context.Context, time.Time, func(event.Event)) *engine.Decision {
	return new(engine.TimedOut("the outer retry's deadline has passed; nothing is run"))
}

// latestExpiry is the year 5138 in Unix seconds. What is later is no limit.
const latestExpiry = 1e11

// untilExpiry reads Unix seconds with decimals, as the command sees them in
// RETRY_EXPIRES_AT. What is no such time was not set by a retry and limits
// nothing.
func untilExpiry(text string, now time.Time) (left time.Duration, limited bool) {
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil || !(seconds >= 0 && seconds < latestExpiry) {
		return 0, false
	}
	return time.UnixMilli(int64(math.Round(seconds * 1000))).Sub(now), true
}

// calm keeps Go's own answers to signals from printing its stacks.
func calm() { proc.NoStacks() }

// letSignalsAct gives signals back their default action, for what runs nothing.
func letSignalsAct() { proc.RestoreDispositions() }
