package option

// This file has kong read the words of flags, and ask for what policies and variables set.
//
// kong builds its model anew at each start, in about 8 us a flag. So it is given those flags
// that are named or set.

import (
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// options are those of every parser. kong's Parse, which is not used, would also look for
// hooks and validators by the names of methods, for which the linker keeps every exported
// method of every type: 1.3 MB of the program.
var options = []kong.Option{kong.NoDefaultHelp(), kong.FlagNamer(dashed)}

// part is a struct of some flags of a run. kong fills it in place of the run's.
type part struct {
	run    reflect.Value
	flags  []*Flag
	fields reflect.Value // a struct with the flags' fields, in their order
}

// partOf is the part with the flags that are named or set, each once, in the order of the
// table. It has the values of the run.
func partOf(run *Run, named []*Flag, settings []Setting) *part {
	flags := slices.Clone(named)
	for i := range settings {
		flags = append(flags, settings[i].Flag)
	}
	byPlace := func(a, b *Flag) int { return slices.Compare(a.field.Index, b.field.Index) }
	slices.SortFunc(flags, byPlace)
	flags = slices.CompactFunc(flags, func(a, b *Flag) bool { return byPlace(a, b) == 0 })

	var fields []reflect.StructField
	for _, f := range flags {
		fields = append(fields, reflect.StructField{Name: f.field.Name, Type: f.field.Type, Tag: f.field.Tag})
	}
	p := &part{
		run:    reflect.ValueOf(run).Elem(),
		flags:  flags,
		fields: reflect.New(reflect.StructOf(fields)).Elem(),
	}
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

// reading is one use of kong: it parses words, and then fills the flags. As kong.Mapper it
// hands each value to the type of its field, and keeps those of the words as settings. kong's
// own mapper for encoding.TextUnmarshaler passes a text through JSON, which replaces bytes
// that are not UTF-8.
type reading struct {
	known    []Flag
	part     *part    // of the flags of a run
	argument []string // the words of a mode

	words    []string
	context  *kong.Context
	lower    []Setting // what variables and policies set
	settings []Setting // of the words, and then the lower ones
	err      error     // the first about a value
}

// parse has kong read words for a struct of flags and for the part of a run.
func (r *reading) parse(flags any, words []string) error {
	r.words = words
	resolver := func(_ *kong.Context, _ *kong.Path, f *kong.Flag) (any, error) {
		return settingsOf(r.lower, f.Name), nil
	}
	parser, err := kong.New(flags, append(slices.Clip(options), kong.Resolvers(kong.ResolverFunc(resolver)),
		kong.Embed(r.part.fields.Addr().Interface()))...)
	if err != nil {
		return err
	}
	for _, f := range parser.Model.Flags {
		f.Mapper = r
	}
	for _, argument := range parser.Model.Positional {
		argument.Mapper = r
	}
	r.context, err = kong.Trace(parser, words)
	if err == nil {
		err = r.context.Error
	}
	return r.firstError(err)
}

// fill sets the flags to what the words say, and to lower settings for what they leave open.
func (r *reading) fill(lower []Setting) error {
	r.lower = lower
	r.settings = append(r.settings, lower...)
	err := r.context.Resolve()
	if err == nil && r.err == nil {
		_, err = r.context.Apply()
		r.part.store()
	}
	return r.firstError(err)
}

// firstError is the first error about a value, or else kong's.
func (r *reading) firstError(ofKong error) error {
	if r.err != nil {
		return r.err
	}
	return ofKong
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
	s := Setting{Flag: f, Word: f.wordIn(r.words), Source: FromCommandLine}
	switch token := c.Scan.Peek(); {
	case f.IsBool() && token.Type != kong.FlagValueToken:
		s.Value = "true"
	case token.Type == kong.ShortFlagTailToken:
		s.Value = c.Scan.Pop().String()
		if err := joinedError(&s, field); err != nil {
			return r.note(err)
		}
	case token.IsValue():
		s.Value = c.Scan.Pop().String()
	case f.IsMode() && AsksForHelp([]string{token.String()}): // of the mode
		r.settings = append(r.settings, s)
		return nil
	default:
		return r.note(valueMissing(&s, token))
	}
	r.set(field, &s)
	r.settings = append(r.settings, s)
	return nil
}

// joinedError is the error for a value in the word of a short flag, nil for none: no "=" is
// written there, and a blank shows that two words were quoted as one.
func joinedError(s *Setting, field reflect.Value) error {
	if value, equals := strings.CutPrefix(s.Value, "="); equals {
		return equalsSign(s.Flag, value)
	}
	if s.Value[0] == ' ' && set(field, s.Value) != nil {
		return inOneWord(s.Word, s.Word+s.Value, s.Value)
	}
	return nil
}

// set sets a field to a setting. After an error kong goes on, since what follows may ask
// for help.
func (r *reading) set(field reflect.Value, s *Setting) {
	s.Value = s.Flag.written(s.Value)
	if err := set(field, s.Value); err != nil {
		_ = r.note(Usage(s.Word, s.meant(err)))
	}
}

// note keeps the first error about a value, and returns it.
func (r *reading) note(err error) error {
	if r.err == nil {
		r.err = err
	}
	return r.err
}
