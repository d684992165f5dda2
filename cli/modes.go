package cli

// This file has the modes with a grammar of their own, which run no command of the
// command line (docs/flags.md).

import (
	"cmp"
	"fmt"
	"os"
	"reflect"
	"slices"

	"github.com/retrysh/retry/cli/letters"
	"github.com/retrysh/retry/cli/manual"
	"github.com/retrysh/retry/cli/mode"
	"github.com/retrysh/retry/cli/option"
	"github.com/retrysh/retry/cli/report"
	"github.com/retrysh/retry/cli/status"
	"github.com/retrysh/retry/exitcodes"
)

// ownModes are these modes by their words; each has a text in manual/flags.txt.
func ownModes() map[string]mode.Mode {
	return map[string]mode.Mode{
		"--status":  new(status.Status),
		"--wake":    reach(),
		"--cancel":  reach(),
		"--reset":   new(status.Reset),
		"--letters": new(letters.List),
		"--redrive": new(redrive),
		"--discard": new(letters.Discard),
		"--last":    new(report.Last),
		"--report":  new(report.Report),
		"--learn":   new(report.Learn),
	}
}

// modeCall is a command line that asks for such a mode.
type modeCall struct {
	mode.Mode
	name string
	args []string // all words but the mode's own
	help bool
}

// callOf finds the first mode of a command line, nil for none, behind flags of any grammar.
func callOf(modes map[string]mode.Mode, argv []string) (*modeCall, error) {
	isMode := func(word string) bool { return modes[word] != nil }
	if !slices.ContainsFunc(argv, isMode) {
		return nil, nil
	}
	known := slices.Clip(option.Table())
	for word, m := range modes {
		known = append(append(known, manual.Switch(word[2:])), manual.FlagsOf(reflect.TypeOf(m).Elem())...)
	}
	other := "" // a second mode: one of a run before this one, or one after it
	for _, w := range option.ReadNames(known, argv) {
		name := argv[w.At]
		if !isMode(name) {
			if other == "" && option.IsRunMode(w.Flag) && !w.Off() && !w.Flag.Is("help") {
				other = w.Word
			}
			continue
		}
		before, after := argv[:w.At], argv[w.At+1:]
		if i := slices.IndexFunc(after, func(word string) bool { return word == "--" || isMode(word) }); i >= 0 && after[i] != "--" {
			other = cmp.Or(other, after[i])
		}
		if other != "" {
			return nil, option.Usage(w.Word, fmt.Errorf("cannot be used with %s; give only one of them", other))
		}
		return &modeCall{modes[name], name[2:], slices.Concat(before, after), option.AsksForHelp(before) || option.AsksForHelp(after)}, nil
	}
	return nil, nil
}

// redrives returns the mode if it runs commands, whose the signals are then, else nil.
func (m *modeCall) redrives() *redrive {
	if m == nil || m.help {
		return nil
	}
	r, _ := m.Mode.(*redrive)
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
