package manual

// This file is a flag of kong's model with its text.

import (
	"reflect"

	"github.com/alecthomas/kong"
)

// Flag is a flag with its text, which kong's fields Help and PlaceHolder hold.
type Flag struct {
	*kong.Flag
	offered []string // words that completion offers beside those of its type
}

// newFlag is a flag that has no text yet.
func newFlag(f *kong.Flag) Flag {
	flag, value := *f, *f.Value
	flag.Value = &value
	return Flag{Flag: &flag}
}

// Switch returns a flag without a value.
func Switch(name string) *kong.Flag {
	return &kong.Flag{Value: &kong.Value{Name: name, Target: reflect.ValueOf(new(bool)).Elem()}}
}

// short is the flag's letter, "" for none.
func (f *Flag) short() string {
	if f.Short == 0 {
		return ""
	}
	return string(f.Short)
}

func (f *Flag) preset() string { return Preset(f.Target) }

// Words are those that the flag's type lists, or completion offers.
func (f *Flag) Words() []string {
	if list, is := f.Target.Interface().(interface{ Words() []string }); is {
		return append(list.Words(), f.offered...)
	}
	return f.offered
}

// ByName returns the flag of that name, nil for none.
func ByName(all []*kong.Flag, name string) *kong.Flag {
	for _, f := range all {
		if f.Name == name {
			return f
		}
	}
	return nil
}
