package cli

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

// line is a command line that was looked through.
type line struct {
	argv  []string
	words []ownWord
	// end is where the program's own words end, and command what follows them.
	end     int
	command []string
	// unknown is the word that is no flag of the program, "" for none.
	unknown string
}

// ownWord is a flag of the command line, as the user wrote it.
type ownWord struct {
	flag *flag
	text string // "-n" or "--attempts"
	off  bool   // a switch that was given "=false" or the like
}

// lookThrough finds the flags among the words, and the command. The first word
// that is not a flag starts the command, and so does "--". It ends at the first
// word that kong will refuse.
func lookThrough(all []flag, argv []string) *line {
	l := &line{argv: argv, end: len(argv)}
	for i := 0; i < len(argv); i++ {
		word := argv[i]
		switch {
		case word == "--":
			l.end, l.command = i, argv[i+1:]
			return l
		case len(word) < 2 || word[0] != '-':
			l.end, l.command = i, argv[i:]
			return l
		}
		needsNext, known := l.own(all, word)
		if !known {
			l.unknown, l.end = word, i+1
			return l
		}
		if !needsNext {
			continue
		}
		if i++; i == len(argv) || len(argv[i]) > 1 && argv[i][0] == '-' {
			if l.end = min(i+1, len(argv)); isRunMode(l.words[len(l.words)-1].flag) && asksForHelp(argv[i:l.end]) {
				_, _ = l.own(all, argv[i]) // of the mode
			}
			return l
		}
	}
	return l
}

// own takes one word with flags: a long one, or a cluster such as -qvn5.
func (l *line) own(all []flag, word string) (needsNext, known bool) {
	if strings.HasPrefix(word, "--") {
		name, value, hasValue := strings.Cut(word[2:], "=")
		f := byName(all, name)
		if f == nil {
			return false, false
		}
		l.words = append(l.words, ownWord{f, "--" + name, f.isBool() && hasValue && truth(value) == "false"})
		return !f.isBool() && !hasValue, true
	}
	for i, letter := range word[1:] {
		f := byShort(all, letter)
		if f == nil {
			return false, false
		}
		l.words = append(l.words, ownWord{f, "-" + string(letter), false})
		if !f.isBool() {
			return i+2 == len(word), true
		}
	}
	return false, true
}

// asks reports whether the last word about a switch, or any about a flag with a
// value, asks for it.
func (l *line) asks(name string) bool {
	w := l.word(name)
	return w != nil && !w.off
}

// word is the last one about a flag, nil for none.
func (l *line) word(name string) *ownWord {
	for i := len(l.words) - 1; i >= 0; i-- {
		if l.words[i].flag.is(name) {
			return &l.words[i]
		}
	}
	return nil
}

// helpOn is the first mode of the line that has flags for itself, "" for none.
func (l *line) helpOn() string {
	for _, w := range l.words {
		if w.flag.is("explain") || w.flag.is("simulate") {
			return w.flag.name()
		}
	}
	return ""
}

// reading is one use of kong, and the mapper of its values.
type reading struct {
	all      []flag
	line     *line
	settings []setting
}

// read has kong read the line, with the settings of lower sources for the flags
// that are not on it. It returns the grammar and all settings in force.
func (l *line) read(all []flag, below []setting) (*grammar, []setting, error) {
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
func (l *line) used(below []setting) (used []*flag) {
	add := func(f *flag) {
		if !slices.Contains(used, f) {
			used = append(used, f)
		}
	}
	for _, w := range l.words {
		add(w.flag)
	}
	for _, s := range below {
		add(s.flag)
	}
	return used
}

// explain says what kong did not understand, in the words of this program.
func (l *line) explain(all []flag, err error) error {
	if wrong := new(usageError); errors.As(err, &wrong) {
		return wrong
	}
	if l.unknown != "" {
		return unknownFlag(all, l.unknown)
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
	given := []setting{{flag: byName(r.all, c.Value.Name), value: "true", source: fromCommandLine}}
	if w := r.line.word(c.Value.Name); w != nil {
		given[0].word = w.text
	}
	isDefault := target.Addr().Pointer() == c.Value.Target.Addr().Pointer()
	switch token := c.Scan.Peek(); {
	case target.Kind() == reflect.Bool && token.Type != kong.FlagValueToken:
	case !token.IsValue():
		return valueMissing(&given[0], token)
	default:
		c.Scan.Pop()
		if below, ok := token.Value.([]setting); ok {
			given = below
		} else {
			given[0].value = token.String()
		}
	}
	for i := range given {
		s := &given[i]
		if target.Kind() == reflect.Bool && truth(s.value) != "" {
			s.value = truth(s.value)
		}
		if err := set(target, s); err != nil {
			return &usageError{s.word, err}
		}
	}
	if !isDefault {
		r.settings = append(r.settings, given...)
	}
	return nil
}

// set gives a field of the grammar the value of a setting; one more, where the
// flag may be repeated.
func set(target reflect.Value, s *setting) error {
	if v, ok := target.Addr().Interface().(setter); ok {
		return v.Set(s.value)
	}
	switch target.Kind() {
	case reflect.Bool:
		if s.value != "true" && s.value != "false" {
			return fmt.Errorf("%q is not true or false", s.value)
		}
		target.SetBool(s.value == "true")
	case reflect.Slice:
		element := reflect.New(target.Type().Elem()).Elem()
		if err := set(element, s); err != nil {
			return err
		}
		target.Set(reflect.Append(target, element))
	default:
		if words := s.flag.words(); len(words) > 0 && !slices.Contains(words, s.value) {
			last := len(words) - 1
			return fmt.Errorf("%q is not %s or %s", s.value, strings.Join(words[:last], ", "), words[last])
		}
		target.SetString(s.value)
	}
	return nil
}

// defaults returns the grammar with nothing given.
func defaults(all []flag) *grammar {
	g := new(grammar)
	for i := range all {
		if preset := all[i].preset(); preset != "" {
			// A test proves that each can be read.
			_ = set(all[i].in(g), &setting{flag: &all[i], value: preset})
		}
	}
	return g
}

// fill returns the grammar that settings alone give, the highest last.
func fill(all []flag, settings []setting) (*grammar, error) {
	g := defaults(all)
	for i := range settings {
		s := &settings[i]
		if err := set(s.flag.in(g), s); err != nil {
			return nil, &usageError{s.word, err}
		}
	}
	return g, nil
}

// lower answers, as a resolver, with the settings of lower sources, for the flags that the
// command line does not have.
func lower(settings []setting) kong.Resolver {
	return kong.ResolverFunc(func(c *kong.Context, _ *kong.Path, f *kong.Flag) (any, error) {
		given := slices.DeleteFunc(slices.Clone(settings), func(s setting) bool { return !s.flag.is(f.Name) })
		on := func(other string) bool { return onLine(c, other) }
		if len(given) == 0 || slices.ContainsFunc(contradicted(f.Name), on) || given[0].source == fromEnvironment && idle(f.Name, settings, on) {
			return nil, nil
		}
		return given, nil
	})
}

// idle reports whether a variable sets what none of the flags in force looks at.
func idle(name string, settings []setting, onLine func(string) bool) bool {
	var needs []string
	switch name {
	case "wait-timeout":
		needs = []string{"wait-for", "wait-gone", "retry-when"}
	case "hedge-max":
		needs = []string{"hedge"}
	case "rehearse-stdout", "rehearse-stderr":
		needs = []string{"rehearse"}
	}
	return len(needs) > 0 && !slices.ContainsFunc(needs, func(other string) bool { return onLine(other) || last(settings, other) != nil })
}

// merge puts the settings of a higher source over those of a lower one: a
// repeatable flag there replaces what is below it, and so does one that says
// otherwise.
func merge(lower, higher []setting) []setting {
	if len(lower) == 0 {
		return higher
	}
	beats := func(s setting) bool {
		name := s.flag.name()
		return last(higher, name) != nil || slices.ContainsFunc(contradicted(name), func(other string) bool {
			h := last(higher, other)
			return h != nil && truth(h.value) != "false"
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

// environment reads the settings that come from RETRY_ variables. Empty and
// unknown variables are ignored. The values of a repeatable flag are separated
// by newlines, since a value may hold anything else; blank lines are ignored,
// as YAML's blocks end in one. Inside another retry, the variables that speak of
// the outer run (the grammar marks them) are ignored.
func environment(all []flag, environ []string) (settings []setting) {
	nested := false
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		value = strings.TrimRight(value, "\r\n")
		if !strings.HasPrefix(name, "RETRY_") || strings.TrimSpace(value) == "" {
			continue
		}
		nested = nested || name == "RETRY_DEPTH"
		f := byVariable(all, name)
		switch {
		case f == nil:
		case f.repeats():
			for line := range strings.Lines(value) {
				if line = strings.TrimRight(line, "\r\n"); strings.TrimSpace(line) != "" {
					settings = append(settings, setting{f, line, name, fromEnvironment})
				}
			}
		default:
			settings = append(settings, setting{f, value, name, fromEnvironment})
		}
	}
	if nested {
		settings = slices.DeleteFunc(settings, func(s setting) bool { return s.flag.speaksOfOuterRun() })
	}
	return settings
}

// byVariable returns the flag that a variable sets, nil for none.
func byVariable(all []flag, name string) *flag {
	if name != strings.ToUpper(name) {
		return nil
	}
	f := byName(all, strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(name, "RETRY_"), "_", "-")))
	if f == nil || !f.hasVariable() {
		return nil
	}
	return f
}

// truth reads what switches a flag without value on or off, as kong has it; ""
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

// isRunMode reports whether a flag asks for a mode that takes the flags of a run.
func isRunMode(f *flag) bool {
	_, is := reflect.TypeFor[modeFlags]().FieldByName(f.field.Name)
	return is
}

// asksForHelp looks at the words before "--".
func asksForHelp(words []string) bool {
	if end := slices.Index(words, "--"); end >= 0 {
		words = words[:end]
	}
	return slices.Contains(words, "--help") || slices.Contains(words, "-h")
}

// last returns the setting of that flag that counts, nil for none.
func last(settings []setting, name string) *setting {
	for i := len(settings) - 1; i >= 0; i-- {
		if settings[i].flag.is(name) {
			return &settings[i]
		}
	}
	return nil
}

// mostAncestors bounds a chain of inheritance, far beyond what a person could
// follow.
const mostAncestors = 50

// model is kong's, of all flags of a run.
func model() ([]*kong.Flag, error) {
	r := &reading{all: flagTable(), line: &line{}}
	parser, err := kong.New(new(grammar), append(r.mappers(), kong.NoDefaultHelp())...)
	if err != nil {
		return nil, err
	}
	return parser.Model.Flags, nil
}
