package option

// This file suggests what was meant by words that are no flag, by variables that are
// those of no flag, and by flags behind the command.

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/retrysh/retry/cli/manual"
	"github.com/retrysh/retry/engine"
)

// unknownFlag is the error for a word that is no flag, with suggestions.
func unknownFlag(word string) error {
	near := Suggest(word)
	switch len(near) {
	case 0:
		return fmt.Errorf("unknown flag %q; write -- before a command that begins with a dash", word)
	case 1:
		return fmt.Errorf("unknown flag %q, did you mean %s?", word, near[0])
	}
	return fmt.Errorf("unknown flag %q, did you mean one of %s?", word, strings.Join(near, ", "))
}

// valueMissing is the error for a flag without its value, before token: what is in the
// value's place, and how the flag is written.
func valueMissing(s *Setting, token kong.Token) error {
	what, write := "the command line ends here", s.Word+" "+manual.Placeholder(s.Flag.name)
	if f := ByName(s.Flag.name); f != nil && f.Preset() != "" && f.Preset() != "0" { // no limit
		write += ", as in " + s.Word + " " + f.Preset()
	}
	if !token.IsEOL() {
		what = fmt.Sprintf("%q begins with a dash", token)
		if token.String() == "--" {
			what = `"--" ends the flags`
		}
		write += fmt.Sprintf("; --%s=%s gives it that value", s.Flag.name, token)
	}
	return Usage(s.Word, fmt.Errorf("needs a value, and %s; write %s", what, write))
}

// equalsSign is the error for -n=5.
func equalsSign(f *Flag, value string) error {
	short := "-" + f.Tag("short")
	if write := strconv.Quote(value); write != `"`+value+`"` {
		value = manual.Placeholder(f.name)
	}
	return Usage(short, fmt.Errorf("%q: a short flag takes no \"=\"; write %s %s", "="+value, short, value))
}

// elsewhere lists flags by the names that they have in other programs: curl, wget,
// timeout, and the common retry tools and libraries. A line is what to write here,
// several ways separated by "or", and the names.
//
//go:embed elsewhere.txt
var elsewhere string

// calledElsewhere returns what to write for a name of another program, nil if it
// is not known. Some names mean another flag together with a value.
func calledElsewhere(name, value string) (ways []string) {
	for line := range strings.Lines(elsewhere) {
		write, names, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch all := strings.Fields(names); {
		case slices.Contains(all, name+"="+value):
			return quoted(write)
		case slices.Contains(all, name):
			ways = quoted(write)
		}
	}
	return ways
}

func quoted(ways string) []string {
	return strings.Split(`"`+strings.ReplaceAll(ways, " or ", `"|"`)+`"`, "|")
}

// shortestName is from where on a name is long enough to be near another one.
const shortestName = 3

// Suggest returns the flags, quoted, that an unknown word may mean: the same
// name written otherwise, what other programs call so, or names that differ
// by a letter or two or go on after the word.
func Suggest(word string) []string {
	name, value, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
	name = strings.ToLower(strings.ReplaceAll(name, "_", "-"))
	if ways := calledElsewhere(name, value); ways != nil {
		return ways
	}
	if len(name) < shortestName {
		return nil
	}
	if ByName(name) != nil {
		return []string{`"--` + name + `"`}
	}
	var near []string
	for _, f := range Table() {
		if known := f.Name(); strings.HasPrefix(known, name) || Near(known, name, 2) {
			near = append(near, `"--`+known+`"`)
		}
	}
	return near
}

// Misnamed returns a line for each variable that was probably meant for a flag and
// sets none: one or two letters off, or set for commands by the program itself
// (docs/environment.md).
func Misnamed(environ []string) (lines []string) {
	nested, limit := false, false
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, "RETRY_") || value == "" {
			continue
		}
		nested, limit = nested || name == "RETRY_DEPTH", limit || name == "RETRY_MAX_ATTEMPTS"
		if flagOf(Table(), name) != nil || engine.SetsVariable(name) {
			continue
		}
		if other := nearest(name); other != "" {
			lines = append(lines, fmt.Sprintf("%s is not the variable of a flag and is ignored; did you mean %s?", name, other))
		}
	}
	if limit && !nested {
		lines = append(lines, "RETRY_MAX_ATTEMPTS is set for commands and does not limit attempts; did you mean RETRY_ATTEMPTS?")
	}
	return lines
}

// nearest returns the variable that differs least, "" if there is none: by a letter
// or two, of a short one by a letter or by the order of its letters.
func nearest(name string) string {
	letters := func(s string) []string { return slices.Sorted(strings.SplitSeq(s, "")) }
	for n := 1; n <= 2; n++ {
		for _, f := range Table() {
			other := f.Variable()
			if f.HasVariable() && Near(name, other, n) && (n < 2 || len(other) > shortVariable || slices.Equal(letters(name), letters(other))) {
				return other
			}
		}
	}
	return ""
}

// shortVariable is the length up to which two letters are half of a name.
const shortVariable = len("RETRY_") + 4

// Near reports whether a is b after at most n insertions, deletions and replacements
// of a letter (Levenshtein).
func Near(a, b string, n int) bool {
	for a != "" && b != "" && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	if a == "" || b == "" || n == 0 {
		return len(a)+len(b) <= n
	}
	return Near(a[1:], b, n-1) || Near(a, b[1:], n-1) || Near(a[1:], b[1:], n-1)
}

// mostBehind is how many words at the end of a command may be flags of a run.
const mostBehind = 16

// Behind splits a command whose last words are flags of a run: they were probably
// meant for retry. Switches alone, such as -v, are most often meant for the
// command, and do not count.
func Behind(command []string) (before, flags []string) {
	for i := max(1, len(command)-mostBehind); i < len(command); i++ {
		if len(command[i]) < 2 || command[i][0] != '-' {
			continue
		}
		o, err := Read(command[i:], nil)
		of := func(test func(*Flag) bool) bool {
			return slices.ContainsFunc(o.Settings, func(s Setting) bool { return test(s.Flag) })
		}
		if err == nil && len(o.Command) == 0 && of(func(f *Flag) bool { return !f.IsBool() }) && !of(func(f *Flag) bool { return !f.HasVariable() }) {
			return command[:i], command[i:]
		}
	}
	return command, nil
}
