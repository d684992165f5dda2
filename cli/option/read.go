package option

// This file reads the command line with kong.
//
// kong builds its model anew at each start, in about 8 us a flag, and copies all
// words that are left with each one that it takes apart. So it is given the flags
// that words, variables and the policy may name, and no words that are the command's
// for certain. What a word means, and where the command begins, is kong's business.

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/retrysh/retry/cli/manual"
)

// Line is a command line that kong has read, as far as it could. Its settings begin with
// those of the command line, in their order.
type Line struct {
	Options
	all  []Flag
	argv []string
	next int // of argv, that kong has not read yet
}

// Read has kong read the words, and adds the settings of lower sources for the flags
// that are not on the line. Where there is an error, the line is what came before.
func Read(argv []string, below []Setting) (*Line, error) {
	l := &Line{all: Table(), argv: argv}
	wrong := l.parse(l.mayName())
	if wrong == nil {
		l.Settings = append(l.Settings, leftOpen(l.used(below), l.Settings)...)
	}
	err := l.Fill()
	if err == nil && wrong != nil {
		err = l.explain(wrong)
	}
	return l, err
}

// ReadNames has kong read words by the flags of several grammars. It returns those
// that were given, with any value.
func ReadNames(all []Flag, argv []string) []Setting {
	l := &Line{all: all, argv: argv}
	_ = l.parse(l.mayName())
	return l.Settings
}

// ReadMode reads the words of a mode into its grammar, a pointer to a struct of the
// flags that it has, beside those of a run, whose settings it returns. Flags and words
// may be in any order, and "--" ends the flags.
func ReadMode(grammar any, ofRun []Flag, args, environ []string) (run []Setting, words []string, err error) {
	to := reflect.ValueOf(grammar).Elem()
	own := manual.FlagsOf(to.Type())
	l := &Line{all: slices.Concat(own, ofRun)}
	l.argv, words = flagsFirst(l.all, args)
	used, _ := l.mayName()
	for i := range own { // all, from which kong suggests some for an unknown one
		used = append(used, &l.all[i])
	}
	if err := l.parse(used, len(l.argv)); err != nil {
		return nil, nil, err
	}
	below := slices.DeleteFunc(Environment(own, environ), func(s Setting) bool {
		return s.Flag.Is("log-format") && s.Value != "json" // formats of a run count as text
	})
	ofMode := slices.DeleteFunc(Merge(l.used(below), l.Settings), func(s Setting) bool { return manual.ByName(own, s.Flag.Name()) == nil })
	if err := fill(to, own, ofMode); err != nil {
		return nil, nil, err
	}
	for _, s := range l.Settings {
		if s.Flag = manual.ByName(ofRun, s.Flag.Name()); s.Flag != nil {
			run = append(run, s)
		}
	}
	return run, words, (&Options{Settings: run}).Fill()
}

// flagsFirst sorts words: kong takes the first that is no flag for the command.
func flagsFirst(all []Flag, args []string) (flags, words []string) {
	for i := 0; i < len(args); i++ {
		switch word := args[i]; {
		case word == "--":
			return flags, append(words, args[i+1:]...)
		case len(word) < 2 || word[0] != '-':
			words = append(words, word)
		default:
			flags = append(flags, word)
			if _, takesNext := named(all, word); takesNext && i+1 < len(args) {
				i++
				flags = append(flags, args[i])
			}
		}
	}
	return flags, words
}

// parse has kong read the words before bound into a struct of flags. It has switches
// and texts only, since Fill reads the values.
func (l *Line) parse(used []*Flag, bound int) error {
	fields := make([]reflect.StructField, 0, len(used)+1)
	for i, f := range used {
		if slices.Contains(used[:i], f) {
			continue
		}
		field := reflect.StructField{Name: f.Field.Name, Type: reflect.TypeFor[string]()}
		if f.IsBool() {
			field.Type = reflect.TypeFor[bool]()
		}
		if letter := f.Short(); letter != "" && manual.ByShort(l.all, letter) == f {
			field.Tag = reflect.StructTag(`short:"` + letter + `"`)
		}
		fields = append(fields, field)
	}
	fields = append(fields, reflect.StructField{Name: "Command", Type: reflect.TypeFor[[]string](), Tag: `arg:"" optional:"" passthrough:"partial"`})
	options := []kong.Option{kong.NoDefaultHelp(), kong.Exit(func(int) {})}
	for _, kind := range []reflect.Kind{reflect.Bool, reflect.String, reflect.Slice} {
		options = append(options, kong.KindMapper(kind, l))
	}
	parser, err := kong.New(reflect.New(reflect.StructOf(fields)).Interface(), options...)
	if err != nil {
		return err
	}
	l.Own = l.argv[:bound:bound]
	// kong's Parse would also look for hooks and validators by the names of methods, for
	// which the linker keeps every exported method of every type: 1.3 MB of the program.
	c, err := kong.Trace(parser, l.Own)
	if err == nil {
		err = c.Error
	}
	if usage := new(UsageError); errors.As(err, &usage) {
		return usage
	}
	return err
}

// mayName returns the flags that words may name, and the number of words for kong: all
// words after these are certainly the command's.
func (l *Line) mayName() (used []*Flag, bound int) {
	value := false // the word may be that of the flag before it
	for i, word := range l.argv {
		var flags []*Flag
		switch dashed := len(word) > 1 && word[0] == '-'; {
		case word == "--", !dashed && !value:
			return used, i + 1
		case dashed:
			flags, value = named(l.all, word)
		default:
			value = false
		}
		used = append(used, flags...)
	}
	return used, len(l.argv)
}

// named returns the flags that a word names, a long one or a cluster such as -qvn5,
// and whether the last takes the next word for its value.
func named(all []Flag, word string) (flags []*Flag, takesNext bool) {
	if strings.HasPrefix(word, "--") {
		name, _, hasValue := strings.Cut(word[2:], "=")
		if f := manual.ByName(all, name); f != nil {
			return []*Flag{f}, !f.IsBool() && !hasValue
		}
		return nil, false
	}
	for i, letter := range word[1:] {
		f := manual.ByShort(all, string(letter))
		if f == nil {
			return nil, false
		}
		if flags = append(flags, f); !f.IsBool() {
			return flags, i+2 == len(word)
		}
	}
	return flags, false
}

// Asks reports whether the last word about a switch, or any about a flag with a
// value, asks for it.
func (l *Line) Asks(name string) bool {
	s := l.Word(name)
	return s != nil && !s.Off()
}

// Word is the last one of the command line about a flag, nil for none.
func (l *Line) Word(name string) *Setting {
	if s := Last(l.Settings, name); s != nil && s.Source == FromCommandLine {
		return s
	}
	return nil
}

// HelpOn is the first mode of the line that has flags for itself, "" for none.
func (l *Line) HelpOn() string {
	for _, s := range l.Settings {
		if s.Flag.Is("explain") || s.Flag.Is("simulate") {
			return s.Flag.Name()
		}
	}
	return ""
}

// explain returns the error of kong in the words of this program.
func (l *Line) explain(err error) error {
	if errors.As(err, new(*UsageError)) {
		return err
	}
	if !strings.HasPrefix(err.Error(), "unknown flag") {
		return errors.New(err.Error()) // without kong's exit code
	}
	err = unknownFlag(l.argv[l.next])
	if i := slices.IndexFunc(l.Settings, func(s Setting) bool { return IsRunMode(s.Flag) && !s.Off() }); i >= 0 {
		return Usage(l.Settings[i].Word, err)
	}
	return err
}

// Decode notes a flag of the command line, or the command, as kong.Mapper.
func (l *Line) Decode(c *kong.DecodeContext, _ reflect.Value) error {
	if c.Value.Flag != nil {
		return l.given(manual.ByName(l.all, c.Value.Name), c.Scan)
	}
	l.command(c.Scan)
	return nil
}

// given reads a flag of the command line, from the token after its name on.
func (l *Line) given(f *Flag, scan *kong.Scanner) error {
	token := scan.Peek()
	s := Setting{Flag: f, Value: "true", Word: "--" + f.Name(), Source: FromCommandLine, At: len(l.Own) - scan.Len()}
	if token.Type != kong.FlagValueToken && token.Type != kong.ShortFlagTailToken { // which are the rest of its word
		s.At--
	}
	if !strings.HasPrefix(l.argv[s.At], "--") {
		s.Word = "-" + f.Short()
	}
	switch {
	case f.IsBool() && token.Type != kong.FlagValueToken:
	case token.IsValue():
		s.Value = scan.Pop().String()
		if value, equals := strings.CutPrefix(s.Value, "="); equals && token.Type == kong.ShortFlagTailToken {
			if strconv.Quote(value) != `"`+value+`"` {
				value = manual.Placeholder(f.Name())
			}
			return Usage(s.Word, fmt.Errorf("%q: a short flag takes no \"=\"; write %s %s", s.Value, s.Word, value))
		}
	case IsRunMode(f) && AsksForHelp([]string{token.String()}): // of the mode
		s.Value = ""
	default:
		return valueMissing(&s, token)
	}
	l.next = len(l.Own) - scan.Len()
	l.Settings = append(l.Settings, s)
	return nil
}

// command notes where the command begins.
func (l *Line) command(scan *kong.Scanner) {
	at := len(l.Own) - scan.Len()
	l.Own, l.Command = l.argv[:at:at], l.argv[at:]
	if l.Command[0] == "--" {
		l.Own, l.Command = nil, l.Command[1:]
	}
	for scan.Len() > 0 {
		scan.Pop()
	}
}

// Fill fills the grammar from the settings alone, the highest last. Where one is wrong,
// those behind it do not count.
func (o *Options) Fill() error {
	return fill(reflect.ValueOf(&o.grammar).Elem(), Table(), o.Settings)
}

// fill sets the defaults of a grammar, and then what was given.
func fill(to reflect.Value, all []Flag, settings []Setting) error {
	for i := range all {
		if preset := all[i].Preset(); preset != "" {
			// A test proves that each can be read.
			_ = parse(in(to, &all[i]), &Setting{Flag: &all[i], Value: preset})
		}
	}
	for i := range settings {
		s := &settings[i]
		if err := parse(in(to, s.Flag), s); err != nil {
			return Usage(s.Word, err)
		}
	}
	return nil
}

// AsksForHelp looks at the words before "--".
func AsksForHelp(words []string) bool {
	if end := slices.Index(words, "--"); end >= 0 {
		words = words[:end]
	}
	return slices.Contains(words, "--help") || slices.Contains(words, "-h")
}
