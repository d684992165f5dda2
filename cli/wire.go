package cli

// This file puts the packages together for one run. It and the files beside it whose
// names begin with wire_ import the packages which touch the system.

import (
	"cmp"
	"context"
	"errors"
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
	"github.com/retrysh/retry/engine/proc"
	"github.com/retrysh/retry/engine/proc/stdio"
	"github.com/retrysh/retry/engine/registry"
	"github.com/retrysh/retry/exitcodes"
)

// wiring is one run, and what it is put together from.
type wiring struct {
	o       *option.Options
	out     *output
	letter  *redriven // what is run again, nil for a new run
	environ []string
	runner  *proc.Runner
	record  *registry.Record // what --status shows
	e       *engine.Config
}

// run runs the command and returns the code to exit with, unless the program dies by
// the signal that ended the command. letter is what is run again, nil for a new run.
func run(o *option.Options, letter *redriven, signals *proc.Signals) int {
	captureTails(o)
	readRules := func(o *option.Options) error { return readRuleFiles(o, signals) }
	for _, prepare := range []func(*option.Options) error{enoughFiles, readRules, checkRehearsed} {
		if err := prepare(o); err != nil {
			return exitcodes.Of(failed(err))
		}
	}
	w := &wiring{o: o, out: newOutput(o, signals), letter: letter, environ: os.Environ()}
	if !o.Quiet {
		for _, line := range append([]string{o.Chosen.Warning}, o.Idle...) {
			if line != "" {
				w.out.warn(line)
			}
		}
	}
	if o.Process.SignalGroup && !o.Quiet && o.Policy.HedgeMax < 2 && os.Getpid() != 1 && proc.ForegroundTerminal() {
		w.out.warn("--signal-group has no effect here: in the foreground of a terminal the command shares the " +
			"process group of retry")
	}
	if o.Verbose && letter == nil {
		for _, line := range option.Sources(o.Settings) {
			w.out.detail(line)
		}
	}
	w.record = w.register()
	if err := w.build(); err != nil {
		return exitcodes.Of(failed(err))
	}
	end := w.e.Run(context.Background())
	if letter != nil {
		letter.claim.Release()
		letter.report()
	}
	if o.Exec && end == (engine.End{}) {
		w.record.WaitForWakers()
		code, err := proc.Exec(signals, o.Command, withoutTargets(w.environ))
		if err != nil {
			w.out.warn(err.Error())
		}
		return code
	}
	if end == (engine.End{}) && w.out.lines.HasDropped() {
		return exitcodes.Failure
	}
	if end.Signal != "" {
		proc.Die(end.Signal)
	}
	return end.Code
}

const (
	// filesOfATarget is what one try of a target may have open: a socket and those of
	// the resolver, or the two pipes and the null device of an exec target.
	filesOfATarget = 5
	// A copy of a hedged attempt has both outputs held: two files, and a pipe for
	// each and one to wake who reads them. No limit is as high as for manyCopies.
	filesOfACopy = 2 + 2*3
	manyCopies   = 1 << 20
)

// enoughFiles returns an error if fewer files may be open than the run needs.
func enoughFiles(o *option.Options) error {
	others := filesOfATarget * len(o.Targets)
	if o.RetryWhen != nil {
		others = max(others, filesOfATarget)
	}
	reads := 0
	switch stdout, stderr := o.Policy.Rules.Reads(); {
	case stdout && stderr || o.Policy.IdleTimeout > 0:
		reads = 2
	case stdout || stderr:
		reads = 1
	}
	if o.LogFile != "" {
		others++
	}
	if copies := o.Policy.HedgeMax; copies > 1 {
		others += filesOfACopy * min(copies, manyCopies)
	}
	return proc.EnoughFiles(o.Process, reads, others)
}

// build makes the engine.
func (w *wiring) build() error {
	o := w.o
	if o.Policy.HedgeMax > 1 && o.Process.Stdin == stdio.Inherit && len(o.Command) > 0 && !proc.NullInput() {
		return option.Usage(option.Last(o.Settings, "hedge").Word, errors.New(
			"copies cannot share standard input; give each the same with --stdin replay, or none with --stdin null"))
	}
	o.Process.Line = w.out.line
	o.Process.Warn = w.out.warn
	o.Process.Detail = w.out.detail
	w.runner = proc.New(o.Process, w.out.signals)
	e := &engine.Config{
		Policy:   o.Policy,
		Argv:     o.Command,
		WaitOnly: o.Exec || len(o.Command) == 0,
		Starter:  w.runner,
		Emit:     w.out.emit,
		Signals:  engine.Signals{Cancelled: w.out.signals.Cancelled(), Woken: w.out.signals.Woken()},
		Draw:     draw(o, 0),
		Identity: identity(o, w.out.id, w.environ),
		Hooks:    o.Hooks,
		About: event.RunStarted{
			Name: string(o.Name), Key: string(o.Key), Policy: o.Chosen.Name, PolicySource: o.Chosen.Source,
			BareTimeout: bareTimeout(o),
		},
	}
	e.Hooks.Tails = w.out.keepTails
	w.e = e
	if o.Exec {
		e.Hooks.AfterSuccess = "" // the run ends when the command begins
	}
	if o.Rehearse != nil {
		e.Starter = rehearsing(o, w.runner, e.Signals)
	}
	if len(o.Targets) > 0 && !w.letter.goesOn() {
		e.Before = w.untilReady
	}
	if o.RetryWhen != nil {
		e.When = w.whenReady()
	}
	if o.Key != "" && o.Guards.Any() {
		e.Admission = w.admission()
	}
	if o.Process.Stdout == stdio.OnFailure || o.Process.Stderr == stdio.OnFailure {
		e.EndOutput = w.runner.EndOutput
	}
	w.nest()
	w.keepLetters()
	w.keepHistory()
	w.addTelemetry()
	return nil
}

// draw is the random numbers of a run, which --seed makes repeatable. Waits are stream 0,
// so that nothing else that is drawn changes them.
func draw(o *option.Options, stream uint64) func() float64 {
	if o.Given("seed") {
		return rand.New(rand.NewPCG(uint64(o.Seed), stream)).Float64
	}
	return rand.Float64
}

// readRuleFiles reads the user's rules. A signal ends the program while a file is slow.
func readRuleFiles(o *option.Options, signals *proc.Signals) (err error) {
	o.Policy.Rules.Table = classify.BuiltIn
	if len(o.Rules)+len(o.Chosen.Rules) > 0 {
		signals.Interruptible(func() { o.Policy.Rules.Table, err = ruleTable(o) })
	}
	return err
}

// ruleTable is the built-in rules, read when they are needed, under those of policy
// files, if --classify asks for rules, under those of --rules.
func ruleTable(o *option.Options) (func() *classify.Table, error) {
	var own []*classify.Table // each over those before it
	if o.Policy.Rules.Mode != engine.Any {
		own = slices.Clone(o.Chosen.Rules)
		slices.Reverse(own)
	}
	for _, name := range o.Rules {
		rules, err := policy.ReadRules(string(name))
		if err != nil {
			return nil, option.Usage(option.Last(o.Settings, "rules").Word, err)
		}
		own = append(own, rules...)
	}
	table := classify.BuiltIn
	for _, rules := range own {
		base := table
		table = sync.OnceValue(func() *classify.Table { return rules.Over(base()) })
	}
	return table, nil
}

// identity names the run. The run's id must be unique, so --seed does not change it.
func identity(o *option.Options, id string, environ []string) engine.Identity {
	return engine.Identity{
		Environ: environ, RunID: id, Key: cmp.Or(string(o.IdempotencyKey), id), Depth: 1,
		Trace: engine.ContinueTrace(os.Getenv("TRACEPARENT"), rand.Uint64), Random: rand.Uint64,
	}
}

// nest fits the run into the retry around it, if there is one.
func (w *wiring) nest() {
	e := w.e
	if depth := os.Getenv("RETRY_DEPTH"); depth != "" {
		outer, err := strconv.Atoi(depth)
		if err != nil || outer < 1 || outer >= math.MaxInt32 {
			outer = 1
		}
		e.Identity.Depth = outer + 1
		switch {
		case w.o.Nested == "once":
			e.Policy.Attempts, e.Policy.Consecutive = 1, 1 // one run has at most one success
		case os.Getenv("RETRY_HOOK") != "": // it does not multiply the attempts
		case w.o.Nested == "warn" && !w.o.Quiet && e.Policy.Attempts != 1 && !e.WaitOnly:
			w.out.warn("running inside another retry, so attempts multiply; " +
				"--nested once leaves retrying to the outer one, --nested allow says nothing")
		}
	}
	now := time.Now()
	if left, limited := untilExpiry(os.Getenv("RETRY_EXPIRES_AT"), now); limited {
		e.Expires = now.Add(left)
		if left <= 0 {
			e.Hooks = engine.Hooks{}
			e.Before = func(context.Context, time.Time, func(event.Event)) *engine.Decision {
				return engine.TimedOut("the outer retry's deadline has passed; nothing is run")
			}
		}
	}
}

// untilExpiry reads Unix seconds with decimals, as the command sees them in
// RETRY_EXPIRES_AT. What is no such time, or later than the year 5138, limits nothing.
func untilExpiry(text string, now time.Time) (left time.Duration, limited bool) {
	const latest = 1e11
	seconds, err := strconv.ParseFloat(text, 64)
	if err != nil || !(seconds >= 0 && seconds < latest) {
		return 0, false
	}
	return time.UnixMilli(int64(math.Round(seconds * 1000))).Sub(now), true
}
