package classify

// This file has the rule table and its layers. rules_parse.go reads the files,
// rules_built_in.go those of the built-in table.

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/event"
)

// Strength says how much a rule's evidence weighs. The zero value is Plain.
type Strength int

// The strengths, from the lightest.
const (
	// Retried evidence is of what the command overcame or went on without. It decides if
	// there is no other, nor an exit code that says something.
	Retried Strength = iota - 3
	// weakExit evidence is the exit code for a weak rule, and has no word in rule files.
	weakExit
	// Weak evidence has several causes, such as "not found": any other evidence beats it.
	Weak
	// Plain evidence names the cause.
	Plain
	// Decisive evidence decides on any line, such as a full disk or a rate limit.
	Decisive
)

// String is the strength as a rule file has it; what is below weak has no word there.
func (s Strength) String() string {
	switch s {
	case Retried:
		return "overcome"
	case weakExit:
		return "an exit code's"
	case Weak:
		return "weak"
	case Plain:
		return "plain"
	}
	return "decisive"
}

// Rule is one entry of the table.
type Rule struct {
	ID        string   // in events and in --explain, unique in a table
	Tools     []string // plain names of the rule's commands; empty is any
	Args      *pattern // one of the command's arguments matches it as a whole; nil is any
	Exits     Exits    // results that the rule is for; empty is any failure
	Stream    string   // "stdout" or "stderr", "" for both
	Verdict   event.Verdict
	Strength  Strength
	OnContent bool     // it also reads lines that quote text
	OnCommand bool     // it does not read the output of scripts, only that of its tools
	Over      []string // rules that this one beats if both match the same line
	// Yields is a verdict, or "": the rule counts least of all on a line where a rule of
	// that verdict matches behind it.
	Yields event.Verdict
	// Reason says in a user's words what happened, Source where that is documented.
	Reason, Source string
	// Yes and No are example lines (or "exit N") that the rule matches and does not.
	Yes, No []string

	patterns, unless []*pattern
	builtIn          bool
	file             string
	line             int
}

// general reports whether the rule is a built-in one for any command, which does not match
// in addresses and paths.
func (r *Rule) general() bool { return r.builtIn && len(r.Tools) == 0 }

// inScript returns the rule as it applies to the output of a script, which may run any tool.
// A refusal of a tool counts less there, since the script may have gone on.
func (r *Rule) inScript() *Rule {
	if !r.builtIn || r.OnCommand || len(r.Tools) == 0 || len(r.patterns) == 0 {
		return r
	}
	any := *r
	any.Tools = nil
	if any.Verdict == event.Permanent {
		any.Strength = Weak
	}
	return &any
}

// Where is the rule's FILE:LINE; the files of the built-in table are in "built-in/".
func (r *Rule) Where() string { return r.file + ":" + strconv.Itoa(r.line) }

// pattern is a regular expression that is compiled when a literal of it occurs.
type pattern struct {
	text string
	line int
	// literals is the first set of what requiredLiterals finds, and also the second, divided
	// by tabs; "" is none.
	literals, also string
	once           sync.Once
	re             *regexp.Regexp
}

// mayMatch reports whether the line, in lower case, has the literals that a match needs.
func (p *pattern) mayMatch(lower string) bool {
	return containsOne(lower, p.literals) && containsOne(lower, p.also)
}

// containsOne reports whether the line has one of the literals, which tabs divide.
func containsOne(line, literals string) bool {
	for literal := range strings.SplitSeq(literals, "\t") {
		if strings.Contains(line, literal) {
			return true
		}
	}
	return false
}

// compiled returns the expression. newPattern, or a test for the built-in rules, has
// checked it.
func (p *pattern) compiled() *regexp.Regexp {
	p.once.Do(func() { p.re = regexp.MustCompile(foldCase + p.text) })
	return p.re
}

// foldCase makes patterns ignore case, which tools change between versions.
const foldCase = "(?i)"

// Table is a set of rules, in layers: those of an earlier layer have precedence, whatever
// their strength.
type Table struct {
	layers []layer

	// What is made of the layers when a failure has output, and the judgement of the last
	// failure without, are kept.
	once   sync.Once
	all    []*Rule // in their order
	script []*Rule // the same as they apply in a script
	ends   []int   // of the layers in all
	filter *filter
	mu     sync.Mutex
	last   lastExit
}

// layer are the rules of one file, or the built-in ones. They are read when a failure needs
// them: those with patterns only for one that has output, of the others those that are for
// its tool or for any.
type layer struct {
	exits    func(tool string) []*Rule
	patterns func() []*Rule
}

// newTable is a table of one layer, of rules that have been read.
func newTable(rules []*Rule) *Table {
	var exits, patterns []*Rule
	for _, r := range rules {
		if len(r.patterns) == 0 {
			exits = append(exits, r)
		} else {
			patterns = append(patterns, r)
		}
	}
	return &Table{layers: []layer{{func(string) []*Rule { return exits }, func() []*Rule { return patterns }}}}
}

var builtIn = Table{layers: []layer{{readExits, sync.OnceValue(readPatterns)}}}

// BuiltIn returns the built-in table.
func BuiltIn() *Table { return &builtIn }

// Rules returns the rules in their order.
func (t *Table) Rules() []*Rule {
	t.read()
	return t.all
}

// read reads all rules and makes their filter.
func (t *Table) read() {
	t.once.Do(func() {
		for _, l := range t.layers {
			t.all = slices.Concat(t.all, l.exits(""), l.patterns())
			t.ends = append(t.ends, len(t.all))
		}
		for _, r := range t.all {
			t.script = append(t.script, r.inScript())
		}
		t.filter = newFilter(t.all)
	})
}

// exits returns the rules for the last of the commands that need no output, and how many there
// are up to the end of each layer.
func (t *Table) exits(names []string) (rules []*Rule, ends []int) {
	tool := ""
	if len(names) > 0 {
		tool = names[len(names)-1]
	}
	for _, l := range t.layers {
		rules = append(rules, l.exits(tool)...)
		ends = append(ends, len(rules))
	}
	return rules, ends
}

// Over returns a table in which the rules of t come before those of base.
func (t *Table) Over(base *Table) *Table {
	return &Table{layers: slices.Concat(t.layers, base.layers)}
}

// isAbout reports whether the rule is for one of the commands.
func (r *Rule) isAbout(names []string) bool {
	if len(r.Tools) == 0 {
		return true
	}
	return slices.ContainsFunc(names, func(name string) bool { return slices.Contains(r.Tools, name) })
}

// applies reports whether the rule is for these commands, of command.Chain, the last one's
// arguments, and this result. An exit code is the last command's; output may be of any of them.
func (r *Rule) applies(names, args []string, res attempt.Result) bool {
	if len(r.patterns) == 0 {
		names = names[max(0, len(names)-1):]
	}
	if !r.isAbout(names) || r.Args != nil && !slices.ContainsFunc(args, r.Args.compiled().MatchString) {
		return false
	}
	return len(r.Exits) == 0 || slices.ContainsFunc(r.Exits, func(e exit) bool { return e.evidence(res) })
}
