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
	o, err := read(os.Args[1:], os.Environ())
	if err == nil && o.runs() {
		return run(o)
	}
	letSignalsAct()
	if err != nil {
		refuse(err)
		return exitcodes.Of(err)
	}
	for _, m := range modes {
		if m.asked(o) {
			return exitcodes.Of(show(func(w io.Writer) error { return m.print(w, o) }))
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
	{func(o *options) bool { return o.printPolicy }, printPolicy},
	{func(o *options) bool { return o.plan && o.rehearsal != nil }, printRehearsal},
	{func(o *options) bool { return o.plan }, printPlan},
	{func(o *options) bool { return o.explain != nil }, explain},
	{func(o *options) bool { return o.simulation != nil }, printSimulation},
}

// runs reports whether anything is to be run or waited for.
func (o *options) runs() bool {
	for _, m := range modes {
		if m.asked(o) {
			return false
		}
	}
	return true
}

func printHelp(w io.Writer, o *options) error {
	if o.brief {
		return pages().Brief(w)
	}
	return pages().Help(w)
}

func printMan(w io.Writer, _ *options) error { return pages().Man(w) }

func printCompletion(w io.Writer, o *options) error { return pages().Completion(w, o.completion) }

// read turns words into options. What asks for help is given help, whatever
// else is wrong after it.
func read(argv, environ []string) (*options, error) {
	table := flagTable()
	own, command, argvErr := split(table, argv)
	for _, s := range own {
		if s.flag.name == "help" && s.value == "true" {
			return &options{help: true, brief: s.word == "-h"}, nil
		}
	}
	if argvErr != nil {
		return nil, explainArgv(argvErr)
	}
	var variables []setting
	if !switchedOn(own, "no-env") {
		variables = environment(table, environ)
	}
	given := merge(variables, own)
	if needsNoPolicy(own) {
		return resolve(table, given, command)
	}
	chosen, err := choosePolicy(table, environ, given, toRun(given, command))
	if err != nil {
		return nil, err
	}
	settings := merge(chosen.settings, given)
	o, err := resolve(table, settings, command)
	if err == nil {
		o.chosen, o.settings = chosen, settings
		if o.verbose {
			o.sources = sources(settings)
			if !switchedOn(own, "no-env") {
				o.sources = append(o.sources, nearMisses(table, environ)...)
			}
		}
	}
	if err == nil && o.simulation != nil {
		err = o.simulation.compare(table, environ, given, command, chosen.name)
	}
	return o, err
}

// toRun is the command, which the shell runs where --shell was given.
func toRun(given []setting, command []string) []string {
	if s := last(given, "shell"); s != nil {
		return shellArgv(s.value, command)
	}
	return command
}

// needsNoPolicy reports whether a mode was asked for that tells of the program
// itself, whatever stands in the user's files.
func needsNoPolicy(own []setting) bool {
	return slices.ContainsFunc(own, func(s setting) bool {
		return s.value != "false" && slices.Contains([]string{"version", "man", "completion"}, s.flag.name)
	})
}

// switchedOn reports whether the last setting of a flag without a value is on.
func switchedOn(settings []setting, name string) bool {
	on := false
	for _, s := range settings {
		if s.flag.name == name {
			on = s.value == "true"
		}
	}
	return on
}

// show writes what was asked for by name to standard output; a disk that is
// full is an error.
func show(print func(io.Writer) error) error { return failed(print(os.Stdout)) }

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
