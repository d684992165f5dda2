package policy

import (
	"regexp"

	"github.com/retrysh/retry/cli/manual"
	"github.com/retrysh/retry/cli/option"
	"github.com/retrysh/retry/engine/message"
	"github.com/retrysh/retry/engine/plan"

	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// settingsOf reads one policy as flag=value words.
func settingsOf(def *policyDef) string {
	var words []string
	for _, s := range def.settings {
		words = append(words, s.Flag.Name()+"="+s.Value)
	}
	return strings.Join(words, " ")
}

func TestPolicyFile(t *testing.T) {
	p := policyParser{file: "f"}
	blocks, err := p.parse(`
# a comment
include  conf.d/*.policies
policy   net
attempts 8
# comments do not end a block
stop-on-stderr  permission denied | 401 # not a comment
on-exit 75
on-exit 111,KILL
quiet

rule mine
match anything at all
policy deploy
inherit net
verbose no
include other
`)
	if err != nil {
		t.Fatal(err)
	}
	if len(blocks) != 4 || !p.hasRules {
		t.Fatalf("%d blocks, rules %v", len(blocks), p.hasRules)
	}
	if b := blocks[0]; b.include != "conf.d/*.policies" || b.place.String() != "f:3" {
		t.Errorf("include: %+v", b)
	}
	net, deploy := blocks[1], blocks[2]
	if want := "attempts=8 stop-on-stderr=permission denied | 401 # not a comment on-exit=75 on-exit=111,KILL " +
		"quiet=true"; settingsOf(net) != want {
		t.Errorf("net: %s", settingsOf(net))
	}
	if w := net.settings[0].Word; w != "f:5: attempts" {
		t.Errorf("a setting is called %q", w)
	}
	if deploy.Inherit != "net" || settingsOf(deploy) != "verbose=false" {
		t.Errorf("deploy: %+v", deploy)
	}
	if blocks[3].include != "other" {
		t.Errorf("an include ends a block: %+v", blocks[3])
	}
}

func TestPolicyFileRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"attempts 3":             `f:1: "attempts" is outside of any block`,
		"policy a\n\nattempts 3": `f:3: "attempts" is outside of any block`,
		"policy":                 `f:1: "policy" needs a value`,
		"policy a b":             `f:1: policy "a b" is not a name`,
		"policy a,b":             "is not a name",
		"policy -a":              "is not a name",
		"policy ü":               "is not a name",
		"policy \xff":            "is not a name",
		"policy a\nbase 1s\n\npolicy b\npolicy a": `f:5: policy "a" is already defined on line 1`,
		"policy a\nattempts 1\nattempts 2":        `f:3: policy "a" has "attempts" on line 2 already`,
		"policy a\nquiet\nquiet false":            "already",
		"policy a\ninherit b\ninherit c":          `has "inherit" on line 2 already`,
		"policy a\ninherit":                       `inherit: "" is not a name`,
		"policy a\ntools x":                       `there is no flag "tools"`,
		"policy a\nattempts":                      "attempts: needs a value",
		"policy a\nquiet perhaps":                 `quiet: "perhaps" is not true or false`,
		"policy a\nattemps 3":                     `there is no flag "attemps", did you mean "attempts"?`,
		"policy a\nretries 3":                     `did you mean "attempts 4"?`,
		"policy a\n--attempts 3":                  `did you mean "attempts"?`,
		"policy a\nzzzzzz 3":                      `there is no flag "zzzzzz"; a policy holds`,
		"policy a\n\xff\xfe 3":                    "there is no flag",
		"policy a\nhelp":                          "valid on the command line only",
		"policy a\nexec":                          "valid on the command line only",
		"policy a\npolicy\n":                      `"policy" needs a value`,
		"policy a\nconfig x":                      "selects a policy and is not allowed in one",
		"policy a\non-stderr a\x00b":              "f:2: holds a NUL byte",
		"include":                                 `f:1: "include" needs a value`,
		"policy a\nattempts 3":                    "",
		"policy " + strings.Repeat("a", 70000):    "",
	} {
		p := policyParser{file: "f"}
		_, err := p.parse(text)
		switch {
		case want == "" && err != nil, want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%.60q: %v; want %q", text, err, want)
		case err != nil && (strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), "f:")):
			t.Errorf("%.60q: %q is not one line that begins with its place", text, err)
		}
	}
}

// folder writes files, by name, into a new folder.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// names loads a file of dir and returns the names of the policies in order.
func names(dir, file string) (string, error) {
	l := policySet{}
	err := l.load(filepath.Join(dir, file), func(err error) error { return err })
	var all []string
	for _, p := range l.policies {
		all = append(all, p.Name)
	}
	return strings.Join(all, " "), err
}

func TestIncludes(t *testing.T) {
	dir := folder(t, map[string]string{
		"main": "policy first\n\ninclude conf.d/*\ninclude sub/nested\ninclude no/such/*.policies\n" +
			"policy last",
		"conf.d/b":       "policy b\n",
		"conf.d/a":       "policy a\ninclude ../shared",
		"conf.d/.hidden": "policy hidden",
		"shared":         "policy shared",
		"sub/nested":     "include ../shared\npolicy nested", // read already
		"itself":         "policy x\n\ninclude itself",
		"ring1":          "include ring2",
		"ring2":          "\n\ninclude ./ring1",
		"missing":        "include nowhere",
		"directory":      "include conf.d",
		"pattern":        "include conf.d/[",
		"mistake":        "include conf.d/a\ninclude wrong",
		"wrong":          "policy w\nattempts",
		"nul":            "include a\x00b",
		"rules":          "rule r\nmatch (",
		"self*/x":        "",
	})
	for file, want := range map[string]string{
		"main": "first a shared b nested last",
	} {
		if got, err := names(dir, file); got != want || err != nil {
			t.Errorf("%s: %s, %v; want %s", file, got, err, want)
		}
	}
	for file, want := range map[string]string{
		"itself":    "itself:3: include: ",
		"ring1":     "ring2:3: include: ",
		"missing":   "missing:1: include: ",
		"directory": "is a directory",
		"pattern":   `pattern:1: include: "conf.d/[" is not a valid pattern`,
		"mistake":   "wrong:2: attempts: needs a value",
		"nul":       "NUL",
		"rules":     "rules:2: pattern",
		"conf.d":    "is a directory",
		"absent":    "no such file",
	} {
		if _, err := names(dir, file); err == nil || !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v; want %q", file, err, want)
		}
	}
}

func TestTooManyFilesAreRefused(t *testing.T) {
	files := map[string]string{"main": "include many/*"}
	for i := range 1100 {
		files[fmt.Sprintf("many/%d", i)] = ""
	}
	if _, err := names(folder(t, files), "main"); err == nil ||
		!strings.Contains(err.Error(), "main:1: include: more than 1000 files") {
		t.Errorf("%v", err)
	}
	large := strings.Repeat("#", largestPolicyFile)
	dir := folder(t, map[string]string{"large": large, "larger": large + "#"})
	if _, err := names(dir, "large"); err != nil {
		t.Error(err)
	}
	if _, err := names(dir, "larger"); err == nil || !strings.Contains(err.Error(), "has more than 1 MiB") {
		t.Errorf("%v", err)
	}
}

// chosen reads the file main of dir as --config and returns the flags of the
// policy in force.
func chosen(dir, policy string, command ...string) (*option.Chosen, error) {
	given := []option.Setting{settingOf("config", filepath.Join(dir, "main"), "--config", option.FromCommandLine)}
	if policy != "" {
		given = append(given, settingOf("policy", policy, "--policy", option.FromCommandLine))
	}
	return Choose(nil, given, command)
}

func TestChoosePolicy(t *testing.T) {
	dir := folder(t, map[string]string{"main": `
policy child
inherit base
attempts 9
on-exit 5

policy base
inherit root
on-exit 1
on-exit 2
base 3s

policy root
delays 1s,2s
stop-on-stderr x

policy lowcap
inherit highbase
cap 2s

policy highbase
base 10s

policy ci
attempts 77

policy guarded
breaker 50%
rotate mirror=a,b

include more
`, "more": "policy child\nattempts 1\n\npolicy late\nattempts 99"})
	for _, test := range []struct{ policy, want string }{
		{"child", "stop-on-stderr=x base=3s attempts=9 on-exit=5"},
		{"ci", "attempts=77"},
		{"guarded", "breaker=50% rotate=mirror=a,b"},
		{"careful", "attempts=4 base=5s cap=60s jitter=equal classify=strict stop-on-exit=timeout,signal"},
		{"late", "attempts=99"},
		{"", ""},
	} {
		c, err := chosen(dir, test.policy, "true")
		if err != nil {
			t.Errorf("%+v: %v", test, err)
			continue
		}
		if got := settingsOf(&policyDef{settings: c.Settings}); got != test.want {
			t.Errorf("%+v: %s", test, got)
		}
	}
}

func TestChoosePolicyRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"policy a\ninherit b\n\npolicy b\ninherit c\n\npolicy c\ninherit b": "main:8: inherit: a policy cannot " +
			"inherit from itself",
		"policy a\ninherit a":                    "main:2: inherit: a policy cannot inherit from itself: a > a",
		"policy a\ninherit nosuch":               `main:2: inherit: there is no policy "nosuch"`,
		"policy a\nattempts many":                `main:2: attempts: "many"`,
		"policy a\nbase 5s\n\npolicy b\ncap -1s": "main:5: cap:",
		"policy a\non-stderr (":                  "main:2: on-stderr:",
		"policy a\nwait-for gopher://x":          "main:2: wait-for:",
	} {
		_, err := chosen(folder(t, map[string]string{"main": text}), "ci", "true")
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v; want %q", text, err, want)
		}
	}
	if _, err := chosen(folder(t, map[string]string{"main": ""}), "no such", "true"); err == nil ||
		!strings.Contains(err.Error(), `--policy: there is no policy "no such"; there are ci, cron, deploy, download`) {
		t.Errorf("%v", err)
	}
}

func TestDefaultFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("paths are Unix's")
	}
	home := folder(t, map[string]string{".config/retry/policies": "policy mine\nattempts 7",
		"xdg/retry/policies": "policy mine\nattempts 8"})
	mine := []option.Setting{settingOf("policy", "mine", "--policy", option.FromCommandLine)}
	for _, test := range []struct {
		environ []string
		want    string // "" if there is no such policy
	}{
		{[]string{"HOME=" + home}, "attempts=7"},
		{[]string{"HOME=" + home, "XDG_CONFIG_HOME=" + home + "/xdg"}, "attempts=8"},
		{[]string{"HOME=" + home, "XDG_CONFIG_HOME="}, "attempts=7"},
		{[]string{"HOME=" + home, "XDG_CONFIG_HOME=xdg"}, "attempts=7"}, // a relative path is not valid there
		{[]string{"HOME=" + home, "XDG_CONFIG_HOME=" + home + "/nothing"}, ""},
		{[]string{"HOME=" + home, "RETRY_CONFIG="}, ""},
		{[]string{"HOME=" + home, "RETRY_CONFIG=:"}, ""},
		{[]string{"RETRY_CONFIG=" + home + "/xdg/retry/policies"}, "attempts=8"},
		{[]string{"RETRY_CONFIG=:" + home + "/.config/retry/policies:" + home + "/xdg/retry/policies"}, "attempts=7"},
		{[]string{"HOME=."}, ""},
		{nil, ""},
	} {
		given := option.Merge(option.Environment(option.Table(), test.environ), mine)
		c, err := Choose(test.environ, given, []string{"true"})
		if (err == nil) != (test.want != "") {
			t.Errorf("%q: %v", test.environ, err)
		} else if err == nil && settingsOf(&policyDef{settings: c.Settings}) != test.want {
			t.Errorf("%q: %+v", test.environ, c)
		}
	}
	if err := os.Chmod(home+"/.config/retry/policies", 0o664); err != nil {
		t.Fatal(err)
	}
	c, err := Choose([]string{"HOME=" + home}, nil, []string{"true"})
	if err != nil || !strings.Contains(c.Warning, ".config/retry/policies") || len(c.Settings) > 0 {
		t.Errorf("a file that others may write: %+v, %v", c, err)
	}
}

// What --print-policy prints, read back as the policy current, is the same
// run.
func TestPrintedPolicyReadsBack(t *testing.T) {
	values := map[string][]string{
		"attempts": {"0", "3", "77"}, "backoff": {"linear", "fibonacci"}, "base": {"2s", "250ms"}, "cap": {"90s"},
		"factor": {"1.5"}, "jitter": {"25%", "none", "decorrelated"},
		"min-delay": {"10ms"}, "delays": {"1s,5s", "1m"}, "reset-after": {"5m"}, "timeout": {"10s"},
		"deadline": {"1h"}, "signal": {"INT"}, "on-exit": {"75", "1,2", "KILL"},
		"stop-on-stderr": {"denied|401", "a  b # c"}, "until-stdout": {"^ok$"}, "kill-leftovers": {"true", "false"},
		"stdin": {"null"}, "stdout": {"hold"}, "classify": {"strict"},
		"retry-after": {"off", `wait (\d+)`}, "max-hint": {"1h"}, "wait-for": {"tcp://localhost:80", "file:///x"},
		"quiet": {"true"}, "verbose": {"true"}, "log-format": {"json", "text"}, "log-file": {"events"},
		"nested": {"once"}, "seed": {"7"},
	}
	random := rand.New(rand.NewPCG(1, 2))
	levels := []option.Source{option.FromPolicy, option.FromEnvironment, option.FromCommandLine}
	for round := range 300 {
		var settings []option.Setting
		for _, level := range levels {
			var here []option.Setting
			for name, possible := range values {
				for range random.IntN(3) / 2 * (1 + random.IntN(2)) {
					here = append(here, settingOf(name, possible[random.IntN(len(possible))], "word", level))
				}
			}
			settings = option.Merge(settings, here)
		}
		o, err := resolveAll(settings)
		if err != nil {
			continue
		}
		o.Chosen, o.Settings = &option.Chosen{}, settings
		var first bytes.Buffer
		if err := printText(&first, o); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		p := policyParser{file: "f"}
		blocks, err := p.parse(first.String())
		if err != nil {
			t.Fatalf("round %d: %v in\n%s", round, err, first.String())
		}
		again, err := resolveAll(blocks[0].settings)
		if err != nil {
			t.Fatalf("round %d: %v in\n%s", round, err, first.String())
		}
		if before, after := effect(o), effect(again); before != after {
			t.Fatalf("round %d:\n%s\n%s\n%s", round, first.String(), before, after)
		}
	}
}

// effect is what a run under o does, in words.
func effect(o *option.Options) string {
	text := fmt.Sprintf("%+v %v %v %+v %v %v %v %+v %v %v", o.Policy.Schedule, o.Policy.Attempts, o.Policy.Deadline,
		o.Policy.Rules.Hints, o.Policy.Rules.ReadStdout, o.Policy.Rules.ReadStderr, o.Policy.Rules.Mode, o.Process,
		o.Quiet, o.LogFormat)
	if len(o.Targets) > 0 {
		text += o.Tries.Cap.String()
	}
	return text
}

// FuzzPolicyFile: whatever a file holds, it is read or refused in one line with
// a place, and what was read can be flattened or refused.
func FuzzPolicyFile(f *testing.F) {
	f.Add("policy a\nattempts 3\non-exit 75\n\npolicy b\ninherit a\nquiet\n")
	f.Add("include a*\nrule x\nmatch y\npolicy z\ninherit z")
	f.Add("policy a\n\x00")
	f.Add("\ufeffpolicy \xff\nbase \xfe")
	f.Add(builtInPolicies)
	f.Fuzz(func(t *testing.T, text string) {
		p := policyParser{file: "f"}
		blocks, err := p.parse(text)
		if err == nil {
			set := policySet{}
			for _, b := range blocks {
				if b.Name != "" {
					set.add(b)
				} else if b.include == "" {
					t.Fatal("an include of nothing")
				}
			}
			err = set.check(set.policies)
		}
		if err != nil && (!strings.HasPrefix(err.Error(), "f:") || strings.Contains(err.Error(), "\n")) {
			t.Fatalf("%q: %q", text, err)
		}
	})
}

// A child stands over what it inherits: its cap takes a base above it away, and
// two lines of one policy that contradict each other are a mistake.
func TestAChildHasPrecedence(t *testing.T) {
	dir := folder(t, map[string]string{"main": "policy child\ninherit parent\ncap 2s\n\npolicy parent\nbase 10s\n"})
	c, err := chosen(dir, "child", "true")
	if err != nil {
		t.Fatal(err)
	}
	o, err := resolveAll(c.Settings)
	if err != nil || o.Policy.Schedule.Cap.Seconds() != 2 || o.Policy.Schedule.Base.Seconds() > 2 {
		t.Errorf("%+v, %v", o, err)
	}
	if _, err := chosen(folder(t, map[string]string{"main": "policy a\nbase 10s\ncap 2s\n"}), "a", "true"); err == nil {
		t.Error("a cap below the base of the same policy is no mistake")
	}
}

// Inside another retry, these variables are meant for the outer run (docs/environment.md).
func TestVariablesOfTheOuterRun(t *testing.T) {
	outer := strings.Fields(`idempotency-key policy key breaker budget tokens max-concurrent adaptive priority
		before-retry after-success after-give-up retry-with fallback hook-timeout retry-when
		rotate hedge hedge-max rehearse rehearse-stdout rehearse-stderr wait-for`)
	for _, name := range outer {
		if f := option.ByName(name); f == nil {
			t.Logf("there is no --%s", name)
		} else if f.Tag("inner") != "no" {
			t.Errorf("the variable of --%s reaches a retry within", name)
		}
	}
	environ := []string{"RETRY_DEPTH=1", "RETRY_POLICY=ci", "RETRY_BEFORE_RETRY=x", "RETRY_REHEARSE=75",
		"RETRY_ATTEMPTS=3"}
	if got := option.Environment(option.Table(), environ); len(got) != 1 || !got[0].Flag.Is("attempts") {
		t.Errorf("%+v", got)
	}
}

// The table of built-in policies holds what --plan computes, for each of them.
func TestBuiltInPoliciesSurvive(t *testing.T) {
	p := policyParser{file: builtInFile}
	blocks, err := p.parse(builtInPolicies)
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "policies.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string][]string{}
	row := regexp.MustCompile("(?m)^\\| `([a-z]+)` \\| ([^ |]+) \\| ([^ |]+) \\|")
	for _, row := range row.FindAllStringSubmatch(string(page), -1) {
		rows[row[1]] = row[2:]
	}
	var names []string
	for _, b := range blocks {
		name := b.Name
		names = append(names, name)
		o, err := resolveAll(b.settings)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		promise := plan.Promises(o.Policy, rand.New(rand.NewPCG(1, 0)).Float64)
		half, most := message.Duration(time.Duration(promise.OutlivesHalf)),
			message.Duration(time.Duration(promise.OutlivesMost))
		if row := rows[name]; len(row) != 2 || row[0] != half || row[1] != most {
			t.Errorf("docs/policies.md says of %s %q, --plan %s and %s", name, row, half, most)
		}
	}
	if len(rows) != len(names) {
		t.Errorf("docs/policies.md has %d rows for %d policies", len(rows), len(names))
	}
	for _, group := range manual.New(nil, nil) {
		for _, f := range group.Flags {
			if f.Name == "policy" && !slices.Equal(f.Words(), append(names, "list")) {
				t.Errorf("the built-in policies are %s, completion offers %s", names, f.Words())
			}
		}
	}
}

// What the contract asks of ci.
func TestCISurvivesHalfAMinute(t *testing.T) {
	given := []option.Setting{settingOf("policy", "ci", "--policy", option.FromCommandLine)}
	c, err := Choose([]string{"RETRY_CONFIG="}, given, nil)
	if err != nil {
		t.Fatal(err)
	}
	o, err := resolveAll(c.Settings)
	if err != nil {
		t.Fatal(err)
	}
	if half := plan.Promises(o.Policy,
		rand.New(rand.NewPCG(1, 0)).Float64).OutlivesHalf; time.Duration(half) < 30*time.Second {
		t.Errorf("ci survives %v in half of the runs", half)
	}
}

// resolveAll resolves settings without a command line, for the command "true".
func resolveAll(settings []option.Setting) (*option.Options, error) {
	o := &option.Options{Settings: settings, Command: []string{"true"}}
	err := o.Fill()
	if err == nil {
		err = o.Resolve()
	}
	return o, err
}

func settingOf(name, value, word string, from option.Source) option.Setting {
	return option.Setting{Flag: option.ByName(name), Value: value, Word: word, Source: from}
}
