package classify

// This file holds the rule table: what a rule is and how tables are layered.
// The file format is read in rules_parse.go; the built-in data is rules/*.rules.

import (
	"embed"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/event"
)

// Strength says how much a rule's evidence weighs. The zero value is Plain.
type Strength int

// The strengths, from the lightest.
const (
	// Weak evidence reads like a conclusion that several causes share, such
	// as "not found": any other evidence beats it.
	Weak Strength = iota - 1
	// Plain evidence names the cause.
	Plain
	// Decisive evidence settles the matter wherever it stands in the output,
	// such as a full disk or an exhausted rate limit.
	Decisive
)

// strengths are the words of rule files for them.
var strengths = []string{"weak", "plain", "decisive"}

// String is the strength as a rule file has it.
func (s Strength) String() string { return strengths[max(s, Weak)-Weak] }

// Rule is one entry of the table.
type Rule struct {
	// ID is the rule's name in events and in --explain, unique in a table.
	ID string
	// Tools are the commands that the rule is about, by their plain names;
	// empty is any command.
	Tools []string
	// Exits are the results that the rule is about; empty is any failure.
	Exits Exits
	// Stream is "stdout" or "stderr", "" for both.
	Stream string
	// Verdict is the judgement, Strength its weight.
	Verdict  event.Verdict
	Strength Strength
	// OnContent is set for a rule that also reads lines that quote something.
	OnContent bool
	// Over names rules that this one beats where both match the same line.
	Over []string
	// Yields is a verdict, or "": the rule counts least of all on a line where
	// a rule of that verdict matches behind this one.
	Yields event.Verdict
	// Stale is for how long a lock may be held, where the output says since when;
	// one that is older is permanent. 0 is no lock.
	Stale time.Duration
	// Reason says in a user's words what happened; Source names where the
	// meaning of the evidence is written down.
	Reason, Source string
	// Yes and No are examples: an output line (or "exit N") that the rule
	// matches, and one that it must not match.
	Yes, No []string

	patterns, unless []*pattern
	builtIn          bool
	file             string
	line             int
}

// general reports whether the rule is a built-in one about any command: it does
// not see what stands in addresses and paths.
func (r *Rule) general() bool { return r.builtIn && len(r.Tools) == 0 }

// Where is the file and line at which the rule stands, as FILE:LINE; the
// built-in table's files are in "built-in/".
func (r *Rule) Where() string { return r.file + ":" + strconv.Itoa(r.line) }

// pattern is a regular expression that is compiled when its literals were
// seen for the first time.
type pattern struct {
	text string
	line int
	// literals are what requiredLiterals finds, divided by tabs; "" is none.
	literals string
	once     sync.Once
	re       *regexp.Regexp
}

// mayMatch says whether the line, in lower case, has one of the literals that the
// pattern needs. Where it has none, the pattern need not be compiled.
func (p *pattern) mayMatch(lower string) bool {
	for literal := range strings.SplitSeq(p.literals, "\t") {
		if strings.Contains(lower, literal) {
			return true
		}
	}
	return false
}

// compiled returns the expression, which newPattern (or, for the built-in
// rules, a test) has found to be valid.
func (p *pattern) compiled() *regexp.Regexp {
	p.once.Do(func() { p.re = regexp.MustCompile(foldCase + p.text) })
	return p.re
}

// foldCase makes every pattern blind to case: tools change it freely between
// versions.
const foldCase = "(?i)"

// Table is a set of rules, in layers: the rules of an earlier layer come
// before those of a later one, whatever their strength. The zero Table knows no
// failure.
type Table struct {
	rules []*Rule
	tops  []int // where each layer but the first begins

	// One run judges one command: the filter for its rules is kept.
	mu       sync.Mutex
	commands []string
	filter   *filter
}

//go:embed rules/*.rules
var builtInFiles embed.FS

// literalsFile holds the required literals of each built-in pattern, divided by
// tabs, a line each in the patterns' order: finding them takes longer than all of the
// judging. A test proves the file current and writes it anew when asked to
// (go test ./engine/classify -run TestLiteralsAreCurrent -update).
//
//go:embed literals.tsv
var literalsFile string

// builtIn reads the built-in rules and shapes. A test proves the files valid, so that
// a run need not compile each pattern.
var builtIn = sync.OnceValues(readBuiltIn)

func readBuiltIn() (*Table, []*shape) {
	t, literals := &Table{}, literalsFile
	files, _ := builtInFiles.ReadDir("rules")
	for _, f := range files {
		data, _ := builtInFiles.ReadFile("rules/" + f.Name())
		if p, err := parseRules("built-in/"+f.Name(), string(data), &literals); err == nil {
			t.rules = append(t.rules, p.rules...)
		}
	}
	shapes, _ := parseShapes(kindsFile, &literals)
	return t, shapes
}

// BuiltIn returns the built-in table. Nothing of it is read before the first
// call.
func BuiltIn() *Table {
	t, _ := builtIn()
	return t
}

// filterFor returns the filter for the rules that are about the commands.
func (t *Table) filterFor(names []string) *filter {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.filter == nil || !slices.Equal(t.commands, names) {
		t.commands, t.filter = names, newFilter(t.rules, names)
	}
	return t.filter
}

// Rules returns the rules in their order.
func (t *Table) Rules() []*Rule { return t.rules }

// layer returns the layer of the rule with the index.
func (t *Table) layer(index int) int {
	n := 0
	for n < len(t.tops) && t.tops[n] <= index {
		n++
	}
	return n
}

// Over returns a table in which the rules of t come before those of base.
func (t *Table) Over(base *Table) *Table {
	tops := append(slices.Clone(t.tops), len(t.rules))
	for _, top := range base.tops {
		tops = append(tops, len(t.rules)+top)
	}
	return &Table{rules: slices.Concat(t.rules, base.rules), tops: tops}
}

// isAbout says whether the rule is about one of the commands.
func (r *Rule) isAbout(names []string) bool {
	return len(r.Tools) == 0 || slices.ContainsFunc(names, func(name string) bool { return slices.Contains(r.Tools, name) })
}

// applies says whether the rule is about these commands (as command.Chain gives
// them) and this result. An exit code is the last command's; what is written may be
// any of theirs.
func (r *Rule) applies(names []string, res attempt.Result) bool {
	if len(r.patterns) == 0 {
		names = names[max(0, len(names)-1):]
	}
	return r.isAbout(names) && (len(r.Exits) == 0 || slices.ContainsFunc(r.Exits, func(e exit) bool { return e.evidence(res) }))
}
