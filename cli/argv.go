package cli

// This file splits a command line into the program's own flags and the
// command, and reads the flags. It is driven by a table that is made from the
// grammar beforehand (flags.go) and is pure. A library that builds its model of
// the flags at each start costs every wrapped command more than its fork does;
// the tests hold this reader against one.

import (
	"reflect"
	"slices"
	"strings"
)

// flag is what a reader needs to know of one field of the grammar.
type flag struct {
	name     string
	short    byte
	field    int
	kind     reflect.Kind // String, Bool or Slice
	preset   string       // its default, "" for none
	variable string       // the environment variable that sets it, "" for none
	outer    bool         // inside another retry its variable speaks of the outer run
}

// source is where a setting comes from; a higher one beats a lower one (SPEC
// section 1).
type source int

const (
	// The settings that a policy inherits are lower by one each generation.
	fromPolicy source = iota + mostAncestors
	fromEnvironment
	fromCommandLine
)

// setting is one flag as it was given. word is how the user named it, for
// messages.
type setting struct {
	flag   *flag
	value  string
	word   string
	source source
}

// flagTable is what the readers know of the grammar. Nobody changes it.
func flagTable() []flag { return grammarFlags[:] }

// tag is what else the grammar says of the flag.
func (f *flag) tag() reflect.StructTag { return reflect.TypeFor[grammar]().Field(f.field).Tag }

// validValues are the words that the grammar lists for a flag.
func validValues(name string) []string {
	return strings.Fields(byName(flagTable(), name).tag().Get("values"))
}

// argvError says which word of the program's own could not be read.
type argvError struct {
	word  string // the flag as the user wrote it
	value string // a value that a flag without one was given, or the "--" in place of one
	kind  argvErrorKind
}

type argvErrorKind int

const (
	unknownFlag argvErrorKind = iota
	valueMissing
	valueNotBool
)

// split separates the program's own flags from the command. The first word
// that is not a flag starts the command, and so does "--"; from there on every
// word belongs to the command, untouched. A flag that takes a value takes the
// next word, whatever it looks like, "--" apart.
func split(table []flag, argv []string) (own []setting, command []string, err *argvError) {
	for i := 0; i < len(argv); i++ {
		word := argv[i]
		switch {
		case word == "--":
			return own, argv[i+1:], nil
		case len(word) < 2 || word[0] != '-':
			return own, argv[i:], nil
		}
		var given []setting
		if strings.HasPrefix(word, "--") {
			given, err = splitLong(table, word)
		} else {
			given, err = splitShort(table, word)
		}
		if err != nil {
			return own, nil, err
		}
		if last := &given[len(given)-1]; last.value == missing {
			if i++; i == len(argv) || argv[i] == "--" {
				return own, nil, &argvError{word: last.word, value: strings.Join(argv[i:min(i+1, len(argv))], ""), kind: valueMissing}
			}
			last.value = argv[i]
		}
		own = append(own, given...)
	}
	return own, nil, nil
}

// missing stands for a value that is the next word; NUL cannot be in an
// argument.
const missing = "\x00"

func splitLong(table []flag, word string) ([]setting, *argvError) {
	name, value, hasValue := strings.Cut(word[2:], "=")
	f := byName(table, name)
	if f == nil {
		return nil, &argvError{word: word}
	}
	s := setting{flag: f, value: value, word: "--" + name, source: fromCommandLine}
	switch {
	case f.kind == reflect.Bool && !hasValue:
		s.value = "true"
	case f.kind == reflect.Bool:
		if s.value = truth(value); s.value == "" {
			return nil, &argvError{word: "--" + name, value: value, kind: valueNotBool}
		}
	case !hasValue:
		s.value = missing
	}
	return []setting{s}, nil
}

// splitShort reads "-n5", "-n=5", "-n" (the value follows) and clusters such
// as "-qv" and "-vn5".
func splitShort(table []flag, word string) ([]setting, *argvError) {
	var given []setting
	for i := 1; i < len(word); i++ {
		f := byShort(table, word[i])
		if f == nil {
			return nil, &argvError{word: word}
		}
		s := setting{flag: f, value: "true", word: "-" + word[i:i+1], source: fromCommandLine}
		if f.kind == reflect.Bool {
			given = append(given, s)
			continue
		}
		if s.value = strings.TrimPrefix(word[i+1:], "="); i+1 == len(word) {
			s.value = missing
		}
		return append(given, s), nil
	}
	return given, nil
}

func byName(table []flag, name string) *flag {
	for i := range table {
		if table[i].name == name {
			return &table[i]
		}
	}
	return nil
}

func byShort(table []flag, short byte) *flag {
	for i := range table {
		if short != 0 && table[i].short == short {
			return &table[i]
		}
	}
	return nil
}

// environment reads the settings that come from RETRY_ variables. Empty and
// unknown variables are ignored. The values of a repeatable flag are separated
// by newlines, since a value may hold anything else; blank lines are ignored,
// as YAML's blocks end in one. Inside another retry, the variables that speak of
// the outer run (the grammar marks them) are ignored.
func environment(table []flag, environ []string) (settings []setting) {
	nested := false
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		value = strings.TrimRight(value, "\r\n")
		if !strings.HasPrefix(name, "RETRY_") || strings.TrimSpace(value) == "" {
			continue
		}
		nested = nested || name == "RETRY_DEPTH"
		for i := range table {
			f := &table[i]
			switch {
			case f.variable != name:
			case f.kind == reflect.Slice:
				for line := range strings.Lines(value) {
					if line = strings.TrimRight(line, "\r\n"); strings.TrimSpace(line) != "" {
						settings = append(settings, setting{f, line, name, fromEnvironment})
					}
				}
			case f.kind == reflect.Bool && truth(value) != "":
				settings = append(settings, setting{f, truth(value), name, fromEnvironment})
			default: // resolve refuses what is neither true nor false, if it counts
				settings = append(settings, setting{f, value, name, fromEnvironment})
			}
		}
	}
	if nested {
		settings = slices.DeleteFunc(settings, func(s setting) bool { return s.flag.outer })
	}
	return settings
}

// truth reads what switches a flag without value on or off, as kong (in the tests) has it; ""
// is for everything else.
func truth(value string) string {
	switch strings.ToLower(value) {
	case "1", "true", "yes":
		return "true"
	case "0", "false", "no":
		return "false"
	}
	return ""
}

// merge puts the settings of a higher level over those of a lower one: a
// repeatable flag there replaces what is below it, and so does one that says
// otherwise.
func merge(lower, higher []setting) []setting {
	if len(lower) == 0 {
		return higher
	}
	beaten := map[string]bool{}
	for _, s := range higher {
		beaten[s.flag.name] = true
		for _, name := range contradicted(s.flag.name) {
			beaten[name] = beaten[name] || s.value != "false"
		}
	}
	var all []setting
	for _, s := range lower {
		if !beaten[s.flag.name] {
			all = append(all, s)
		}
	}
	return append(all, higher...)
}

// contradicted are the flags that mean nothing beside this one, or take its
// meaning away.
func contradicted(name string) []string {
	switch name {
	case "delays":
		return []string{"backoff", "base", "factor"}
	case "backoff", "base", "factor":
		return []string{"delays"}
	case "quiet":
		return []string{"verbose"}
	case "verbose":
		return []string{"quiet"}
	}
	return nil
}

// apply fills the grammar with its defaults and then the settings, in order:
// the last one of a flag that is not repeatable wins.
func apply(table []flag, settings []setting) *grammar {
	var g grammar
	v := reflect.ValueOf(&g).Elem()
	for _, f := range table {
		if f.preset != "" {
			v.Field(f.field).SetString(f.preset)
		}
	}
	for _, s := range settings {
		field := v.Field(s.flag.field)
		switch s.flag.kind {
		case reflect.Bool:
			field.SetBool(s.value == "true")
		case reflect.Slice:
			field.Set(reflect.Append(field, reflect.ValueOf(s.value)))
		default:
			field.SetString(s.value)
		}
	}
	return &g
}
