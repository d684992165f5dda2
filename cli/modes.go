package cli

// This file knows the modes that have a grammar of their own, and run no command
// of the command line (SPEC section 1).

import (
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/retrysh/retry/cli/letters"
	"github.com/retrysh/retry/cli/mode"
	"github.com/retrysh/retry/cli/option"
	"github.com/retrysh/retry/cli/report"
	"github.com/retrysh/retry/cli/status"
	"github.com/retrysh/retry/exitcodes"
)

// ownMode is one of them. Grammar is a pointer to its struct for kong.
type ownMode struct {
	name    string
	run     func(mode.Call) int
	grammar any
}

// ownModes is the table of them; each has a text in manual/flags.txt.
func ownModes() []ownMode {
	return []ownMode{
		{"status", status.Show, new(status.Flags)},
		{"wake", wake, new(status.ReachFlags)},
		{"cancel", cancel, new(status.ReachFlags)},
		{"letters", letters.List, new(letters.ListFlags)},
		{"redrive", redrive, new(letters.RedriveFlags)},
		{"discard", letters.Discard, new(letters.DiscardFlags)},
		{"last", report.Last, new(report.LastFlags)},
		{"report", report.Report, new(report.ReportFlags)},
		{"learn", report.Learn, new(report.LearnFlags)},
	}
}

// modeCall is a command line that asks for such a mode.
type modeCall struct {
	ownMode
	args []string // all words but the mode's own
	help bool
}

// callOf takes the command line apart where it asks for one of the modes: its
// first word that is one, among the flags. The words before it may be flags of
// any grammar.
func callOf(modes []ownMode, argv []string) (*modeCall, error) {
	if len(modes) == 0 || !slices.ContainsFunc(argv, func(word string) bool { return modeNamed(modes, word) != nil }) {
		return nil, nil
	}
	known := option.Table()
	for i := range modes {
		known = append(known, option.FlagsOf(reflect.TypeOf(modes[i].grammar).Elem())...)
	}
	first := "" // a mode of a run, which came before
	for i := 0; i < len(argv); i++ {
		word := argv[i]
		if m := modeNamed(modes, word); m != nil {
			if first != "" {
				return nil, option.Usage(word, fmt.Errorf("goes without %s; give one of them", first))
			}
			return &modeCall{*m, slices.Concat(argv[:i], argv[i+1:]), option.AsksForHelp(argv[:i]) || option.AsksForHelp(argv[i+1:])}, nil
		}
		if word == "--" || len(word) < 2 || word[0] != '-' {
			return nil, nil
		}
		l := &option.Line{}
		needsNext, _ := l.Own(known, word)
		if len(l.Words) > 0 && first == "" && option.IsRunMode(l.Words[0].Flag) && !l.Words[0].Off && !l.Words[0].Flag.Is("help") {
			first = l.Words[0].Text
		}
		if needsNext {
			i++
		}
	}
	return nil, nil
}

func modeNamed(modes []ownMode, word string) *ownMode {
	name, long := strings.CutPrefix(word, "--")
	if i := slices.IndexFunc(modes, func(m ownMode) bool { return long && m.name == name }); i >= 0 {
		return &modes[i]
	}
	return nil
}

// do runs the mode, or shows its help.
func (m *modeCall) do(environ []string) int {
	if m.help {
		return exitcodes.Of(toStdout(func(w io.Writer) error { return printHelp(w, &option.Options{HelpOn: m.name}) }))
	}
	return m.run(mode.Call{Name: m.name, Args: m.args, Environ: environ, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr})
}
