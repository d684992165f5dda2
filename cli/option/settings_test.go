package option

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// settingsIn reads settings, name=value, of one source.
func settingsIn(from Source, all ...string) (settings []Setting) {
	for _, one := range all {
		name, value, _ := strings.Cut(one, "=")
		settings = append(settings, Setting{Flag: ByName(name), Value: value, Word: "--" + name, Source: from})
	}
	return settings
}

// Each source is told once, with the words of its settings and without their values. What a
// policy inherits is the policy's.
func TestSources(t *testing.T) {
	inherited := settingsIn(FromPolicy, "base=1s")
	inherited[0].Generation = 1
	settings := slices.Concat(
		inherited, settingsIn(FromPolicy, "cap=9s", "on-exit=1", "on-exit=2"),
		settingsIn(FromCommandLine, "attempts=3"),
	)
	want := []string{"from the policy: --base, --cap, --on-exit", "from the command line: --attempts"}
	if got := Sources(settings); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	want = []string{"from the environment: --base"}
	if got := Sources(settingsIn(FromEnvironment, "base=1s")); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := Sources(nil); got != nil {
		t.Errorf("%q of nothing", got)
	}
}

func TestVariable(t *testing.T) {
	environ := []string{"NAMES=n", "NAME=a=b", "OTHER=", "NAME=last"}
	for name, want := range map[string]string{"NAME": "a=b", "NAMES": "n", "OTHER": "", "NONE": "", "NAM": ""} {
		if got := Variable(environ, name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

// A letter keeps what its run needs to run again, each value of a flag that repeats, and the
// last of another. Another run has it back, below variables about output and the flags of
// --redrive, whose file names are those of the working directory.
func TestLettersKeepSettings(t *testing.T) {
	settings := slices.Concat(
		settingsIn(FromEnvironment, "attempts=2", "on-exit=1", "quiet=true", "log-file=l", "history=h"),
		settingsIn(FromCommandLine, "attempts=3", "on-exit=2", "name=backup", "dead-letter=on", "dead-letter-max=5",
			"policy=p", "plan=true", "base=1s", "rules=a.rules"),
	)
	kept := Kept(settings)
	want := map[string][]string{"attempts": {"3"}, "on-exit": {"1", "2"}, "base": {"1s"}, "name": {"backup"},
		"history": {"h"}, "rules": {"a.rules"}}
	if !reflect.DeepEqual(kept, want) {
		t.Fatalf("kept %q, want %q", kept, want)
	}
	given := settingsIn(FromCommandLine, "cap=9s", "history=on")
	o, err := Redriven(given, []string{"RETRY_VERBOSE=1", "RETRY_ATTEMPTS=9", "RETRY_LOG_FILE=l"}, kept,
		[]string{"true"})
	if err != nil {
		t.Fatal(err)
	}
	if o.Policy.Attempts != 3 || len(o.Policy.Rules.OnExit) != 2 || !o.Verbose ||
		o.Policy.Schedule.Cap.Seconds() != 9 || fmt.Sprint(o.Command) != "[true]" {
		t.Errorf("%+v", o.Run)
	}
	here, err := filepath.Abs("l")
	if err != nil {
		t.Fatal(err)
	}
	if string(o.LogFile) != here || o.History != "on" || o.Rules[0] != "a.rules" {
		t.Errorf("log file %q, history %q, rules %q", o.LogFile, o.History, o.Rules)
	}
	if o, err := Redriven(settingsIn(FromCommandLine, "history=off"), nil, nil, []string{"true"}); err != nil ||
		o.History != "off" {
		t.Errorf("history %q, %v", o.History, err)
	}
	if o, err := Redriven(settingsIn(FromCommandLine, "history=dir"), nil, nil, []string{"true"}); err != nil ||
		!filepath.IsAbs(string(o.History)) {
		t.Errorf("history %q, %v", o.History, err)
	}
	for name, want := range map[string]string{"nope": "no flag --nope for a policy",
		"plan": "no flag --plan for a policy", "attempts": `"x" is not a whole number`,
		"cap": `"1ms" is less than --base 2s`} {
		value := map[string]string{"attempts": "x", "cap": "1ms"}[name]
		_, err := Redriven(nil, nil, map[string][]string{name: {value}, "base": {"2s"}}, []string{"true"})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}

// --redrive has the flags that a policy may have, but not those that only the letter sets.
func TestFlagsOfRedrive(t *testing.T) {
	of := OfRedrive()
	for _, f := range Table() {
		want := f.HasVariable() && f.Tag("redrive") != "no"
		if got := byName(of, f.Name()) != nil; got != want {
			t.Errorf("--%s: %t, want %t", f.Name(), got, want)
		}
	}
	for name, want := range map[string]bool{"attempts": true, "base": true, "stdin": false, "plan": false,
		"policy": false} {
		if got := byName(of, name) != nil; got != want {
			t.Errorf("--%s: %t, want %t", name, got, want)
		}
	}
}

// A policy is checked by itself: what it needs may come from elsewhere.
func TestCheck(t *testing.T) {
	for setting, want := range map[string]string{
		"breaker=5": "", "cap=1ms": "", "attempts=x": `"x" is not a whole number`, "hedge-max=3": "",
		"wait-while=pid:7": "",
		"consecutive=9":    "9 successes need as many attempts", "park=1h": "", "rotate=A=b": "",
	} {
		err := Check(settingsIn(FromPolicy, setting))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", setting, err, want)
		}
	}
}

// Secrets of addresses and of commands are masked.
func TestMaskedValues(t *testing.T) {
	for setting, want := range map[string]string{
		"store=redis://u:S3cret@h": "redis://u:xxxxx@h", "fallback=curl -u me:S3cret h": "curl -u me:xxxxx h",
		"base=1s": "1s", "nope=x": "x",
		"otlp=http://u:S3cret@h/v1?q=S3cret": "http://u:xxxxx@h/v1?q=xxxxx",
	} {
		name, value, _ := strings.Cut(setting, "=")
		if got := Masked(name, value); got != want {
			t.Errorf("%s: %q, want %q", setting, got, want)
		}
	}
}

// A key, a name and the like are printable and of some length.
func TestTexts(t *testing.T) {
	for _, c := range []struct{ flag, value, want string }{
		{"key", strings.Repeat("ä", 200), ""},
		{"key", strings.Repeat("ä", 201), "has 201 characters; a key has at most 200"},
		{"name", strings.Repeat("ä", 64), ""},
		{"name", strings.Repeat("ä", 65), "has 65 characters; a name has at most 64"},
		{"key", "a\tb", `"a\tb" is not printable, at byte 1; a key is 1 to 200 printable characters`},
		{"key", "a\xffb", "is not printable, at byte 1"},
		{"name", "a\u200bb", "is not printable, at byte 1"},
		{"key", "a b", ""},
	} {
		_, err := Read([]string{"--" + c.flag, c.value, "true"}, nil)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("--%s %q: %v, want %q", c.flag, c.value, err, c.want)
		}
	}
}
