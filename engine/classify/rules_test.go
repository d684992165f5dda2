package classify

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/exitcodes"
)

// builtInRules parses each built-in file the strict way.
func builtInRules(t *testing.T) []*Rule {
	t.Helper()
	files, err := filepath.Glob("rules/*.rules")
	if err != nil {
		t.Fatal(err)
	}
	var rules []*Rule
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		table, err := ParseRules(filepath.Base(path), data)
		if err != nil {
			t.Fatal(err)
		}
		rules = append(rules, table.Rules()...)
	}
	return rules
}

// example makes a failure of an example line of a rule.
func example(t *testing.T, r *Rule, line string) Failure {
	t.Helper()
	argv := []string{"some-tool"}
	if len(r.Tools) > 0 {
		argv = []string{r.Tools[0]}
	}
	if r.Args != nil {
		word, _, _ := strings.Cut(strings.Trim(r.Args.text, "^(?:)$"), "|")
		argv = append(argv, word)
	}
	result := attempt.Result{ExitCode: 1}
	if len(r.Exits) > 0 {
		result = attempt.Result{ExitCode: r.Exits[0].low, Signal: r.Exits[0].signal}
	}
	if code, ok := strings.CutPrefix(line, "exit "); ok && len(r.patterns) == 0 {
		if n, err := strconv.Atoi(code); err == nil {
			return Failure{Argv: argv, Result: attempt.Result{ExitCode: n}}
		}
		signal, err := attempt.ParseSignal(code)
		if err != nil {
			t.Fatalf("%s:%d: rule %s: example %q: %v", r.file, r.line, r.ID, line, err)
		}
		return Failure{Argv: argv, Result: attempt.Result{ExitCode: 200, Signal: signal}}
	}
	if r.Stream == "stdout" {
		return Failure{Argv: argv, Result: result, Stdout: []byte(line)}
	}
	return Failure{Argv: argv, Result: result, Stderr: []byte(line)}
}

func TestEveryRuleIsProved(t *testing.T) {
	rules := builtInRules(t)
	if len(rules) != len(BuiltIn().Rules()) {
		t.Fatalf("the table has %d rules, its files %d", len(BuiltIn().Rules()), len(rules))
	}
	seen := map[string]bool{}
	for _, r := range rules {
		where := r.file + ":" + strconv.Itoa(r.line) + ": rule " + r.ID
		if seen[r.ID] {
			t.Errorf("%s: there is another rule of this name", where)
		}
		seen[r.ID] = true
		if r.Source == "" || len(r.Yes) == 0 || len(r.No) == 0 {
			t.Errorf("%s: needs a source, an example that matches and one that does not", where)
		}
		if strings.HasSuffix(r.Reason, ".") {
			t.Errorf("%s: reason %q ends with a full stop", where, r.Reason)
		}
		alone := newTable([]*Rule{r})
		for _, line := range r.Yes {
			if j := alone.Judge(example(t, r, line)); j.Rule != r.ID {
				t.Errorf("%s does not match its example %q", where, line)
			}
		}
		for _, line := range r.No {
			if j := alone.Judge(example(t, r, line)); j.Rule == r.ID {
				t.Errorf("%s matches %q, which it must not", where, line)
			}
		}
		for _, id := range r.Over {
			if !slices.ContainsFunc(rules, func(o *Rule) bool { return o.ID == id }) {
				t.Errorf("%s is over %q, which does not exist", where, id)
			}
		}
	}
}

// TestEveryPatternHasALiteral keeps the prefilter useful: a pattern without a
// literal is tried on each line.
func TestEveryPatternHasALiteral(t *testing.T) {
	for _, r := range builtInRules(t) {
		for _, p := range r.patterns {
			if p.literals == "" {
				t.Errorf("%s:%d: rule %s: no literal of %d bytes that every match has: %s", r.file, p.line, r.ID,
					minLiteral, p.text)
			}
		}
	}
}

var update = flag.Bool("update", false, "write literals.tsv anew")

func TestLiteralsAreCurrent(t *testing.T) {
	var b strings.Builder
	write := func(first int, patterns []*pattern) {
		slices.SortFunc(patterns, func(a, b *pattern) int { return a.line - b.line })
		for _, p := range patterns {
			if p.line > first { // not those of another rule
				b.WriteString(strings.TrimSuffix(p.literals+"\t\t"+p.also, "\t\t") + "\n")
			}
		}
	}
	for _, r := range builtInRules(t) {
		write(r.line, slices.Concat(r.patterns, r.unless))
	}
	shapes, err := parseShapes(kindsFile, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range shapes {
		write(0, s.patterns())
	}
	if *update {
		if err := os.WriteFile("literals.tsv", []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if b.String() != literalsFile {
		t.Error("literals.tsv is not that of the rules: go test ./engine/classify -run TestLiteralsAreCurrent -update")
	}
}

// TestNoContradictionWithoutAnOrder holds every example against the whole
// table: if two rules with different verdicts match it, something other
// than their order in the files has to decide.
func TestNoContradictionWithoutAnOrder(t *testing.T) {
	table := BuiltIn()
	for _, r := range table.Rules() {
		for _, line := range slices.Concat(r.Yes, r.No) {
			f := example(t, r, line)
			found := table.search(f)
			for i := 1; i < len(found); i++ {
				a, b := found[0], found[i]
				if a.Rule.Verdict == b.Rule.Verdict {
					continue
				}
				a.index, b.index = 0, 0
				if weigh(a, b) == 0 {
					t.Errorf("%q: %s (%s) and %s (%s) contradict each other; give one a strength or write over", line,
						a.Rule.ID, a.Rule.Verdict, b.Rule.ID, b.Rule.Verdict)
				}
			}
		}
	}
}

// TestEachRuleDecidesItsExample: a rule that is never the one to decide on its
// own examples is dead weight, or outranked by mistake.
func TestVerdictOfExamples(t *testing.T) {
	for _, r := range BuiltIn().Rules() {
		for _, line := range r.Yes {
			if j := BuiltIn().Judge(example(t, r, line)); j.Verdict != r.Verdict && r.Strength != Weak {
				t.Errorf("rule %s says %s of %q, but %s says %s", r.ID, r.Verdict, line, j.Rule, j.Verdict)
			}
		}
	}
}

func TestParseRulesNamesTheLine(t *testing.T) {
	for _, c := range []struct{ data, want string }{
		{"verdict transient\n", `my.rules:1: "verdict" stands before any rule`},
		{"rule a b\n", `my.rules:1: rule id "a b"`},
		{"rule a\nverdict maybe\n", `my.rules:2: verdict "maybe"`},
		{"# x\n\nrule a\nmatch (\n", `my.rules:4: pattern "(": missing closing )`},
		{"rule a\nexit 300\n", `my.rules:2: exit: "300" is not an exit code; codes are whole numbers from 0 to 255`},
		{"rule a\nexit NOSUCH\n", `my.rules:2: exit: "NOSUCH" is not an exit; use a code from 0 to 255, a range ` +
			`(100-110) or a signal (KILL)`},
		{"rule a\nexit 1,,2\n", `my.rules:2: exit: an item of the list is empty`},
		{"rule a\ncolour red\n", `my.rules:2: unknown key "colour"`},
		{"rule a\nmatch\n", `my.rules:2: "match" needs a value`},
		{"rule a\nstream both\n", `my.rules:2: stream "both"`},
		{"rule a\nstrength strong\n", `my.rules:2: strength "strong"`},
		{"rule a\nmatch x\nreason y\n", `my.rules:3: rule "a" has no verdict`},
		{"rule a\nmatch x\nverdict transient\n\n", `my.rules:4: rule "a" has no reason`},
		{"rule a\nverdict transient\nreason y\n", `my.rules:3: rule "a" matches everything`},
		{"rule a\nexit 1\nverdict transient\nover b\nreason y\nover nosuch\n\nrule b\nexit 2\nverdict unknown\n" +
			"reason z\n", `my.rules:6: over "nosuch"`},
		{"rule a\nverdict transient\nexit 1\nverdict permanent\n",
			`my.rules:4: rule "a" has a verdict on line 2 already`},
		{"rule a\nreason x\nreason y\n", `my.rules:3: rule "a" has a reason on line 2 already`},
		{"rule a\nyields soon\n", `my.rules:2: verdict "soon"`},
		{"rule a\nexit 1\nverdict transient\nreason y\n\nrule a\n", `my.rules:6: rule "a" stands on line 1 already`},
	} {
		_, err := ParseRules("my.rules", []byte(c.data))
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("ParseRules(%q): %v, want %s", c.data, err, c.want)
		}
	}
}

func TestParseRulesReads(t *testing.T) {
	for name, data := range map[string]string{
		"tabs":              "rule\ta\nexit\t1\nverdict \ttransient\nreason\tbusy now\n",
		"a byte order mark": "\ufeffrule a\nexit 1\nverdict transient\nreason busy now\n",
		"Windows lines":     "\ufeff# c\r\nrule a\r\nexit 1\r\nverdict transient\r\nreason busy now\r\n",
		"over a built-in":   "rule a\nexit 1\nover usage\nverdict transient\nreason busy now\n",
	} {
		table, err := ParseRules("mine", []byte(data))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if r := table.Rules()[0]; r.ID != "a" || r.Verdict != event.Transient || r.Reason != "busy now" {
			t.Errorf("%s: read %+v", name, r)
		}
	}
}

func TestUserRulesComeFirst(t *testing.T) {
	mine, err := ParseRules("mine",
		[]byte("rule mine\ntools deploy\nexit 3\nmatch connection refused\nstrength weak\nverdict permanent\n"+
			"reason our gateway says so for good\n"))
	if err != nil {
		t.Fatal(err)
	}
	f := Failure{Argv: []string{"deploy"}, Result: attempt.Result{ExitCode: 3}, Stderr: []byte("connection refused\n")}
	both := mine.Over(BuiltIn())
	j := both.Judge(f)
	if j.Rule != "mine" || j.Verdict != event.Permanent || !matched(j, "net-refused") {
		t.Errorf("got %+v, want the user's rule before net-refused", j)
	}
	f.Result.ExitCode = 4
	if j := both.Judge(f); j.Rule != "net-refused" {
		t.Errorf("got %+v, want the built-in rule for another code", j)
	}
}

func matched(j Judgement, id string) bool {
	return slices.ContainsFunc(j.Matches, func(m Match) bool { return m.Rule.ID == id })
}

// TestExitsNeedNoPatterns: a failure without output is judged by exits.rules alone. With an
// empty line as its output it is judged by all rules, and the same follows. Codes between the
// ends of the ranges that rules name are alike.
func TestExitsNeedNoPatterns(t *testing.T) {
	if testing.Short() {
		t.Skip("judges thousands of failures")
	}
	names := map[string]bool{unnamed: true}
	for _, r := range BuiltIn().Rules() {
		for _, name := range r.Tools {
			names[name] = true
		}
	}
	for name := range names {
		for code := range codesOf(name) {
			f := Failure{Argv: []string{name, "x"}, Result: attempt.Result{ExitCode: code}}
			exit := BuiltIn().Judge(f)
			f.Stderr = []byte("\n")
			all := BuiltIn().Judge(f)
			if exit.Verdict != all.Verdict || exit.Rule != all.Rule || exit.Reason != all.Reason ||
				len(exit.Matches) != len(all.Matches) {
				t.Errorf("%s, exit %d: %s by %q, and by all rules %s by %q", name, code, exit.Verdict, exit.Rule,
					all.Verdict, all.Rule)
			}
		}
	}
}

// unnamed is a command that no rule names.
const unnamed = "frobtool"

// codesOf returns the codes at the ends of the ranges that the rules for a command name, those
// beside them, and, of the command that no rule names, those of the signals.
func codesOf(name string) map[int]bool {
	codes := map[int]bool{1: true, 255: true}
	if name == unnamed {
		for n := range 32 {
			codes[exitcodes.OfSignal(n)] = true
		}
	}
	for _, r := range BuiltIn().Rules() {
		if !r.isAbout([]string{name}) {
			continue
		}
		for _, e := range r.Exits {
			for _, code := range []int{e.low - 1, e.low, e.high, e.high + 1} {
				codes[min(max(code, 1), 255)] = true
			}
		}
	}
	return codes
}

// TestExitIsJudgedOnce: the judgement that a table keeps is of the same failure.
func TestExitIsJudgedOnce(t *testing.T) {
	table := BuiltIn()
	first := Failure{Argv: []string{"curl", "x"}, Result: attempt.Result{ExitCode: 7}}
	table.Judge(first)
	for _, c := range []struct {
		argv   []string
		result attempt.Result
		rule   string
	}{
		{[]string{"curl", "x"}, attempt.Result{ExitCode: 7}, "curl-code-transient"},
		{[]string{"curl", "x"}, attempt.Result{ExitCode: 3}, "curl-code-permanent"},
		{[]string{"frob", "x"}, attempt.Result{ExitCode: 3}, ""},
		{[]string{"frob", "x"}, attempt.Result{ExitCode: 3, Signal: "SIGSEGV"}, "crash"},
		{[]string{"frob", "x"}, attempt.Result{ExitCode: 3, Signal: "SIGSEGV", TimedOut: true}, "attempt-timeout"},
		{nil, attempt.Result{ExitCode: 75}, "sysexits-tempfail"},
		{nil, attempt.Result{ExitCode: 124}, "timeout-code"},
	} {
		if j := table.Judge(Failure{Argv: c.argv, Result: c.result}); j.Rule != c.rule {
			t.Errorf("%q, %+v: judged by %q, want %q", c.argv, c.result, j.Rule, c.rule)
		}
	}
	changed := []string{"curl", "x"}
	table.Judge(Failure{Argv: changed, Result: attempt.Result{ExitCode: 7}})
	changed[0] = "frob"
	if j := table.Judge(Failure{Argv: changed, Result: attempt.Result{ExitCode: 7}}); j.Rule != "" {
		t.Errorf("the arguments are kept by reference: %q", j.Rule)
	}
}

func TestZeroTableKnowsNothing(t *testing.T) {
	j := new(Table).Judge(Failure{Argv: []string{"curl"}, Result: attempt.Result{ExitCode: 7},
		Stderr: []byte("connection refused\n")})
	if j.Verdict != event.Unknown || j.Rule != "" {
		t.Errorf("%+v", j)
	}
}
