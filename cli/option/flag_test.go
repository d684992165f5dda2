package option

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write testdata/flags.txt anew")

// tags are those that say what holds of a flag (run.go), and the words that they may have;
// none are names of flags.
var tags = []struct {
	key   string
	words []string
}{
	{"of", []string{"attempts", "guards", "output", "program"}},
	{"guard", []string{"yes"}},
	{"file", []string{"yes"}},
	{"variable", []string{"no"}},
	{"policy", []string{"no"}},
	{"inner", []string{"no"}},
	{"letter", []string{"no"}},
	{"redrive", []string{"no"}},
	{"excludes", nil},
	{"needs", nil},
	{"mode", []string{"yes"}},
	{"only", nil},
	{"secret", []string{"address"}},
}

// TestFlags holds testdata/flags.txt to what type and tags of every flag say: a line a
// flag, with its letter, type, default and tags. No flag has a tag that is not known.
func TestFlags(t *testing.T) {
	var list bytes.Buffer
	for _, f := range Table() {
		line := "--" + f.name
		if short := f.Tag("short"); short != "" {
			line += " -" + short
		}
		line += " " + strings.ReplaceAll(f.field.Type.String(), "github.com/retrysh/retry/cli/", "")
		if preset := f.Preset(); preset != "" {
			line += " = " + preset
		}
		for _, tag := range tags {
			value := f.Tag(tag.key)
			if value == "" {
				continue
			}
			line += fmt.Sprintf(" %s:%s", tag.key, value)
			for word := range strings.SplitSeq(value, ",") {
				if tag.words != nil && !slices.Contains(tag.words, word) || tag.words == nil && ByName(word) == nil {
					t.Errorf("--%s has %s:%q, which is not known", f.name, tag.key, word)
				}
			}
		}
		for _, all := range []reflect.StructTag{f.field.Tag, f.section} {
			for pair := range strings.FieldsSeq(string(all)) {
				key, _, _ := strings.Cut(pair, ":")
				if key != "short" && !slices.ContainsFunc(tags, func(tag struct {
					key   string
					words []string
				}) bool {
					return tag.key == key
				}) {
					t.Errorf("--%s has a tag %q, which nothing reads", f.name, key)
				}
			}
		}
		fmt.Fprintln(&list, line)
	}
	name := filepath.Join("testdata", "flags.txt")
	if *update {
		if err := os.WriteFile(name, list.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(list.Bytes(), want) {
		t.Errorf("%s differs; go test -run TestFlags -update writes it anew. The flags are:\n%s", name, &list)
	}
}

// Every flag has a type that reads values, and reads its own default; kong has the same
// flags.
func TestTypesOfFlags(t *testing.T) {
	model, err := RunModel()
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range Table() {
		if kong := model[i]; kong.Name != f.name || kong.IsBool() != f.IsBool() || kong.IsSlice() != f.Repeats() {
			t.Errorf("--%s is --%s for kong, switch %t, repeats %t", f.name, kong.Name, kong.IsBool(), kong.IsSlice())
		}
		field := reflect.ValueOf(newRun()).Elem().FieldByIndex(f.field.Index)
		if err := set(reflect.New(field.Type()).Elem(), "?"); err != nil &&
			strings.Contains(err.Error(), "reads no value") {
			t.Errorf("--%s: %v", f.name, err)
		}
		preset := f.Preset()
		if preset == "" {
			continue
		}
		if err := set(field, preset); err != nil {
			t.Errorf("--%s: %v", f.name, err)
			continue
		}
		want := reflect.ValueOf(newRun()).Elem().FieldByIndex(f.field.Index)
		if !reflect.DeepEqual(field.Interface(), want.Interface()) {
			t.Errorf("--%s: %q is read as %v, the default is %v", f.name, preset, field, want)
		}
	}
}
