package cli

// This file has the modes with flags of their own, which run no command of the
// command line (docs/flags.md).

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/retrysh/retry/cli/letters"
	"github.com/retrysh/retry/cli/mode"
	"github.com/retrysh/retry/cli/option"
	"github.com/retrysh/retry/cli/report"
	"github.com/retrysh/retry/cli/status"
	"github.com/retrysh/retry/exitcodes"
)

// ownMode is such a mode: its word, and what makes its struct of flags.
type ownMode struct {
	word string
	make func() mode.Mode
}

// ownModes are all of them; each has a text in manual/flags.txt.
var ownModes = []ownMode{
	{"--status", func() mode.Mode { return status.New() }},
	{"--wake", reach},
	{"--cancel", reach},
	{"--reset", func() mode.Mode { return status.NewReset() }},
	{"--letters", func() mode.Mode { return letters.NewList() }},
	{"--redrive", func() mode.Mode { return letters.NewRedrive() }},
	{"--discard", func() mode.Mode { return letters.NewDiscard() }},
	{"--last", func() mode.Mode { return report.NewLast() }},
	{"--report", func() mode.Mode { return report.NewReport() }},
	{"--learn", func() mode.Mode { return report.NewLearn() }},
}

// modeOf returns the place of the mode with a word, -1 for none.
func modeOf(modes []ownMode, word string) int {
	return slices.IndexFunc(modes, func(m ownMode) bool { return m.word == word })
}

// modeCall is a command line that asks for such a mode.
type modeCall struct {
	mode.Mode
	name string
	args []string // all words but the mode's own
	help bool
}

// callOf finds the first mode of a command line, nil for none, behind flags of any of them.
func callOf(modes []ownMode, argv []string) (*modeCall, error) {
	isMode := func(word string) bool { return modeOf(modes, word) >= 0 }
	if !slices.ContainsFunc(argv, isMode) {
		return nil, nil
	}
	all := []any{&option.Run{}}
	var words []string
	for _, m := range modes {
		all = append(all, m.make())
		words = append(words, m.word)
	}
	flags := option.Leading(argv, words, all...)
	at := slices.IndexFunc(flags, isMode) // a value that begins with a dash is in the word of its flag
	if at < 0 {
		return nil, nil
	}
	other := "" // a second mode: one of a run before this one, or one after it
	for _, word := range flags[:at] {
		name, value, _ := strings.Cut(strings.TrimPrefix(word, "--"), "=")
		if f := option.ByName(name); other == "" && f != nil && f.IsMode() && name != "help" &&
			option.Truth(value) != "false" {
			other = word
		}
	}
	name, before, after := argv[at], argv[:at], argv[at+1:]
	if i := slices.IndexFunc(after, func(word string) bool { return word == "--" || isMode(word) }); i >= 0 &&
		after[i] != "--" {
		other = cmp.Or(other, after[i])
	}
	if other != "" {
		return nil, option.Usage(name, fmt.Errorf("cannot be used with %s; give only one of them", other))
	}
	return &modeCall{
		Mode: modes[modeOf(modes, name)].make(), name: name[2:], args: slices.Concat(before, after),
		help: option.AsksForHelp(before) || option.AsksForHelp(after),
	}, nil
}

// redrive returns the mode if it runs commands, whose the signals are then, else nil.
func (m *modeCall) redrive() *letters.Redrive {
	if m == nil || m.help {
		return nil
	}
	r, _ := m.Mode.(*letters.Redrive)
	return r
}

// do runs the mode, or shows its help.
func (m *modeCall) do(environ []string) int {
	if m.help {
		return exitcodes.Of(failed(printPage(os.Stdout, &option.Options{HelpOn: m.name})))
	}
	c := mode.Call{Name: m.name, Args: m.args, Environ: environ, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
	if m.name == "redrive" {
		c.OfRun = option.OfRedrive()
	}
	return mode.Run(c, m.Mode)
}
