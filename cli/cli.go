// Package cli is the program's outside: it reads the command line and the
// environment, resolves them to a policy, and does what was asked for.
//
// Main goes from words to an exit code in five steps: split, merge, resolve,
// run, code. The package is the only one that knows of flags; it never decides
// about an attempt, which is the engine's work, and exits nowhere but through
// main (a death by signal apart).
//
// # What a start costs
//
// Most of the time of "retry -- true" is the set-up of Go's runtime, the init
// functions of what is linked, and the page faults of both. So what is linked
// costs more than what is called: no package that makes tables when it is
// initialised, and none that finds methods by their names (MethodByName of
// package reflect), for which the linker keeps every exported method of every
// type. What did not help:
//
//   - The first part of the heap taken in one call (MADV_POPULATE_WRITE) instead
//     of by page faults.
//   - The setting updatemaxprocs=0, GOMAXPROCS=1, GOGC=off, a profile for the
//     compiler, GOAMD64=v3.
//   - A start without a sample of the heap's profile is faster, but only by a name
//     of the runtime's own (-X runtime.godebugDefault=memprofilerate=0).
package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/retrysh/retry/engine/tell"
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
		return run(o)
	}
	letSignalsAct()
	if err != nil {
		refuse(err)
		return exitcodes.Of(err)
	}
	for _, m := range modes {
		if m.asked(o) {
			return exitcodes.Of(toStdout(func(w io.Writer) error { return m.print(w, o) }))
		}
	}
	return exitcodes.OK
}

// modes are what the program does in place of running a command: each prints
// what was asked for by name.
var modes = []struct {
	asked func(*options) bool
	print func(io.Writer, *options) error
}{
	{func(o *options) bool { return o.help }, printHelp},
	{func(o *options) bool { return o.version }, printVersion},
	{func(o *options) bool { return o.man }, printMan},
	{func(o *options) bool { return o.completion != "" }, printCompletion},
	{func(o *options) bool { return o.printPolicy }, printChosen},
	{func(o *options) bool { return o.plan && o.rehearsal != nil }, printRehearsal},
	{func(o *options) bool { return o.plan }, printPlan},
	{func(o *options) bool { return o.explain != nil }, withRules(explain)},
	{func(o *options) bool { return o.simulation != nil }, printSimulation},
}

// withRules reads the rule files before something is shown by them.
func withRules(print func(io.Writer, *options) error) func(io.Writer, *options) error {
	return func(w io.Writer, o *options) error {
		if err := readRuleFiles(o); err != nil {
			return err
		}
		return print(w, o)
	}
}

// runs reports whether anything is to be run or waited for.
func runs(o *options) bool {
	for _, m := range modes {
		if m.asked(o) {
			return false
		}
	}
	return true
}

// read turns words into options. What tells of the program itself does so,
// whatever else is wrong after it, and in the user's files and variables.
func read(argv, environ []string) (*options, error) {
	table := flagTable()
	l := lookThrough(table, argv)
	if l.asks("help") {
		return &options{help: true, brief: l.word("help").text == "-h", helpOn: l.helpOn()}, nil
	}
	if l.unknown == "" && (l.asks("version") || l.asks("man")) {
		return &options{version: l.asks("version"), man: l.asks("man")}, nil
	}
	var variables []setting
	if !l.asks("no-env") && !l.asks("completion") {
		variables = environment(table, environ)
	}
	g, settings, err := l.read(table, variables)
	switch {
	case err != nil:
		return nil, err
	case g.Completion != "":
		return &options{completion: g.Completion}, nil
	}
	chosen, err := choosePolicy(table, environ, settings, toRun(g, l.command))
	if err != nil {
		return nil, err
	}
	if len(chosen.settings) > 0 {
		if g, settings, err = l.read(table, merge(chosen.settings, variables)); err != nil {
			return nil, err
		}
	}
	o, err := resolve(g, settings, l.command)
	if err != nil {
		return nil, err
	}
	o.chosen = chosen
	if o.verbose {
		o.sources = sources(settings)
		if !g.NoEnv {
			o.sources = append(o.sources, nearMisses(table, environ)...)
		}
	}
	if o.simulation != nil {
		err = compare(o, table, environ)
	}
	return o, err
}

// compare resolves the policies that a simulation puts side by side, each by
// itself: what was given does not change them. Without any, the policy in force
// gives its name.
func compare(o *options, table []flag, environ []string) error {
	s := o.simulation
	if len(s.herds) == 1 && len(s.names) == 0 && o.chosen.name != "" {
		s.herds[0].name = o.chosen.name
	}
	for _, name := range s.names {
		asked := setting{flag: byName(table, "policy"), value: name, word: "--compare", source: fromCommandLine}
		chosen, err := choosePolicy(table, environ, append(slices.Clone(o.settings), asked), o.command)
		if err != nil {
			return err
		}
		h, err := herd(table, chosen.settings, name)
		if err != nil {
			return err
		}
		s.herds = append(s.herds, h)
	}
	return nil
}

// toStdout writes what was asked for by name to standard output; a disk that is
// full is an error.
func toStdout(print func(io.Writer) error) error { return failed(print(os.Stdout)) }

// failed tells of an error that ends the program before anything has run.
func failed(err error) error {
	switch {
	case err == nil:
	case errors.As(err, new(*usageError)):
		refuse(err)
	default:
		fmt.Fprintf(os.Stderr, "retry: %s\n", tell.Printable(tell.Masked(err.Error())))
	}
	return err
}

// refuse says why nothing is run: what is wrong, and where to look.
func refuse(err error) {
	fmt.Fprintf(os.Stderr, "retry: %s\n%s\n", tell.Printable(shorten(tell.Masked(err.Error()))), "Try 'retry -h' for the flags that most people need, 'retry --help' for all.")
}

// longestLine is how much of an error is shown; values may be huge.
const longestLine = 400

// shorten cuts the middle out of a line that quotes a huge value.
func shorten(s string) string {
	if len(s) <= longestLine {
		return s
	}
	return s[:longestLine/2] + " ... " + s[len(s)-longestLine/2:]
}
