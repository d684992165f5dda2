package cli

import (
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/retrysh/retry/cli/manual"
	"github.com/retrysh/retry/cli/mode"
	"github.com/retrysh/retry/cli/option"
)

// Each flag has a text, and each text a flag.
func TestTexts(t *testing.T) {
	shown := map[string]bool{}
	run, err := option.RunModel()
	all, wrong := pages()
	if err != nil || wrong != nil {
		t.Fatal(err, wrong)
	}
	for _, group := range all {
		known := run
		if i := modeOf(ownModes, "--"+group.Mode); i >= 0 {
			if known, err = option.Model(ownModes[i].make()); err != nil {
				t.Fatal(err)
			}
			known = append(known, manual.Switch(group.Mode))
		}
		for i, f := range group.Flags {
			own := i == 0 && group.OwnGrammar
			if f.Help == "" || manual.ByName(known, f.Name) == nil || (f.PlaceHolder == "") != f.IsBool() && !own {
				t.Errorf("--%s: help %q, placeholder %q", f.Name, f.Help, f.PlaceHolder)
			}
			shown[f.Name] = true
		}
	}
	for _, f := range option.Table() {
		if name := f.Name(); !shown[name] {
			t.Errorf("--%s has no text in manual/flags.txt", name)
		}
	}
}

// TestFloorsOfEmbedding: who reads a flag's struct looks at two more at most.
func TestFloorsOfEmbedding(t *testing.T) {
	var floors func(r reflect.Type) int
	floors = func(r reflect.Type) (most int) {
		for field := range r.Fields() {
			if field.Anonymous && field.Type.Kind() == reflect.Struct {
				most = max(most, 1+floors(field.Type))
			}
		}
		return most
	}
	all := []any{&option.Run{}, &option.Options{}}
	for _, own := range ownModes {
		all = append(all, own.make())
	}
	for _, flags := range all {
		if n := floors(reflect.TypeOf(flags).Elem()); n > 2 {
			t.Errorf("%T has %d floors of embedding", flags, n)
		}
	}
}

// Every flag of a mode reads values, and its default.
func TestDefaultsOfModes(t *testing.T) {
	for _, own := range ownModes {
		word, m := own.word, own.make()
		flags, err := option.Model(m)
		if err != nil {
			t.Errorf("%s: %v", word, err)
		}
		for _, f := range flags {
			if _, err := option.ReadMode(m, nil, []string{"--" + f.Name + "=?"}, nil); err != nil &&
				strings.Contains(err.Error(), "reads no value") {
				t.Errorf("%s: %v", word, err)
			}
			if preset := manual.Preset(f.Target); preset != "" {
				if _, err := option.ReadMode(m, nil, []string{"--" + f.Name + "=" + preset}, nil); err != nil {
					t.Errorf("%s: %v", word, err)
				}
			}
		}
	}
}

// sampleMode stands for a mode with a grammar of its own.
type sampleMode struct {
	mode.Common
	Since option.Text
	Key   []option.Text `short:"K"`
}

func (*sampleMode) Run() int { return 0 }

func TestCallOf(t *testing.T) {
	sample := func() mode.Mode { return new(sampleMode) }
	modes := []ownMode{{"--sample", sample}, {"--other", sample}}
	for argv, want := range map[string]string{
		"--sample a b":                "sample a b",
		"--key k --sample x":          "sample --key k x",
		"--since 7d --sample":         "sample --since 7d",
		"-qK k --sample --other":      "--sample: cannot be used with --other; give only one of them",
		"-qK k --sample a -- --other": "sample -qK k a -- --other",
		"-n 3 --sample":               "sample -n 3",
		"--sample --help":             "sample --help, help",
		"-h --sample":                 "sample -h, help",
		"--sample -- --help":          "sample -- --help",
		"true --sample":               "",
		"-- --sample":                 "",
		"--since --sample":            "sample --since", // which lacks its value
		"--key k":                     "",
		"--plan --sample":             "--sample: cannot be used with --plan; give only one of them",
		"--plan=false --sample":       "sample --plan=false",
		"--simulate outage --sample":  "--sample: cannot be used with --simulate; give only one of them",
	} {
		m, err := callOf(modes, strings.Fields(argv))
		got := ""
		switch {
		case err != nil:
			got = err.Error()
		case m != nil:
			got = m.name + " " + strings.Join(m.args, " ")
			if m.help {
				got += ", help"
			}
		}
		if strings.TrimSpace(got) != want {
			t.Errorf("%q: %q, want %q", argv, got, want)
		}
	}
}

func TestShorten(t *testing.T) {
	if short := shorten(strings.Repeat("é", longestLine)); !utf8.ValidString(short) || len(short) > longestLine+
		len(" ... ") {
		t.Errorf("%q", short)
	}
}

func TestUntilExpiry(t *testing.T) {
	now := time.UnixMilli(1_000_000_000_000)
	for text, want := range map[string]time.Duration{
		"1000000001.250": 1250 * time.Millisecond, "1000000000": 0, "999999999.999": -time.Millisecond,
		"0": -1_000_000_000 * time.Second,
	} {
		if got, limited := untilExpiry(text, now); got != want || !limited {
			t.Errorf("untilExpiry(%q) = %v, %v; want %v", text, got, limited, want)
		}
	}
	for _, text := range []string{"", "abc", "nan", "inf", "-inf", "-5", "1e300", "99999999999999999999", "1e400"} {
		if got, limited := untilExpiry(text, now); limited {
			t.Errorf("untilExpiry(%q) = %v, which should limit nothing", text, got)
		}
	}
}

// FuzzUntilExpiry: no text of RETRY_EXPIRES_AT moves the end of a run beyond the year 5138.
func FuzzUntilExpiry(f *testing.F) {
	for _, seed := range []string{"1000000001.250", "0", "nan", "-5", "1e300", "0x1p10", "1_0", "9e10"} {
		f.Add(seed)
	}
	now := time.UnixMilli(1_000_000_000_000)
	f.Fuzz(func(t *testing.T, text string) {
		left, limited := untilExpiry(text, now)
		if !limited && left != 0 || limited && now.Add(left).Year() > 5138 {
			t.Errorf("%q: %v, %v", text, left, limited)
		}
	})
}
