// Package cli is the program's user interface: it reads the command line and the
// environment, resolves them to a policy, and runs it or prints what was asked for.
//
// The package and those below it are the only ones that know flags. It never decides
// about an attempt, which is the engine's task. The process exits in main only, except
// for a death by signal.
package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/retrysh/retry/cli/option"
	"github.com/retrysh/retry/cli/policy"
	"github.com/retrysh/retry/cli/show"
	"github.com/retrysh/retry/engine/message"
	"github.com/retrysh/retry/engine/proc"
	"github.com/retrysh/retry/engine/text"
	"github.com/retrysh/retry/exitcodes"
)

// Main runs the program and returns the code to exit with.
func Main() int {
	signals := proc.Listen()
	argv, environ := os.Args[1:], os.Environ()
	var o *option.Options
	own, err := callOf(ownModes, argv)
	if own == nil && err == nil {
		if o, err = read(argv, environ); err == nil && printOf(o) == nil {
			return run(o, nil, signals)
		}
	}
	if r := own.redrive(); r != nil {
		r.Redriver = (&redriver{mode: r, signals: signals}).run
	} else {
		signals.EndAtOnce()
	}
	switch {
	case err != nil:
		refuse(err)
		return exitcodes.Of(err)
	case own != nil:
		return own.do(environ)
	}
	for _, line := range o.Idle {
		if !o.Quiet {
			warn(line)
		}
	}
	return exitcodes.Of(failed(printOf(o)(os.Stdout, o)))
}

// printOf is what the program prints in place of a run, nil for a run.
func printOf(o *option.Options) func(io.Writer, *option.Options) error {
	switch {
	case o.About == "version":
		return printVersion
	case o.About != "" || o.Completion != "":
		return printPage
	case o.Chosen != nil && o.Chosen.All != nil:
		return policy.List
	case o.PrintPolicy:
		return policy.Print
	case o.Plan:
		return show.Plan
	case o.Explain:
		return explain
	case o.Simulation != nil:
		return show.Simulate
	}
	return nil
}

// explain reads the rule files before a result is judged by them.
func explain(w io.Writer, o *option.Options) error {
	if err := readRuleFiles(o, nil); err != nil {
		return err
	}
	return show.Explain(w, o)
}

// read turns words into options. --help and its like count whatever else is wrong
// on the line, in the user's files and in variables.
func read(argv, environ []string) (*option.Options, error) {
	variables := option.Environment(option.Table(), environ)
	o, err := option.Read(argv, variables)
	switch {
	case o.Asks("help"):
		about, on := helpOf(argv, len(argv)-len(o.Command))
		return &option.Options{About: about, HelpOn: cmp.Or(on, o.Mode())}, nil
	case o.Asks("version"):
		return &option.Options{About: "version"}, nil
	case o.Asks("man"):
		return &option.Options{About: "man"}, nil
	case err != nil:
		return nil, err
	case o.Completion != "":
		return o, nil
	case o.NoEnv:
		variables = nil
	}
	if err := checkShell(o, argv); err != nil {
		return nil, err
	}
	chosen, err := policy.Choose(environ, o.Settings, o.ToRun())
	if err == nil && len(chosen.Settings) > 0 {
		o, err = option.Read(argv, option.Merge(chosen.Settings, variables))
	}
	if err == nil && chosen.All == nil {
		err = o.Resolve()
	}
	o.Chosen = chosen
	if err != nil || chosen.All != nil {
		return o, err
	}
	if !o.NoEnv {
		o.Idle = append(o.Idle, option.Misnamed(environ)...)
	}
	if o.Simulation != nil {
		err = compare(o, environ)
	}
	return o, err
}

// helpOf is what the line that asks for help prints: with -h what fits on a screen, with
// --help all, or what is about the word behind it or behind its "=". The command begins at
// a word.
func helpOf(argv []string, command int) (about, on string) {
	at := slices.IndexFunc(argv[:command], func(word string) bool {
		name, _, _ := strings.Cut(word, "=")
		return name == "--help"
	})
	if at < 0 {
		return "-h", ""
	}
	_, on, joined := strings.Cut(argv[at], "=")
	switch {
	case joined && option.Truth(on) != "":
		on = ""
	case !joined && at+1 < len(argv) && argv[at+1] != "--":
		on = argv[at+1]
	}
	return "--help", on
}

// compare resolves the policies that a simulation compares, each without the flags
// that were given. Without any, the row has the name of the policy in force.
func compare(o *option.Options, environ []string) error {
	s := o.Simulation
	if len(s.Herds) == 1 && len(s.Names) == 0 && o.Chosen.Name != "" {
		s.Herds[0].Name = o.Chosen.Name
	}
	for _, name := range s.Names {
		asked := option.Setting{
			Flag: option.ByName("policy"), Value: name, Word: "--compare", Source: option.FromCommandLine,
		}
		chosen, err := policy.Choose(environ, append(slices.Clone(o.Settings), asked), o.Command)
		if err != nil {
			return err
		}
		h, err := option.Herd(chosen.Settings, name)
		if err != nil {
			return err
		}
		s.Herds = append(s.Herds, h)
	}
	return nil
}

// failed prints an error that ends the program before anything has run.
func failed(err error) error {
	switch {
	case err == nil:
	case errors.As(err, new(*option.UsageError)):
		refuse(err)
	default:
		warn(err.Error())
	}
	return err
}

// warn prints a line of the program when there is no run.
func warn(line string) {
	fmt.Fprintf(os.Stderr, "retry: %s\n", message.Printable(text.Masked(line)))
}

// refuse prints why nothing is run, and where the flags are described.
func refuse(err error) {
	fmt.Fprintf(os.Stderr, "retry: %s\nTry 'retry -h' for the flags that most people need, 'retry --help' for all.\n",
		message.Printable(shorten(option.Shown(err))))
}

// longestLine is how much of an error is shown; values may be huge.
const longestLine = 400

// shorten cuts the middle out of a line that quotes a huge value.
func shorten(s string) string { return text.CutMiddle(s, longestLine) }
