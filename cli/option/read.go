package option

// This file has kong read the words of a command line into structs of flags, and ask for
// what policies and variables set.
//
// kong builds its model anew at each start, in about 8 us a flag. So it is given those flags
// that are named or set. It copies all words that are left with each one that it takes apart.
// So it never gets the command's words.

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// options are those of every parser. kong's Parse, which is not used, would also look for
// hooks and validators by the names of methods, for which the linker keeps every exported
// method of every type: 1.3 MB of the program.
var options = []kong.Option{kong.NoDefaultHelp(), kong.FlagNamer(dashed)}

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
	r := &reading{known: Table()}
	err := r.read(&struct{}{}, o.only(inUse(named, below)), argv[:n], func(given []Setting) []Setting {
		o.Settings = given
		return notSetBy(o.inEffect(below), given)
	})
	o.Settings = r.settings
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
	isOwn := func(f *Flag) bool { return byName(own, f.name) != nil }
	r := &reading{known: slices.Concat(own, ofRun)}
	var named []*Flag
	var line, words []string
	unknown := ""
	for len(args) > 0 {
		some, n, known := leading(r.known, args)
		named = append(named, some...)
		if !known {
			unknown = cmp.Or(unknown, args[n-1])
		}
		line, args = append(line, args[:n]...), args[n:]
		if n > 0 && line[len(line)-1] == "--" {
			words, args = append(words, args...), nil
		}
		if n == 0 {
			words, args = append(words, args[0]), args[1:]
		}
	}
	part := new(Options).only(inUse(slices.DeleteFunc(named, isOwn), nil))
	// kong takes one row of words, and copies all that are left once for each behind "--".
	// So it gets the first, and Decode takes all.
	r.argument = words
	switch {
	case len(words) == 0:
	case len(line) > 0 && line[len(line)-1] == "--":
		line = append(line, words[0])
	default:
		line = append([]string{words[0]}, line...)
	}
	err = r.read(mode, part, line, func(given []Setting) []Setting {
		if noEnv := Last(given, "no-env"); noEnv != nil && !noEnv.Off() {
			return nil
		}
		return notSetBy(slices.DeleteFunc(Environment(own, environ), func(s Setting) bool {
			return s.Flag.Is("log-format") && s.Value != "json" // formats of a run count as text
		}), given)
	})
	if err != nil && unknown != "" && !errors.As(err, new(*UsageError)) {
		err = unknownToMode(r.known, unknown)
	}
	for _, s := range r.settings {
		if s.Flag = byName(ofRun, s.Flag.name); s.Flag != nil {
			run = append(run, s)
		}
	}
	return run, err
}

// Fill sets the flags to the settings, the highest last.
func (o *Options) Fill() error {
	o.Run = *newRun()
	r := &reading{known: Table()}
	return r.read(&struct{}{}, o.only(inUse(nil, o.Settings)), nil, func([]Setting) []Setting { return o.Settings })
}

// inUse are the flags that are named or set, each once, in the order of the table.
func inUse(named []*Flag, settings []Setting) []*Flag {
	flags := slices.Clone(named)
	for i := range settings {
		flags = append(flags, settings[i].Flag)
	}
	byPlace := func(a, b *Flag) int { return slices.Compare(a.field.Index, b.field.Index) }
	slices.SortFunc(flags, byPlace)
	return slices.CompactFunc(flags, func(a, b *Flag) bool { return byPlace(a, b) == 0 })
}

// part is a struct of some flags of a run, which kong fills in place of the run's.
type part struct {
	run    reflect.Value
	flags  []*Flag
	fields reflect.Value
}

func (o *Options) only(flags []*Flag) *part {
	var fields []reflect.StructField
	for _, f := range flags {
		fields = append(fields, reflect.StructField{Name: f.field.Name, Type: f.field.Type, Tag: f.field.Tag})
	}
	p := &part{reflect.ValueOf(&o.Run).Elem(), flags, reflect.New(reflect.StructOf(fields)).Elem()}
	for i, f := range flags {
		p.fields.Field(i).Set(p.run.FieldByIndex(f.field.Index))
	}
	return p
}

// store sets the run's flags to the values of the part.
func (p *part) store() {
	for i, f := range p.flags {
		p.run.FieldByIndex(f.field.Index).Set(p.fields.Field(i))
	}
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

// reading is one use of kong. As kong.Mapper it hands each value to the type of its field,
// and keeps those of the words as settings. kong's own mapper for encoding.TextUnmarshaler
// passes a text through JSON, which replaces bytes that are not UTF-8.
type reading struct {
	known    []Flag
	words    []string
	argument []string // the words of a mode
	settings []Setting
	err      error // the first about a value
}

// read has kong read words into a struct of flags and a part of those of a run, and what they
// leave open from the settings that below returns.
func (r *reading) read(flags any, part *part, words []string, below func(given []Setting) []Setting) error {
	r.words = words
	var lower []Setting
	resolver := func(_ *kong.Context, _ *kong.Path, f *kong.Flag) (any, error) { return settingsOf(lower, f.Name), nil }
	parser, err := kong.New(flags, append(slices.Clip(options), kong.Resolvers(kong.ResolverFunc(resolver)),
		kong.Embed(part.fields.Addr().Interface()))...)
	if err != nil {
		return err
	}
	for _, f := range parser.Model.Flags {
		f.Mapper = r
	}
	for _, argument := range parser.Model.Positional {
		argument.Mapper = r
	}
	c, err := kong.Trace(parser, words)
	if err == nil {
		err = c.Error
	}
	if r.err == nil && err == nil {
		lower = below(r.settings)
		r.settings = append(r.settings, lower...)
		err = c.Resolve()
	}
	if r.err == nil && err == nil {
		_, err = c.Apply()
		part.store()
	}
	if r.err != nil {
		return r.err
	}
	return err
}

// settingsOf are the settings of a flag, nil for none.
func settingsOf(all []Setting, name string) any {
	var some []Setting
	for _, s := range all {
		if s.Flag.Is(name) {
			some = append(some, s)
		}
	}
	if some == nil {
		return nil
	}
	return some
}

// Decode sets a field, as kong.Mapper.
func (r *reading) Decode(c *kong.DecodeContext, field reflect.Value) error {
	if c.Value.Flag == nil {
		c.Scan.Pop()
		field.Set(reflect.ValueOf(r.argument))
		return nil
	}
	if lower, resolved := c.Scan.Peek().Value.([]Setting); resolved {
		c.Scan.Pop()
		for i := range lower {
			r.set(field, &lower[i])
		}
		return nil
	}
	f := byName(r.known, c.Value.Name)
	if f == nil {
		r.note(fmt.Errorf("unknown flag --%s", c.Value.Name)) // one of a section that this line may not set
		return r.err
	}
	s := Setting{Flag: f, Value: "true", Word: f.wordIn(r.words), Source: FromCommandLine}
	switch token := c.Scan.Peek(); {
	case f.IsBool() && token.Type != kong.FlagValueToken:
	case token.IsValue():
		s.Value = c.Scan.Pop().String()
		if token.Type != kong.ShortFlagTailToken {
			break
		}
		if value, equals := strings.CutPrefix(s.Value, "="); equals {
			r.note(equalsSign(f, value))
			return r.err
		}
		if s.Value[0] == ' ' && set(field, s.Value) != nil {
			r.note(inOneWord(s.Word, s.Word+s.Value, s.Value))
			return r.err
		}
	case f.IsMode() && AsksForHelp([]string{token.String()}): // of the mode
		s.Value = ""
		r.settings = append(r.settings, s)
		return nil
	default:
		r.note(valueMissing(&s, token))
		return r.err
	}
	r.set(field, &s)
	r.settings = append(r.settings, s)
	return nil
}

// set sets a field to a setting. After an error kong goes on, since what follows may ask
// for help.
func (r *reading) set(field reflect.Value, s *Setting) {
	s.Value = s.Flag.written(s.Value)
	if err := set(field, s.Value); err != nil {
		r.note(Usage(s.Word, s.meant(err)))
	}
}

// note keeps the first error about a value.
func (r *reading) note(err error) {
	if r.err == nil {
		r.err = err
	}
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
