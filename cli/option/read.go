package option

// This file splits a command line into flags and other words. kong reads the flags (kong.go).
// It copies all words that are left with each one that it takes apart, so it never gets the
// command's words.

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// The most flags of a command line, each of which kong takes off all words that are left,
// and the most targets of a run.
const mostFlags, mostTargets = 1000, 1000

// Read reads a command line, and settings of lower sources for what it leaves open. With an
// error, the options have the settings that come before it.
func Read(argv []string, below []Setting) (*Options, error) {
	named, n, known := leading(Table(), argv)
	o := &Options{Run: *newRun(), Own: argv[:n:n], Command: argv[n:]}
	if n > 0 && argv[n-1] == "--" {
		o.Own = nil
	}
	if len(named) > mostFlags {
		return o, fmt.Errorf("%d flags are more than %d, the most that a command line may have", len(named), mostFlags)
	}
	r := &reading{known: Table(), part: partOf(&o.Run, named, below)}
	err := r.parse(&struct{}{}, argv[:n])
	o.Settings = r.settings
	if err == nil {
		err = r.fill(notSetBy(o.inEffect(below), r.settings))
		o.Settings = r.settings
	}
	if err != nil || Last(r.settings, "shell") != nil {
		if at, found := afterOneDash(argv[:n]); found {
			return o, unknownFlag(argv, at)
		}
	}
	if err == nil || known || errors.As(err, new(*UsageError)) {
		return o, err
	}
	err = unknownFlag(argv, n-1)
	if mode := slices.IndexFunc(o.Settings, func(s Setting) bool { return s.Flag.IsMode() && !s.Off() }); mode >= 0 {
		err = Usage(o.Settings[mode].Word, err)
	}
	return o, err
}

// ReadMode reads the words of a mode into its struct of flags, beside those of a run,
// whose settings it returns. Flags and words may be in any order, and "--" ends the flags.
func ReadMode(mode any, ofRun []Flag, args, environ []string) (run []Setting, err error) {
	own := FlagsOf(reflect.TypeOf(mode).Elem())
	known := slices.Concat(own, ofRun)
	line := splitMode(known, args)
	named := slices.DeleteFunc(line.named, func(f *Flag) bool { return byName(own, f.name) != nil })
	r := &reading{known: known, part: partOf(new(Run), named, nil), argument: line.words}
	err = r.parse(mode, line.oneWord())
	if err == nil {
		err = r.fill(notSetBy(variablesOf(own, environ, r.settings), r.settings))
	}
	if err != nil && line.unknown != "" && !errors.As(err, new(*UsageError)) {
		err = unknownToMode(known, line.unknown)
	}
	for _, s := range r.settings {
		if s.Flag = byName(ofRun, s.Flag.name); s.Flag != nil {
			run = append(run, s)
		}
	}
	return run, err
}

// variablesOf are what variables set of the flags of a mode, none with --no-env.
func variablesOf(own []Flag, environ []string, given []Setting) []Setting {
	if noEnv := Last(given, "no-env"); noEnv != nil && !noEnv.Off() {
		return nil
	}
	return slices.DeleteFunc(Environment(own, environ), func(s Setting) bool {
		return s.Flag.Is("log-format") && s.Value != "json" // formats of a run count as text
	})
}

// modeLine is the line of a mode.
type modeLine struct {
	named   []*Flag
	flags   []string // the words of flags and their values, "--" at the end if it is there
	words   []string // the others
	unknown string   // the first word that is no flag, though it begins with a dash
}

func splitMode(known []Flag, args []string) (l modeLine) {
	for len(args) > 0 {
		named, n, ok := leading(known, args)
		flags := args[:n]
		args = args[n:]
		l.named = append(l.named, named...)
		l.flags = append(l.flags, flags...)
		if !ok && l.unknown == "" {
			l.unknown = flags[n-1]
		}
		switch {
		case n == 0:
			l.words = append(l.words, args[0])
			args = args[1:]
		case flags[n-1] == "--":
			l.words = append(l.words, args...)
			return l
		}
	}
	return l
}

// oneWord is the line with the first word alone. kong takes one row of words, and copies all
// that are left once for each behind "--".
func (l *modeLine) oneWord() []string {
	switch {
	case len(l.words) == 0:
		return l.flags
	case len(l.flags) > 0 && l.flags[len(l.flags)-1] == "--":
		return append(l.flags, l.words[0])
	}
	return append([]string{l.words[0]}, l.flags...)
}

// Fill sets the flags to the settings, the highest last.
func (o *Options) Fill() error {
	o.Run = *newRun()
	r := &reading{known: Table(), part: partOf(&o.Run, nil, o.Settings)}
	if err := r.parse(&struct{}{}, nil); err != nil {
		return err
	}
	return r.fill(o.Settings)
}

// leading finds the flags that a line begins with: those that are named, and how many
// words they, their values and a "--" behind them take. A word that is no flag, though it
// begins with a dash, ends them, and is the last of these words: kong refuses it. Then they
// are not ok.
func leading(known []Flag, argv []string) (named []*Flag, n int, ok bool) {
	for n < len(argv) && isDashed(argv[n]) {
		flags, takesNext, ok := flagsOf(known, argv[n])
		named = append(named, flags...)
		n++
		switch {
		case !ok:
			return named, n, argv[n-1] == "--"
		case takesNext && n < len(argv) && !isDashed(argv[n]):
			n++
		}
	}
	return named, n, true
}

// Leading returns the flags that a line begins with, and their values: those of several
// structs, and switches.
func Leading(argv, switches []string, structs ...any) []string {
	var known []Flag
	for _, name := range switches {
		known = append(known, Flag{name: name[2:], field: reflect.StructField{Type: reflect.TypeFor[bool]()}})
	}
	for _, s := range structs {
		known = append(known, FlagsOf(reflect.TypeOf(s).Elem())...)
	}
	_, n, _ := leading(known, argv)
	return argv[:n]
}

func isDashed(word string) bool { return len(word) > 1 && word[0] == '-' }

// flagsOf returns the flags that a word names, a long one or a cluster such as -qvn5, and
// whether the last takes the next word for its value. It is not ok if one is not known.
func flagsOf(known []Flag, word string) (flags []*Flag, takesNext, ok bool) {
	if name, isLong := strings.CutPrefix(word, "--"); isLong {
		name, _, hasValue := strings.Cut(name, "=")
		f := byName(known, name)
		if f == nil {
			return nil, false, false
		}
		return []*Flag{f}, !f.IsBool() && !hasValue, true
	}
	for i, letter := range word[1:] {
		f := first(known, func(f *Flag) bool { return f.Tag("short") == string(letter) })
		if f == nil {
			return flags, false, false
		}
		flags = append(flags, f)
		if !f.IsBool() {
			return flags, i+2 == len(word), true
		}
	}
	return flags, false, true
}

// AsksForHelp looks at the words before "--".
func AsksForHelp(words []string) bool {
	if end := slices.Index(words, "--"); end >= 0 {
		words = words[:end]
	}
	return slices.Contains(words, "--help") || slices.Contains(words, "-h")
}

// Asks reports whether the last word about a switch, or any about a flag with a value,
// asks for it.
func (o *Options) Asks(name string) bool {
	s := Last(o.Settings, name)
	return s != nil && s.Source == FromCommandLine && !s.Off()
}

// Mode is the first mode of the line that has flags for itself, "" for none.
func (o *Options) Mode() string {
	for _, s := range o.Settings {
		if s.Flag.Is("explain") || s.Flag.Is("simulate") {
			return s.Flag.Name()
		}
	}
	return ""
}
