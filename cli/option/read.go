package option

// This file reads the command line with kong, and what the command line leaves
// open from variables and policies, as kong's resolvers.
//
// kong builds its model anew at each start, in about 8 us a flag. So it is given
// the flags that the words, the variables and the policy name, as a struct made
// of those fields alone. To find them, and where the command begins, the words
// are looked through once; what they mean is kong's business.

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// Source is where a setting comes from; a higher one beats a lower one (SPEC
// section 1).
type Source int

const (
	// The settings that a policy inherits are lower by one each generation.
	FromPolicy Source = iota + MostAncestors
	FromEnvironment
	FromCommandLine
)

// Setting is one flag as it was given. word is how the user named it, for
// messages.
type Setting struct {
	Flag   *Flag
	Value  string
	Word   string
	Source Source
}

// Line is a command line that was looked through.
type Line struct {
	argv  []string
	Words []ownWord
	// end is where the program's own words end, and command what follows them.
	end     int
	Command []string
	// unknown is the word that is no flag of the program, "" for none.
	Unknown string
}

// ownWord is a flag of the command line, as the user wrote it.
type ownWord struct {
	Flag *Flag
	Text string // "-n" or "--attempts"
	Off  bool   // a switch that was given "=false" or the like
}

// LookThrough finds the flags among the words, and the command. The first word
// that is not a flag starts the command, and so does "--". It ends at the first
// word that kong will refuse.
func LookThrough(all []Flag, argv []string) *Line {
	l := &Line{argv: argv, end: len(argv)}
	for i := 0; i < len(argv); i++ {
		word := argv[i]
		switch {
		case word == "--":
			l.end, l.Command = i, argv[i+1:]
			return l
		case len(word) < 2 || word[0] != '-':
			l.end, l.Command = i, argv[i:]
			return l
		}
		needsNext, known := l.Own(all, word)
		if !known {
			l.Unknown, l.end = word, i+1
			return l
		}
		if !needsNext {
			continue
		}
		if i++; i == len(argv) || len(argv[i]) > 1 && argv[i][0] == '-' {
			if l.end = min(i+1, len(argv)); IsRunMode(l.Words[len(l.Words)-1].Flag) && AsksForHelp(argv[i:l.end]) {
				_, _ = l.Own(all, argv[i]) // of the mode
			}
			return l
		}
	}
	return l
}

// Before are the words before the command, nil where "--" ends them.
func (l *Line) Before() []string {
	if l.end < len(l.argv) && l.argv[l.end] == "--" {
		return nil
	}
	return l.argv[:l.end:l.end]
}

// Own takes one word with flags: a long one, or a cluster such as -qvn5.
func (l *Line) Own(all []Flag, word string) (needsNext, known bool) {
	if strings.HasPrefix(word, "--") {
		name, value, hasValue := strings.Cut(word[2:], "=")
		f := ByName(all, name)
		if f == nil {
			return false, false
		}
		l.Words = append(l.Words, ownWord{f, "--" + name, f.IsBool() && hasValue && Truth(value) == "false"})
		return !f.IsBool() && !hasValue, true
	}
	for i, letter := range word[1:] {
		f := byShort(all, letter)
		if f == nil {
			return false, false
		}
		l.Words = append(l.Words, ownWord{f, "-" + string(letter), false})
		if !f.IsBool() {
			return i+2 == len(word), true
		}
	}
	return false, true
}

// Asks reports whether the last word about a switch, or any about a flag with a
// value, asks for it.
func (l *Line) Asks(name string) bool {
	w := l.Word(name)
	return w != nil && !w.Off
}

// Word is the last one about a flag, nil for none.
func (l *Line) Word(name string) *ownWord {
	for i := len(l.Words) - 1; i >= 0; i-- {
		if l.Words[i].Flag.Is(name) {
			return &l.Words[i]
		}
	}
	return nil
}

// HelpOn is the first mode of the line that has flags for itself, "" for none.
func (l *Line) HelpOn() string {
	for _, w := range l.Words {
		if w.Flag.Is("explain") || w.Flag.Is("simulate") {
			return w.Flag.Name()
		}
	}
	return ""
}

// reading is one use of kong, and the mapper of its values.
type reading struct {
	all      []Flag
	line     *Line
	settings []Setting
}

// Read has kong read the line, with the settings of lower sources for the flags
// that are not on it. It returns the grammar and all settings in force.
func (l *Line) Read(all []Flag, below []Setting) (*grammar, []Setting, error) {
	r := &reading{all: all, line: l}
	g := defaults(all)
	used := l.used(below)
	fields := make([]reflect.StructField, len(used))
	for i, f := range used {
		fields[i] = reflect.StructField{Name: f.field.Name, Type: f.field.Type, Tag: f.field.Tag}
	}
	hot := reflect.New(reflect.StructOf(fields))
	parser, err := kong.New(hot.Interface(), append(r.mappers(), kong.NoDefaultHelp(), kong.Exit(func(int) {}), kong.Resolvers(lower(below)))...)
	if err != nil {
		return nil, nil, err
	}
	if _, err := parser.Parse(l.argv[:l.end]); err != nil {
		return nil, nil, l.explain(all, err)
	}
	for i, f := range used {
		f.in(g).Set(hot.Elem().Field(i))
	}
	return g, r.settings, nil
}

// used are the flags of the line and of the settings below it, each once.
func (l *Line) used(below []Setting) (used []*Flag) {
	add := func(f *Flag) {
		if !slices.Contains(used, f) {
			used = append(used, f)
		}
	}
	for _, w := range l.Words {
		add(w.Flag)
	}
	for _, s := range below {
		add(s.Flag)
	}
	return used
}

// explain says what kong did not understand, in the words of this program.
func (l *Line) explain(all []Flag, err error) error {
	if wrong := new(UsageError); errors.As(err, &wrong) {
		return wrong
	}
	if l.Unknown != "" {
		err = unknownFlag(all, l.Unknown)
		if i := slices.IndexFunc(l.Words, func(w ownWord) bool { return IsRunMode(w.Flag) && !w.Off }); i >= 0 {
			return Usage(l.Words[i].Text, err)
		}
		return err
	}
	return errors.New(err.Error()) // without kong's exit code
}

// mappers make the reading kong's mapper of every kind of value that a flag has.
func (r *reading) mappers() (options []kong.Option) {
	for _, kind := range []reflect.Kind{reflect.Bool, reflect.String, reflect.Int, reflect.Int64, reflect.Uint64, reflect.Float64, reflect.Struct, reflect.Slice} {
		options = append(options, kong.KindMapper(kind, r))
	}
	return options
}

// Decode reads a value, as kong.Mapper: a word of the command line, or what lower
// has answered.
func (r *reading) Decode(c *kong.DecodeContext, target reflect.Value) error {
	given := []Setting{{Flag: ByName(r.all, c.Value.Name), Value: "true", Source: FromCommandLine}}
	if w := r.line.Word(c.Value.Name); w != nil {
		given[0].Word = w.Text
	}
	isDefault := target.Addr().Pointer() == c.Value.Target.Addr().Pointer()
	switch token := c.Scan.Peek(); {
	case target.Kind() == reflect.Bool && token.Type != kong.FlagValueToken:
	case !token.IsValue():
		return valueMissing(&given[0], token)
	default:
		c.Scan.Pop()
		if below, ok := token.Value.([]Setting); ok {
			given = below
		} else {
			given[0].Value = token.String()
		}
	}
	for i := range given {
		s := &given[i]
		if target.Kind() == reflect.Bool && Truth(s.Value) != "" {
			s.Value = Truth(s.Value)
		}
		if err := set(target, s); err != nil {
			return &UsageError{s.Word, err}
		}
	}
	if !isDefault {
		r.settings = append(r.settings, given...)
	}
	return nil
}

// set gives a field of the grammar the value of a setting; one more, where the
// flag may be repeated.
func set(target reflect.Value, s *Setting) error {
	if v, ok := target.Addr().Interface().(setter); ok {
		return v.Set(s.Value)
	}
	switch target.Kind() {
	case reflect.Bool:
		if s.Value != "true" && s.Value != "false" {
			return fmt.Errorf("%q is not true or false", s.Value)
		}
		target.SetBool(s.Value == "true")
	case reflect.Slice:
		element := reflect.New(target.Type().Elem()).Elem()
		if err := set(element, s); err != nil {
			return err
		}
		target.Set(reflect.Append(target, element))
	default:
		if words := s.Flag.words(); len(words) > 0 && !slices.Contains(words, s.Value) {
			last := len(words) - 1
			return fmt.Errorf("%q is not %s or %s", s.Value, strings.Join(words[:last], ", "), words[last])
		}
		target.SetString(s.Value)
	}
	return nil
}

// defaults returns the grammar with nothing given.
func defaults(all []Flag) *grammar {
	g := new(grammar)
	for i := range all {
		if preset := all[i].Preset(); preset != "" {
			// A test proves that each can be read.
			_ = set(all[i].in(g), &Setting{Flag: &all[i], Value: preset})
		}
	}
	return g
}

// Fill returns the grammar that settings alone give, the highest last.
func Fill(all []Flag, settings []Setting) (*grammar, error) {
	g := defaults(all)
	for i := range settings {
		s := &settings[i]
		if err := set(s.Flag.in(g), s); err != nil {
			return nil, &UsageError{s.Word, err}
		}
	}
	return g, nil
}

// lower answers, as a resolver, with the settings of lower sources, for the flags that the
// command line does not have.
func lower(settings []Setting) kong.Resolver {
	return kong.ResolverFunc(func(c *kong.Context, _ *kong.Path, f *kong.Flag) (any, error) {
		given := slices.DeleteFunc(slices.Clone(settings), func(s Setting) bool { return !s.Flag.Is(f.Name) })
		on := func(other string) bool { return onLine(c, other) }
		if len(given) == 0 || slices.ContainsFunc(contradicted(f.Name), on) || given[0].Source == FromEnvironment && idle(f.Name, settings, on) {
			return nil, nil
		}
		return given, nil
	})
}

// idle reports whether a variable sets what none of the flags in force looks at.
func idle(name string, settings []Setting, onLine func(string) bool) bool {
	var needs []string
	switch name {
	case "wait-timeout":
		needs = []string{"wait-for", "wait-gone", "retry-when"}
	case "hedge-max":
		needs = []string{"hedge"}
	case "rehearse-stdout", "rehearse-stderr":
		needs = []string{"rehearse"}
	}
	return len(needs) > 0 && !slices.ContainsFunc(needs, func(other string) bool { return onLine(other) || Last(settings, other) != nil })
}

// Merge puts the settings of a higher source over those of a lower one: a
// repeatable flag there replaces what is below it, and so does one that says
// otherwise.
func Merge(lower, higher []Setting) []Setting {
	if len(lower) == 0 {
		return higher
	}
	beats := func(s Setting) bool {
		name := s.Flag.Name()
		return Last(higher, name) != nil || slices.ContainsFunc(contradicted(name), func(other string) bool {
			h := Last(higher, other)
			return h != nil && Truth(h.Value) != "false"
		})
	}
	return append(slices.DeleteFunc(slices.Clone(lower), beats), higher...)
}

// onLine reports whether the command line has a flag that is not switched off.
func onLine(c *kong.Context, name string) bool {
	return slices.ContainsFunc(c.Path, func(p *kong.Path) bool {
		return p.Flag != nil && p.Flag.Name == name && (!p.Flag.IsBool() || c.Value(p).Bool())
	})
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

// Environment reads the settings that come from RETRY_ variables. Empty and
// unknown variables are ignored. The values of a repeatable flag are separated
// by newlines, since a value may hold anything else; blank lines are ignored,
// as YAML's blocks end in one. Inside another retry, the variables that speak of
// the outer run (the grammar marks them) are ignored.
func Environment(all []Flag, environ []string) (settings []Setting) {
	nested := false
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		value = strings.TrimRight(value, "\r\n")
		if !strings.HasPrefix(name, "RETRY_") || strings.TrimSpace(value) == "" {
			continue
		}
		nested = nested || name == "RETRY_DEPTH"
		f := flagOf(all, name)
		switch {
		case f == nil || !f.HasVariable():
		case f.Repeats():
			for line := range strings.Lines(value) {
				if line = strings.TrimRight(line, "\r\n"); strings.TrimSpace(line) != "" {
					settings = append(settings, Setting{f, line, name, FromEnvironment})
				}
			}
		default:
			settings = append(settings, Setting{f, value, name, FromEnvironment})
		}
	}
	if nested {
		settings = slices.DeleteFunc(settings, func(s Setting) bool { return s.Flag.SpeaksOfOuterRun() })
	}
	return settings
}

// flagOf returns the flag that a variable is named after, nil for none.
func flagOf(all []Flag, variable string) *Flag {
	if variable != strings.ToUpper(variable) {
		return nil
	}
	return ByName(all, strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(variable, "RETRY_"), "_", "-")))
}

// Truth reads what switches a flag without value on or off, as kong has it; ""
// is for everything else.
func Truth(value string) string {
	switch strings.ToLower(value) {
	case "1", "true", "yes":
		return "true"
	case "0", "false", "no":
		return "false"
	}
	return ""
}

// IsRunMode reports whether a flag asks for a mode that takes the flags of a run.
func IsRunMode(f *Flag) bool {
	_, is := reflect.TypeFor[modeFlags]().FieldByName(f.field.Name)
	return is
}

// AsksForHelp looks at the words before "--".
func AsksForHelp(words []string) bool {
	if end := slices.Index(words, "--"); end >= 0 {
		words = words[:end]
	}
	return slices.Contains(words, "--help") || slices.Contains(words, "-h")
}

// Last returns the setting of that flag that counts, nil for none.
func Last(settings []Setting, name string) *Setting {
	for i := len(settings) - 1; i >= 0; i-- {
		if settings[i].Flag.Is(name) {
			return &settings[i]
		}
	}
	return nil
}

// MostAncestors bounds a chain of inheritance, far beyond what a person could
// follow.
const MostAncestors = 50

// Model is kong's, of all flags of a run.
func Model() ([]*kong.Flag, error) {
	r := &reading{all: Table(), line: &Line{}}
	parser, err := kong.New(new(grammar), append(r.mappers(), kong.NoDefaultHelp())...)
	if err != nil {
		return nil, err
	}
	return parser.Model.Flags, nil
}
