// Package cli is the program's user interface: it reads the command line and the
// environment, resolves them to a policy, and runs it or prints what was asked for.
//
// Main goes from words to an exit code in four steps: read, resolve, run, code. The
// package and those below it are the only ones that know flags. It never decides
// about an attempt, which is the engine's task, and the process exits in main only
// (a death by signal apart).
package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/retrysh/retry/cli/option"
	"github.com/retrysh/retry/cli/policy"
	"github.com/retrysh/retry/cli/show"
	"github.com/retrysh/retry/engine/message"
	"github.com/retrysh/retry/engine/text"
	"github.com/retrysh/retry/exitcodes"
)

// Main runs the program with the process's arguments and environment, and
// returns the code to exit with.
func Main() int {
	calm()
	argv, environ := os.Args[1:], os.Environ()
	if m, err := callOf(ownModes(), argv); m != nil || err != nil {
		letSignalsAct()
		if err != nil {
			refuse(err)
			return exitcodes.Of(err)
		}
		return m.do(environ)
	}
	o, err := read(argv, environ)
	if err == nil && runs(o) {
		return run(o, nil)
	}
	letSignalsAct()
	if err != nil {
		refuse(err)
		return exitcodes.Of(err)
	}
	for _, m := range modes {
		if m.asked(o) {
			for _, line := range o.Idle {
				if !o.Quiet {
					complain(line)
				}
			}
			return exitcodes.Of(toStdout(func(w io.Writer) error { return m.print(w, o) }))
		}
	}
	return exitcodes.OK
}

// modes are what the program does in place of a run: each prints something.
var modes = []struct {
	asked func(*option.Options) bool
	print func(io.Writer, *option.Options) error
}{
	{func(o *option.Options) bool { return o.Help }, printHelp},
	{func(o *option.Options) bool { return o.Version }, printVersion},
	{func(o *option.Options) bool { return o.Man }, printMan},
	{func(o *option.Options) bool { return o.Completion != "" }, printCompletion},
	{func(o *option.Options) bool { return o.Chosen != nil && o.Chosen.All != nil }, policy.List},
	{func(o *option.Options) bool { return o.PrintPolicy }, policy.Print},
	{func(o *option.Options) bool { return o.Plan && o.Rehearsal != nil }, printRehearsal},
	{func(o *option.Options) bool { return o.Plan }, show.Plan},
	{func(o *option.Options) bool { return o.Explain != nil }, withRules(show.Explain)},
	{func(o *option.Options) bool { return o.Simulation != nil }, show.Simulate},
}

// withRules reads the rule files before something is shown by them.
func withRules(print func(io.Writer, *option.Options) error) func(io.Writer, *option.Options) error {
	return func(w io.Writer, o *option.Options) error {
		if err := readRuleFiles(o); err != nil {
			return err
		}
		return print(w, o)
	}
}

// runs reports whether anything is to be run or waited for.
func runs(o *option.Options) bool {
	for _, m := range modes {
		if m.asked(o) {
			return false
		}
	}
	return true
}

// read turns words into options. --help and its like count whatever else is wrong
// on the line, in the user's files and in variables.
func read(argv, environ []string) (*option.Options, error) {
	table := option.Table()
	variables := option.Environment(table, environ)
	l, err := option.Read(table, argv, variables)
	switch {
	case l.Asks("help"):
		return &option.Options{Help: true, Brief: l.Word("help").Word == "-h", HelpOn: l.HelpOn()}, nil
	case l.Asks("version") || l.Asks("man"):
		return &option.Options{Version: l.Asks("version"), Man: l.Asks("man")}, nil
	case err != nil:
		return nil, err
	case l.Asks("completion"):
		return &option.Options{Completion: l.Grammar.Completion}, nil
	case l.Asks("no-env"):
		variables = nil
	}
	chosen, err := policy.Choose(table, environ, l.Settings, option.ToRun(l.Grammar, l.Command))
	if err != nil {
		return nil, err
	}
	if chosen.All != nil {
		return &option.Options{Chosen: chosen, LogFormat: l.Grammar.LogFormat}, nil
	}
	if len(chosen.Settings) > 0 {
		if l, err = option.Read(table, argv, option.Merge(chosen.Settings, variables)); err != nil {
			return nil, err
		}
	}
	o, err := option.Resolve(l.Grammar, l.Settings, l.Command)
	if err != nil {
		return nil, err
	}
	o.Chosen = chosen
	if o.Verbose {
		o.Sources = option.Sources(l.Settings)
	}
	if !l.Asks("no-env") {
		o.Idle = append(o.Idle, option.Misnamed(table, environ)...)
	}
	o.Own = l.Before
	if o.Simulation != nil {
		err = compare(o, table, environ)
	}
	return o, err
}

// compare resolves the policies that a simulation compares, each without the flags
// that were given. Without any, the row has the name of the policy in force.
func compare(o *option.Options, table []option.Flag, environ []string) error {
	s := o.Simulation
	if len(s.Herds) == 1 && len(s.Names) == 0 && o.Chosen.Name != "" {
		s.Herds[0].Name = o.Chosen.Name
	}
	for _, name := range s.Names {
		asked := option.Setting{Flag: option.ByName(table, "policy"), Value: name, Word: "--compare", Source: option.FromCommandLine}
		chosen, err := policy.Choose(table, environ, append(slices.Clone(o.Settings), asked), o.Command)
		if err != nil {
			return err
		}
		h, err := option.Herd(table, chosen.Settings, name)
		if err != nil {
			return err
		}
		s.Herds = append(s.Herds, h)
	}
	return nil
}

// toStdout writes what was asked for by name to standard output; a disk that is
// full is an error.
func toStdout(print func(io.Writer) error) error { return failed(print(os.Stdout)) }

// failed prints an error that ends the program before anything has run.
func failed(err error) error {
	switch {
	case err == nil:
	case errors.As(err, new(*option.UsageError)):
		refuse(err)
	default:
		complain(err.Error())
	}
	return err
}

// complain prints a line of the program's own where there is no run.
func complain(line string) {
	fmt.Fprintf(os.Stderr, "retry: %s\n", message.Printable(text.Masked(line)))
}

// refuse prints why nothing is run, and where the flags are described.
func refuse(err error) {
	fmt.Fprintf(os.Stderr, "retry: %s\n%s\n", message.Printable(shorten(text.Masked(err.Error()))), "Try 'retry -h' for the flags that most people need, 'retry --help' for all.")
}

// longestLine is how much of an error is shown; values may be huge.
const longestLine = 400

// shorten cuts the middle out of a line that quotes a huge value.
func shorten(s string) string { return text.CutMiddle(s, longestLine) }
