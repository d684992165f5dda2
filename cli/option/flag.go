package option

// This file reads the flags from the fields of structs, by reflection. kong's model says
// more and takes 8 us a flag, so a start has it of few flags; help, manual page and
// completions are made from kong's model of all (package manual).

import (
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/alecthomas/kong"

	"github.com/retrysh/retry/cli/manual"
	"github.com/retrysh/retry/engine/text"
)

// Flag is a field of a struct of flags.
type Flag struct {
	name    string
	field   reflect.StructField
	section reflect.StructTag
}

// FlagsOf returns the flags of a struct, those of embedded structs included.
func FlagsOf(t reflect.Type) []Flag { return appendFlags(make([]Flag, 0, fieldsOf(t)), t, nil, "") }

// fieldsOf is how many fields a struct has, with those of embedded structs.
func fieldsOf(t reflect.Type) (n int) {
	for i := range t.NumField() {
		if field := t.Field(i); field.Anonymous && field.Type.Kind() == reflect.Struct {
			n += fieldsOf(field.Type)
		} else {
			n++
		}
	}
	return n
}

// appendFlags appends the flags of a struct, which is a section at this place if it is
// embedded.
func appendFlags(all []Flag, t reflect.Type, place []int, section reflect.StructTag) []Flag {
	for i := range t.NumField() {
		field := t.Field(i)
		_, isWord := field.Tag.Lookup("arg")
		switch {
		case field.Tag == `kong:"-"`, isWord: // the call of a mode, and its words
		case field.Anonymous:
			all = appendFlags(all, field.Type, append(slices.Clip(place), i), field.Tag)
		case field.IsExported():
			field.Index = append(slices.Clip(place), i)
			all = append(all, Flag{dashed(field.Name), field, section})
		}
	}
	return all
}

// dashed is the flag of a field: OnExit is on-exit.
func dashed(field string) string {
	b := make([]byte, 0, len(field)+4)
	for i, c := range []byte(field) { // all are ASCII
		if 'A' <= c && c <= 'Z' {
			if i > 0 {
				b = append(b, '-')
			}
			c += 'a' - 'A'
		}
		b = append(b, c)
	}
	return string(b)
}

// Table returns the flags of a run, in their order.
var Table = sync.OnceValue(func() []Flag { return FlagsOf(reflect.TypeFor[Run]()) })

// ByName returns the flag of a run of that name, nil for none.
func ByName(name string) *Flag { return byName(Table(), name) }

func byName(all []Flag, name string) *Flag {
	return first(all, func(f *Flag) bool { return f.name == name })
}

// first returns the first flag that is so, nil for none.
func first(all []Flag, is func(*Flag) bool) *Flag {
	for i := range all {
		if is(&all[i]) {
			return &all[i]
		}
	}
	return nil
}

// Name is the flag without dashes.
func (f *Flag) Name() string        { return f.name }
func (f *Flag) Is(name string) bool { return f.name == name }

// wordIn is how words name the flag: by its letter, unless its name is there.
func (f *Flag) wordIn(words []string) string {
	long, short := "--"+f.name, f.Tag("short")
	for _, word := range words {
		if word == long || strings.HasPrefix(word, long+"=") {
			short = ""
		}
	}
	if short == "" {
		return long
	}
	return "-" + short
}

// Tag is what a tag says of the flag: its own one, or else that of its section.
func (f *Flag) Tag(key string) string {
	if own, has := f.field.Tag.Lookup(key); has {
		return own
	}
	return f.section.Get(key)
}

// Excludes reports whether another flag has no place beside this one.
func (f *Flag) Excludes(other string) bool {
	return slices.Contains(strings.Split(f.Tag("excludes"), ","), other)
}

func (f *Flag) IsBool() bool { return f.field.Type.Kind() == reflect.Bool }

// Repeats reports whether the flag may be given several times.
func (f *Flag) Repeats() bool {
	return f.field.Type.Kind() == reflect.Slice && f.field.Type.Name() == ""
}

// HasVariable reports whether a variable can set the flag, and so a policy.
func (f *Flag) HasVariable() bool { return f.Tag("variable") != "no" }

func (f *Flag) Variable() string {
	return "RETRY_" + strings.ToUpper(strings.ReplaceAll(f.name, "-", "_"))
}

// IsMode reports whether the flag takes the place of a run.
func (f *Flag) IsMode() bool { return f.Tag("mode") == "yes" }

// Preset is the default of a flag of a run, as a person would write it, "" for none.
func (f *Flag) Preset() string {
	return manual.Preset(reflect.ValueOf(newRun()).Elem().FieldByIndex(f.field.Index))
}

// written is a value as settings have it: that of a switch is true or false.
func (f *Flag) written(value string) string {
	if truth := Truth(value); truth != "" && f.IsBool() {
		return truth
	}
	return value
}

// Masked is a value of a flag of a run without what is secret in it.
func Masked(flag, value string) string {
	if f := ByName(flag); f != nil && f.Tag("secret") == "address" {
		return text.MaskedAddress(value)
	}
	return text.MaskedCommand(value) // of hooks
}

// Model is kong's model of the flags of a run, or of those of a struct.
func Model(flags any) ([]*kong.Flag, error) {
	parser, err := kong.New(flags, options...)
	if err != nil {
		return nil, err
	}
	return parser.Model.Flags, nil
}

// RunModel is kong's model of the flags of a run, with their defaults.
func RunModel() ([]*kong.Flag, error) { return Model(newRun()) }
