package classify

// This file tests the machinery that the rules are applied with, by itself.

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/event"
)

// What a line of each kind is worth as evidence for a rule, "" for nothing: of rules for any
// command and for a tool, of each verdict and strength.
func TestWeighs(t *testing.T) {
	show := func(r Rule, kind lineKind) string {
		if s, ok := r.weighs(kind); ok {
			return s.String()
		}
		return "-"
	}
	for _, c := range []struct {
		kind     lineKind
		verdict  event.Verdict
		tool     bool
		strength [3]string // for a weak, plain and decisive rule
	}{
		{plainLine, event.Permanent, false, [3]string{"weak", "plain", "decisive"}},
		{contentLine, event.Permanent, false, [3]string{"-", "-", "-"}},
		{handledLine, event.Transient, false, [3]string{"-", "-", "-"}},
		{handledLine, event.Transient, true, [3]string{"weak", "plain", "decisive"}},
		{retriedLine, event.Permanent, false, [3]string{"-", "plain", "decisive"}},
		{retriedLine, event.Transient, false, [3]string{Retried.String(), Retried.String(), Retried.String()}},
		{retriedLine, event.Unknown, false, [3]string{"-", "-", "-"}},
		{stepLine, event.Permanent, false, [3]string{"-", "-", "-"}},
		{stepLine, event.Permanent, true, [3]string{"weak", "plain", "decisive"}},
		{stepLine, event.Transient, false, [3]string{"weak", "plain", "decisive"}},
		{warningLine, event.Permanent, false, [3]string{"-", "weak", "plain"}},
		{warningLine, event.Transient, false, [3]string{"weak", "weak", "plain"}},
		{warningLine, event.Permanent, true, [3]string{"weak", "plain", "decisive"}},
		{passingLine, event.Permanent, false, [3]string{"-", "-", "decisive"}},
		{passingLine, event.Transient, false, [3]string{"weak", "plain", "decisive"}},
	} {
		for i, s := range []Strength{Weak, Plain, Decisive} {
			r := Rule{Verdict: c.verdict, Strength: s, builtIn: true}
			if c.tool {
				r.Tools = []string{"x"}
			}
			if got := show(r, c.kind); got != c.strength[i] {
				t.Errorf("%s rule for %s (of a tool: %t) on a line %q: %s, want %s", s, c.verdict, c.tool, c.kind,
					got, c.strength[i])
			}
			r.builtIn = false // a user's rule means what it says
			if got := show(r, c.kind); got != s.String() {
				t.Errorf("a user's rule on a line %q: %s", c.kind, got)
			}
		}
	}
	r := Rule{Verdict: event.Permanent, Strength: Plain, builtIn: true, OnContent: true}
	if got := show(r, contentLine); got != "plain" {
		t.Errorf("a rule on content: %s", got)
	}
}

// The filter finds each literal at each place where it stands, from the end of the text on,
// and no other; one that is no longer wanted is not looked for, and try ends the walk.
func TestFilterFindsAll(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	word := func(most int) string {
		b := make([]byte, minLiteral+random.IntN(most))
		for i := range b {
			b[i] = "abc"[random.IntN(3)]
		}
		return string(b)
	}
	type found struct{ rule, at int }
	for range 300 {
		var rules []*Rule
		for range 1 + random.IntN(6) {
			var literals []string
			for range 1 + random.IntN(4) {
				literals = append(literals, word(5))
			}
			slices.Sort(literals)
			rules = append(rules, &Rule{patterns: []*pattern{{literals: strings.Join(slices.Compact(literals), "\t")}}})
		}
		rules = append(rules, &Rule{patterns: []*pattern{{}}}) // without a literal
		text, wanted := word(40), make([]bool, len(rules))
		want := map[found]int{}
		for i, r := range rules {
			if wanted[i] = random.IntN(4) > 0; !wanted[i] || r.patterns[0].literals == "" {
				continue
			}
			for literal := range strings.SplitSeq(r.patterns[0].literals, "\t") {
				for at := range text {
					if strings.HasPrefix(text[at:], literal) {
						want[found{i, at}]++
					}
				}
			}
		}
		f, got := newFilter(rules), map[found]int{}
		f.walk(text, wanted, func(c candidate, at int) bool {
			got[found{c.rule, at}]++
			return true
		})
		if !maps.Equal(got, want) {
			t.Fatalf("in %q: %v, want %v", text, got, want)
		}
		if len(f.unindexed) != 1 || f.unindexed[0].rule != len(rules)-1 || f.patterns != len(rules) {
			t.Fatalf("%d unindexed of %d", len(f.unindexed), f.patterns)
		}
		calls := 0
		f.walk(text, wanted, func(candidate, int) bool { calls++; return calls < 2 })
		if most := 2; calls > most || calls < min(most, len(want)) {
			t.Fatalf("%d calls, want %d of %d", calls, most, len(want))
		}
	}
}

// Codes, ranges and words that are none are told as such.
func TestExitsThatAreNone(t *testing.T) {
	for list, want := range map[string]string{
		"": "names no exit", " ": "names no exit", "1,,2": "an item of the list is empty",
		"1,":  "an item of the list is empty",
		"256": `"256" is not an exit code`, "1-256": `"1-256" is not an exit code`, "1-": "is not an exit code",
		"1-2-3": "is not an exit code", "9x": "is not an exit code",
		"5-4": "the range \"5-4\" ends before it begins; did you mean 4-5?", "5-5": "", "0-255": "",
		"399": "is not an exit code", "400": "a status of HTTP", "599": "a status of HTTP",
		"600": "is not an exit code",
		"nope": `"nope" is not an exit; use a code from 0 to 255, a range (100-110), a signal (KILL), timeout, ` +
			`signal or any`, "-1": "is not an exit", "TIMEOUT": "", "Any": "",
	} {
		_, err := ParseExits(list)
		if err == nil != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", list, err, want)
		}
		var e Exits
		if again := e.UnmarshalText([]byte(list)); fmt.Sprint(again) != fmt.Sprint(err) {
			t.Errorf("%q: %v", list, again)
		}
	}
	if _, err := appendExits(nil, "nope"); err == nil ||
		!strings.HasSuffix(err.Error(), "a range (100-110) or a signal (KILL)") {
		t.Errorf("in a rule: %v", err)
	}
	x, _ := ParseExits("3,KILL,any,timeout")
	for code, want := range map[int]bool{3: true, 4: false, 137: false} {
		if _, named := x.Codes().Match(attempt.Result{ExitCode: code}); named != want {
			t.Errorf("a code of %d", code)
		}
	}
}

// For a rule a code stands for itself, and 128+n for a signal that ended a command of a shell.
func TestExitsAsEvidence(t *testing.T) {
	for _, c := range []struct {
		item   string
		result attempt.Result
		want   bool
	}{
		{"137", attempt.Result{ExitCode: 137}, true},
		{"137", attempt.Result{ExitCode: 137, Signal: "SIGKILL"}, false},
		{"5-7", attempt.Result{ExitCode: 5}, true},
		{"5-7", attempt.Result{ExitCode: 7}, true},
		{"5-7", attempt.Result{ExitCode: 4}, false},
		{"5-7", attempt.Result{ExitCode: 8}, false},
		{"KILL", attempt.Result{ExitCode: 137}, true},
		{"KILL", attempt.Result{ExitCode: 137, Signal: "SIGKILL"}, true},
		{"KILL", attempt.Result{ExitCode: 143, Signal: "SIGTERM"}, false},
		{"KILL", attempt.Result{ExitCode: 9}, false},
		{"STKFLT", attempt.Result{ExitCode: 144}, false}, // its number is not that of all systems
	} {
		x, err := appendExits(nil, c.item)
		if err != nil {
			t.Fatal(err)
		}
		if got := x[0].evidence(c.result); got != c.want {
			t.Errorf("%s on %+v: %t", c.item, c.result, got)
		}
	}
}

// Names in quotes are hidden behind a word and a blank only; addresses and paths to their
// ends, suffixes of files aside.
func TestMaskedEnds(t *testing.T) {
	for text, want := range map[string]string{
		"a 'az' b":            "a 'xx' b",
		"a 'Az' b":            "a 'Az' b", // begins with a capital
		"a `az' b":            "a `xx' b",
		`a "a-z_0.9" b`:       `a "x-x_0.9" b`,
		"a 'a b' b":           "a 'a b' b",
		"a  'az'":             "a  'az'",
		"'az'":                "'az'",
		" 'az'":               " 'az'",
		"a 'az":               "a 'az",
		"a '":                 "a '",
		"a 'a'":               "a 'x'",
		"a 'z'":               "a 'x'",
		"9 'az'":              "9 'az'",
		"Z 'az'":              "Z 'xx'",
		"/a":                  "/x",
		"x/a/b":               "x/a/b",
		"~/a/b":               "~/x/x",
		"(/a/b)c":             "(/x/x)c",
		"/a/b;c /d|e /f:g":    "/x/x;c /x|e /x:g",
		"/a/b.txt":            "/x/x.txt",
		"/a.b/c":              "/x.x/x",
		"/a/.b":               "/x/.b",
		"https://a.b/c.d?e=f": "https://x.x/x.x?x=x",
		"https://a:1/b: c":    "https://x:1/x: c",
		"https://a:":          "https://x:",
		"AZ/az /AZaz09":       "AZ/az /xxxx09",
	} {
		if got := masked(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// A stamp is that of a known logger, of which a level counts by its first letter, in any case.
func TestStampsOfLevels(t *testing.T) {
	for line, want := range map[string]string{
		"10:15:03 trace: x": "t x", "10:15:03 DEBUG x": "d x", "10:15:03 [Notice] x": "n x",
		"10:15:03 <warn> x": "w x", "10:15:03 severe x": "s x", "10:15:03 emerg x": "e x", "10:15:03 panic x": "p x",
		"10:15:03 x": "0 x", "9:15:03 x": "0 9:15:03 x", "10:15:03 ERROR 0 x": "e ERROR 0 x",
		"10:15:03 ERROR 9 x": "e ERROR 9 x", "jan 08 10:15:03 x": "0 x", "f 10:15:03 x": "0 f 10:15:03 x",
		"10:15:03 " + strings.Repeat(" ", stampSize) + "error x": "0 " + strings.Repeat(" ", stampSize) + "error x",
	} {
		end, level := stampOf(line)
		if level == 0 {
			level = '0'
		}
		if got := string(level) + " " + line[end:]; got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

// What a rule may not say, and what it takes over from others.
func TestRulesThatSayTooLittle(t *testing.T) {
	const end = "verdict transient\nreason y\n"
	for data, want := range map[string]string{
		"rule a\nexit 1\nunless x\n" +
			end: `f:5: rule "a" has unless or stream without a match line`,
		"rule a\nexit 1\nstream stderr\n" +
			end: `f:5: rule "a" has unless or stream without a match line`,
		"rule a\nmatch x\nunless-of b\n" +
			end: `f:3: unless-of "b": there is no such rule above this one in the file`,
		"rule a\nmatch x\non both\n" +
			end: `f:3: on "both": use content or command, or leave it out`,
		"rule a\nmatch x\nargs (\n" +
			end: `f:3: pattern "^(?:()$": missing closing )`,
		"policy p\nbase 1s\n\nrule a\nmatch x\n" + end:                                 "",
		"include x\nrule a\nmatch x\n" + end:                                           "",
		"rule b\nmatch x\nunless z\n" + end + "\nrule a\nmatch x\nunless-of b\n" + end: "",
	} {
		table, err := ParseRules("f", []byte(data))
		if want == "" && err != nil || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%q: %v, want %q", data, err, want)
		}
		if err != nil {
			continue
		}
		a := table.Rules()[len(table.Rules())-1]
		if strings.Contains(data, "unless-of") != (len(a.unless) == 1) || a.ID != "a" ||
			a.Where() != fmt.Sprintf("f:%d", 1+strings.Count(data[:strings.Index(data, "rule a")], "\n")) {
			t.Errorf("%q: %s %+v", data, a.Where(), a)
		}
	}
}

// What a script prints may be of any tool, and counts less if it says that to go on is of no
// use. A rule for the script itself, for any command or for a code alone stays what it is.
func TestRulesInAScript(t *testing.T) {
	patterns := []*pattern{{}}
	for name, c := range map[string]struct {
		rule     Rule
		tools    int
		strength Strength
	}{
		"permanent": {Rule{builtIn: true, Tools: []string{"x"}, patterns: patterns, Verdict: event.Permanent,
			Strength: Decisive}, 0, Weak},
		"transient": {Rule{builtIn: true, Tools: []string{"x"}, patterns: patterns, Verdict: event.Transient,
			Strength: Decisive}, 0, Decisive},
		"a user's": {Rule{Tools: []string{"x"}, patterns: patterns, Verdict: event.Permanent, Strength: Plain},
			1, Plain},
		"any command": {Rule{builtIn: true, patterns: patterns, Verdict: event.Permanent, Strength: Plain}, 0,
			Plain},
		"of the command": {Rule{builtIn: true, OnCommand: true, Tools: []string{"x"}, patterns: patterns,
			Verdict: event.Permanent, Strength: Plain}, 1, Plain},
		"without pattern": {Rule{builtIn: true, Tools: []string{"x"}, Verdict: event.Permanent, Strength: Plain}, 1,
			Plain},
	} {
		if got := c.rule.inScript(); len(got.Tools) != c.tools || got.Strength != c.strength {
			t.Errorf("%s: for %q, %s", name, got.Tools, got.Strength)
		}
		if len(c.rule.Tools) == 0 && c.tools > 0 {
			t.Errorf("%s: the rule itself has changed", name)
		}
	}
}

// What decides between two findings, and what is said of it.
func TestWon(t *testing.T) {
	of := func(id string, v event.Verdict, tools ...string) Match {
		return Match{Rule: &Rule{ID: id, Verdict: v, Tools: tools}}
	}
	transient, permanent := of("a", event.Transient), of("b", event.Permanent)
	for want, found := range map[string][2]finding{
		"it is overruled by what stands behind it on its line, or by a decisive rule": {{Match: transient,
			strength: Plain}, {Match: permanent, strength: Plain, yielded: true}},
		"a rule of your own comes before a built-in one": {{Match: transient, strength: Plain},
			{Match: permanent, strength: Plain, layer: 1}},
		"decisive evidence comes before plain": {{Match: transient, strength: Decisive},
			{Match: permanent, strength: Plain}},
		"of weak evidence transient comes before permanent": {{Match: transient, strength: Weak},
			{Match: permanent, strength: Weak}},
		"a rule for the command comes before one for any command": {{Match: of("a", event.Transient, "x"),
			strength: Plain}, {Match: permanent, strength: Plain}},
		"the later line comes first": {{Match: transient, strength: Plain, at: 9},
			{Match: permanent, strength: Plain}},
		"the output comes before the exit code": {{Match: transient, strength: Plain},
			{Match: permanent, strength: Plain, at: -1}},
		"on one line the more exact rule comes first": {{Match: transient, strength: Plain},
			{Match: permanent, strength: Plain, beaten: true}},
		"what stands behind more colons comes first": {{Match: transient, strength: Plain, colonsBefore: 2},
			{Match: permanent, strength: Plain, colonsBefore: 1}},
		"it comes first in the files of rules": {{Match: transient, strength: Plain},
			{Match: permanent, strength: Plain, index: 1}},
	} {
		if weigh(found[0], found[1]) >= 0 || weigh(found[1], found[0]) <= 0 {
			t.Errorf("%s: it does not come first", want)
		}
		got := won(found[:])
		if !strings.HasPrefix(got, "over b (permanent): ") || !strings.Contains(got, want) &&
			!strings.HasPrefix(want, "it is overruled") {
			t.Errorf("%q, want %q", got, want)
		}
	}
	const alone = "by weak evidence alone: the same words have several causes"
	for strength, want := range map[Strength]string{Retried: alone, Weak: alone, Plain: "", Decisive: ""} {
		if got := won([]finding{{Match: transient, strength: strength}}); got != want {
			t.Errorf("%s and alone: %q", strength, got)
		}
		if got := won([]finding{{Match: transient, strength: strength},
			{Match: of("c", event.Transient), strength: Weak, index: 1}}); got != want {
			t.Errorf("%s beside one of its verdict: %q", strength, got)
		}
	}
}

// on says what a rule reads besides, and only that.
func TestOn(t *testing.T) {
	for on, want := range map[string][2]bool{"": {false, false}, "on content\n": {true, false},
		"on command\n": {false, true}, "on content\non command\n": {true, true}} {
		table, err := ParseRules("f", []byte("rule a\nmatch x\n"+on+"verdict transient\nreason y\n"))
		if err != nil {
			t.Fatal(err)
		}
		if r := table.Rules()[0]; r.OnContent != want[0] || r.OnCommand != want[1] {
			t.Errorf("%q: on content %t, on command %t", on, r.OnContent, r.OnCommand)
		}
	}
}

// TestControlCharactersDivideLiterals: a tab in a pattern is in no literal, of which tabs
// divide several.
func TestControlCharactersDivideLiterals(t *testing.T) {
	for _, c := range []struct{ text, first, second, line string }{
		{`()\t00`, "", "", "\t00"},
		{`code\t00`, "code", "", "code\t00"},
		{`code\tsomething`, "something", "code", "code\tsomething"},
		{"\x01one\ttwo\tthree", "three", "two", "\x01one\ttwo\tthree"},
		{`(?:gone\taway|timeout)`, "away\ttimeout", "gone\ttimeout", "gone\taway"},
		{`name\s\x{e9}toile`, "toile", "name", "name étoile"},
	} {
		if first, second := requiredLiterals(c.text); first != c.first || second != c.second {
			t.Errorf("%q: %q and %q", c.text, first, second)
		}
		table, err := ParseRules("f", []byte("rule a\nmatch "+c.text+"\nverdict permanent\nreason r\n"))
		if err != nil {
			t.Fatal(err)
		}
		f := Failure{Argv: []string{"x"}, Result: attempt.Result{ExitCode: 1},
			Stderr: []byte(strings.Repeat("x\n", 40) + c.line)}
		if j := table.Judge(f); j.Rule != "a" {
			t.Errorf("%q does not match %q: %+v", c.text, c.line, j)
		}
	}
}
