package manual

// This file reads the flags of a grammar, which is a struct: a field is a flag, and its
// tags say what it is.

import (
	"reflect"
	"strings"
)

// Flag is one field of a grammar, with its text.
type Flag struct {
	name  string
	Field reflect.StructField

	PlaceHolder, Help string
	offered           []string // words that completion offers beside those of the grammar
}

// FlagsOf returns the flags of a grammar, those of embedded structs included.
func FlagsOf(t reflect.Type) []Flag {
	all := make([]Flag, 0, t.NumField())
	for i := range t.NumField() {
		switch field := t.Field(i); {
		case field.Tag == `kong:"-"`: // the call of a mode
		case field.Anonymous:
			for _, f := range FlagsOf(field.Type) {
				f.Field.Index = append(field.Index, f.Field.Index...)
				all = append(all, f)
			}
		case field.IsExported():
			all = append(all, Flag{name: dashed(field.Name), Field: field})
		}
	}
	return all
}

// dashed is the name that kong gives to the flag of a field: OnExit is on-exit.
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

// Switch returns a flag without a value; its name is one word.
func Switch(name string) Flag {
	return Flag{name: name, Field: reflect.StructField{Name: strings.ToUpper(name[:1]) + name[1:], Type: reflect.TypeFor[bool]()}}
}

// Tag is a tag of the field, "" for none.
func (f *Flag) Tag(key string) string { return f.Field.Tag.Get(key) }

// Name is the flag without dashes.
func (f *Flag) Name() string        { return f.name }
func (f *Flag) Is(name string) bool { return f.name == name }

func (f *Flag) Preset() string { return f.Tag("default") }
func (f *Flag) IsBool() bool   { return f.Field.Type.Kind() == reflect.Bool }

// Repeats reports whether the flag may be given several times.
func (f *Flag) Repeats() bool {
	return f.Field.Type.Kind() == reflect.Slice && f.Field.Type.Name() == ""
}

// HasVariable reports whether a variable can set the flag, and so a policy.
func (f *Flag) HasVariable() bool { return f.Tag("variable") == "" }

func (f *Flag) Variable() string {
	return "RETRY_" + strings.ToUpper(strings.ReplaceAll(f.name, "-", "_"))
}

// IsOfOuterRun reports whether the flag's variable belongs to the outer run, inside
// another retry.
func (f *Flag) IsOfOuterRun() bool { return f.Tag("nested") != "" }

// Short is the flag's letter, "" for none.
func (f *Flag) Short() string { return f.Tag("short") }

// Words are those that the grammar lists for a flag, or completion offers.
func (f *Flag) Words() []string {
	return append(strings.FieldsFunc(f.Tag("enum"), func(c rune) bool { return c == ',' }), f.offered...)
}

// ByName returns the flag of that name, nil for none.
func ByName(all []Flag, name string) *Flag {
	return first(all, func(f *Flag) bool { return f.name == name })
}

// ByShort returns the flag of that letter, nil for none.
func ByShort(all []Flag, letter string) *Flag {
	return first(all, func(f *Flag) bool { return f.Short() == letter })
}

func first(all []Flag, is func(*Flag) bool) *Flag {
	for i := range all {
		if is(&all[i]) {
			return &all[i]
		}
	}
	return nil
}
