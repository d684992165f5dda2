package cli

// This file holds the plain reader against kong, which owns the grammar.

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// TestTableMatchesKong: names, short forms, defaults and kinds are kong's own.
func TestTableMatchesKong(t *testing.T) {
	parser, err := newParser(new(grammar))
	if err != nil {
		t.Fatal(err)
	}
	table := flagTable()
	if len(parser.Model.Flags) != len(table) {
		t.Fatalf("kong knows %d flags, the table %d", len(parser.Model.Flags), len(table))
	}
	for i, f := range parser.Model.Flags {
		mine := table[i]
		short := byte(f.Short)
		if f.Name != mine.name || short != mine.short || f.IsBool() != (mine.kind == reflect.Bool) || f.IsSlice() != (mine.kind == reflect.Slice) {
			t.Errorf("flag %d: kong has %s, the table %+v", i, f, mine)
		}
		if mine.preset != f.Default || mine.noEnv != (f.Tag.Get("env") == "-") {
			t.Errorf("flag %d: kong has the default %q, the table %+v: do short, default and env stand before all other tags?", i, f.Default, mine)
		}
	}
}

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		argv    string
		own     string // name=value, spaces between
		command string
	}{
		{"true", "", "true"},
		{"-- true", "", "true"},
		{"-- -x", "", "-x"},
		{"-- -- x", "", "-- x"},
		{"-n 3 make -n 5", "attempts=3", "make -n 5"},
		{"-n3 -qv true", "attempts=3 quiet=true verbose=true", "true"},
		{"-qn5 true", "quiet=true attempts=5", "true"},
		{"-n=5 true", "attempts=5", "true"},
		{"--attempts=3 --attempts 4 true --attempts 9", "attempts=3 attempts=4", "true --attempts 9"},
		{"--on-exit 75 --on-exit=1,2 -- sh -c x", "on-exit=75 on-exit=1,2", "sh -c x"},
		{"--log-file=-- true", "log-file=--", "true"},
		{"-t5 true", "timeout=5", "true"},
		{"--base -1 true", "base=-1", "true"},
		{"--quiet=false true", "quiet=false", "true"},
		{"- x", "", "- x"},
		{"--help", "help=true", ""},
		{"true --help", "", "true --help"},
		{"--log-file= true", "log-file=", "true"},
		{"", "", ""},
	} {
		own, command, err := split(flagTable(), strings.Fields(c.argv))
		var got []string
		for _, s := range own {
			got = append(got, s.flag.name+"="+s.value)
		}
		if err != nil || strings.Join(got, " ") != c.own || strings.Join(command, " ") != c.command {
			t.Errorf("%q: own %q command %q, %v", c.argv, got, command, err)
		}
	}
	for argv, kind := range map[string]argvErrorKind{
		"--nope true": unknownFlag, "-x true": unknownFlag, "-qx": unknownFlag, "---": unknownFlag, "--=x": unknownFlag,
		"--base": valueMissing, "-n": valueMissing, "--base -- true": valueMissing, "-n -- true": valueMissing, "-qn": valueMissing, "--quiet=maybe": valueNotBool, "--quiet=": valueNotBool,
	} {
		if _, _, err := split(flagTable(), strings.Fields(argv)); err == nil || err.kind != kind {
			t.Errorf("%q: %+v, want an error of kind %d", argv, err, kind)
		}
	}
}

func TestMisspeltFlagsGetASuggestion(t *testing.T) {
	for word, want := range map[string]string{
		"--atempts": `"--attempts"`, "--on-exits": `"--on-exit"`, "--attempts-": `"--attempts"`, "--jiter=full": `"--jitter"`, "-x": "write --", "--zzzzzzzz": "write --",
	} {
		err := explainArgv(&argvError{word: word})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), word) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %s in it", word, err, want)
		}
	}
}

func TestEnvironment(t *testing.T) {
	for _, c := range []struct {
		name    string
		environ []string
		argv    string
		want    string
	}{
		{"a variable sets a flag", []string{"RETRY_ATTEMPTS=3"}, "", "attempts=3"},
		{"the command line beats it", []string{"RETRY_ATTEMPTS=3"}, "-n 4", "attempts=4"},
		{"a repeatable flag on the command line replaces it", []string{"RETRY_ON_EXIT=1"}, "--on-exit 2", "on-exit=2"},
		{"and so does one that says otherwise", []string{"RETRY_DELAYS=7s", "RETRY_QUIET=1"}, "--base 2s -v", "base=2s verbose=true"},
		{"or takes its meaning away", []string{"RETRY_BASE=-1", "RETRY_FACTOR=x", "RETRY_CAP=9s"}, "--delays 1s", "cap=9s delays=1s"},
		{"but not one that is switched off", []string{"RETRY_VERBOSE=1"}, "--quiet=false", "verbose=true quiet=false"},
		{"lines may end as on Windows", []string{"RETRY_ON_EXIT=1\r\n2\r\n"}, "", "on-exit=1 on-exit=2"},
		{"several values", []string{"RETRY_ON_STDERR=a,b\nc"}, "", "on-stderr=a,b on-stderr=c"},
		{"blank lines are ignored", []string{"RETRY_ON_EXIT=\n1\n\n2\n"}, "", "on-exit=1 on-exit=2"},
		{"without a value", []string{"RETRY_QUIET=1", "RETRY_VERBOSE=no"}, "", "quiet=true verbose=false"},
		{"empty and unknown ones are ignored", []string{"RETRY_ATTEMPTS=", "RETRY_NOPE=1", "RETRY=1", "RETRY_"}, "", ""},
		{"modes have no variable", []string{"RETRY_VERSION=1.2", "RETRY_HELP=1", "RETRY_PLAN=1", "RETRY_EXEC=1", "RETRY_EXPLAIN=1", "RETRY_EXIT=3"}, "", ""},
		{"what the command sees is no flag", []string{"RETRY_ATTEMPT=3", "RETRY_MAX_ATTEMPTS=x", "RETRY_DEPTH=1"}, "", ""},
		{"the key from outside", []string{"RETRY_IDEMPOTENCY_KEY=k"}, "", "idempotency-key=k"},
		{"the key of an outer retry", []string{"RETRY_IDEMPOTENCY_KEY=k", "RETRY_DEPTH=1"}, "", ""},
	} {
		table := flagTable()
		own, _, err := split(table, strings.Fields(c.argv))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range merge(environment(table, c.environ), own) {
			got = append(got, s.flag.name+"="+s.value)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestSuggest(t *testing.T) {
	for word, want := range map[string]string{
		"--atempts": `"--attempts"`, "--timout=5": `"--timeout"`, "--dead-line": `"--deadline"`,
		"-attempts": `"--attempts"`, "--ATTEMPTS": `"--attempts"`, "--stop_on_exit": `"--stop-on-exit"`, // written otherwise
		"--retries": `"--attempts"`, "--max-time=3": `"--deadline"`, // called so elsewhere
		"--delay": `"--base"`,
		"-Z":      "", "--n": "", "---": "", "--=": "", "-qx": "", "--no-quiet": "", "--\xff\xfe\xff": "",
	} {
		if got := strings.Join(suggest(word), " "); got != want {
			t.Errorf("suggest(%q) = %s, want %s", word, got, want)
		}
	}
	for _, other := range elsewhere {
		table := flagTable()
		if byName(table, other.name) != nil || byName(table, other.flag) == nil {
			t.Errorf("elsewhere has %s for --%s", other.name, other.flag)
		}
	}
}

func TestUntilExpiry(t *testing.T) {
	now := time.UnixMilli(1_000_000_000_000)
	for text, want := range map[string]time.Duration{
		"1000000001.250": 1250 * time.Millisecond, "1000000000": 0, "999999999.999": -time.Millisecond, "0": -1_000_000_000 * time.Second,
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

// FuzzReadersAgree: whatever the plain reader reads, kong reads the same from
// the same words, and what it does not understand, kong refuses as well.
func FuzzReadersAgree(f *testing.F) {
	for _, argv := range []string{
		"-n 3 -- true", "--attempts=5 --base 100ms --cap 30s --jitter full --on-exit 75,111 -- cmd args", "-qvn5 x", "--on-stderr a{1,3} --on-stderr b",
		"--atempts", "-n", "--quiet=false x", "-- --", "-", "--base= x", "--log-file ' ' x", "--idempotency-key $HOME x", "--on-stdout ${x} y",
	} {
		f.Add(argv)
	}
	table := flagTable()
	f.Fuzz(func(t *testing.T, line string) {
		if strings.Contains(line, "\x00") {
			t.Skip("no argument holds NUL")
		}
		if !utf8.ValidString(line) {
			t.Skip("kong replaces bytes that are not UTF-8, the plain reader keeps them")
		}
		argv := strings.Split(line, " ")
		own, command, argvErr := split(table, argv)
		if argvErr == nil && !slices.Equal(command, argv[len(argv)-len(command):]) {
			t.Fatalf("%q: the command %q was touched", argv, command)
		}
		var words []string
		for _, s := range own {
			words = append(words, "--"+s.flag.name+"="+s.value)
		}
		if argvErr != nil {
			words = append(words, argvErr.word)
			if argvErr.kind == valueNotBool {
				words[len(words)-1] += "=" + argvErr.value
			}
		}
		var g grammar
		parser, err := newParser(&g)
		if err != nil {
			t.Fatal(err)
		}
		_, err = parser.Parse(words)
		if argvErr != nil {
			if err == nil {
				t.Fatalf("%q: kong reads what the plain reader refuses: %+v", argv, argvErr)
			}
			if strings.Contains(explainArgv(argvErr).Error(), "\n") {
				t.Fatalf("%q: the error has several lines", argv)
			}
			return
		}
		if err != nil {
			t.Fatalf("%q: kong refuses %q: %v", argv, words, err)
		}
		if mine := apply(table, own); !reflect.DeepEqual(*mine, g) {
			t.Fatalf("%q: the plain reader has\n%+v, kong\n%+v", argv, *mine, g)
		}
	})
}
