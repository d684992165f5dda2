package classify

// This file holds the rule table: what a rule is and how tables are layered.
// The file format is read in rules_parse.go; the built-in data is rules/*.rules.

import (
	_ "embed"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/exitcodes"
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

// Rule is one entry of the table.
type Rule struct {
	// ID is the rule's name in events and in --explain, unique in a table.
	ID string
	// Tools are the commands that the rule is about, as Command names them;
	// empty is any command.
	Tools []string
	// Exits are the results that the rule is about; empty is any failure.
	Exits []ExitRange
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

	patterns []*pattern
	unless   []*pattern
	builtIn  bool
	file     string
	line     int
}

// general reports whether the rule is a built-in one about any command: it does
// not see what stands in addresses and paths.
func (r *Rule) general() bool { return r.builtIn && len(r.Tools) == 0 }

// Where is the file and line at which the rule stands, as FILE:LINE; the
// built-in table's files are in "built-in/".
func (r *Rule) Where() string { return r.file + ":" + strconv.Itoa(r.line) }

// String is the strength as a rule file has it.
func (s Strength) String() string {
	switch {
	case s < Plain:
		return "weak"
	case s > Plain:
		return "decisive"
	}
	return "plain"
}

// ExitRange is a range of exit codes, both ends included, or one signal.
type ExitRange struct {
	First, Last int
	Signal      attempt.Signal
}

// pattern is a regular expression that is compiled when its literals were
// seen for the first time.
type pattern struct {
	text    string
	lineNum int
	once    sync.Once
	re      *regexp.Regexp
	// found are the literals that requiredLiterals finds, divided by tabs,
	// once known is set.
	found string
	known bool
}

// required returns the literals of which every match contains one, or nil.
func (p *pattern) required() []string {
	if !p.known {
		return requiredLiterals(p.text)
	}
	if p.found == "" {
		return nil
	}
	return strings.Split(p.found, "\t")
}

// mayMatch says whether the line, in lower case, has one of the literals that the
// pattern needs. Where it has none, the pattern need not be compiled.
func (p *pattern) mayMatch(lower string) bool {
	literals := p.required()
	return literals == nil || holds(lower, literals...)
}

// compiled returns the expression, which ParseRules (or, for the built-in
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
	layer []int // of the rule with the same index

	// One run judges one command: the filter for its rules is kept.
	mu       sync.Mutex
	commands []string
	filter   *filter
}

// The built-in files, as strings: embed.FS would hand out copies.
var (
	//go:embed rules/general-http.rules
	generalHTTP string
	//go:embed rules/general-local.rules
	generalLocal string
	//go:embed rules/general-network.rules
	generalNetwork string
	//go:embed rules/general-protocols.rules
	generalProtocols string
	//go:embed rules/general-tests.rules
	generalTests string
	//go:embed rules/tools-cloud.rules
	toolsCloud string
	//go:embed rules/tools-packages.rules
	toolsPackages string
	//go:embed rules/tools-servers.rules
	toolsServers string
	//go:embed rules/tools-system.rules
	toolsSystem string
	//go:embed rules/tools-transfer.rules
	toolsTransfer string
	//go:embed rules/tools-vcs.rules
	toolsVCS string
)

// builtInFiles are those files in their order, by name. A test proves that none
// is missing.
var builtInFiles = []struct {
	name string
	text *string
}{
	{"general-http.rules", &generalHTTP},
	{"general-local.rules", &generalLocal},
	{"general-network.rules", &generalNetwork},
	{"general-protocols.rules", &generalProtocols},
	{"general-tests.rules", &generalTests},
	{"tools-cloud.rules", &toolsCloud},
	{"tools-packages.rules", &toolsPackages},
	{"tools-servers.rules", &toolsServers},
	{"tools-system.rules", &toolsSystem},
	{"tools-transfer.rules", &toolsTransfer},
	{"tools-vcs.rules", &toolsVCS},
}

// literalsFile holds the required literals of each built-in pattern, divided by
// tabs, a line each in the patterns' order, a rule's "unless" after its "match":
// finding them takes longer than all of the judging. A test proves the file
// current and writes it anew when asked to (go test ./engine/classify -run TestLiteralsAreCurrent -update).
//
//go:embed literals.tsv
var literalsFile string

// BuiltIn returns the built-in table. Nothing of it is read before the first
// call.
var BuiltIn = sync.OnceValue(readBuiltIn)

func readBuiltIn() *Table {
	var rules []*Rule
	for _, f := range builtInFiles {
		// The files are proved valid by a test, so that a run need not compile
		// each pattern to check it.
		if p, err := parseRules("built-in/"+f.name, *f.text, false); err == nil {
			rules = append(rules, p.rules...)
		}
	}
	for _, r := range rules {
		r.builtIn = true
	}
	knowLiterals(rules, literalsFile)
	return newTable(rules, make([]int, len(rules)))
}

// knowLiterals gives each pattern the literals that the file holds for it.
func knowLiterals(rules []*Rule, file string) {
	for _, p := range allPatterns(rules, shapes()) {
		p.found, file, p.known = strings.Cut(file, "\n")
	}
}

// allPatterns returns the patterns in the order of the literals' file.
func allPatterns(rules []*Rule, shapes []*shape) (all []*pattern) {
	for _, r := range rules {
		all = append(append(all, r.patterns...), r.unless...)
	}
	for _, s := range shapes {
		all = append(all, s.patterns()...)
	}
	return all
}

func newTable(rules []*Rule, layer []int) *Table {
	return &Table{rules: rules, layer: layer}
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

// Over returns a table in which the rules of t come before those of base.
func (t *Table) Over(base *Table) *Table {
	top := 0
	for _, l := range t.layer {
		top = max(top, l+1)
	}
	rules := append(append([]*Rule(nil), t.rules...), base.rules...)
	layer := append([]int(nil), t.layer...)
	for _, l := range base.layer {
		layer = append(layer, l+top)
	}
	return newTable(rules, layer)
}

// isAbout says whether the rule is about one of the commands.
func (r *Rule) isAbout(names []string) bool {
	return len(r.Tools) == 0 || slices.ContainsFunc(names, func(name string) bool { return slices.Contains(r.Tools, name) })
}

// applies says whether the rule is about these commands (as command.Chain gives
// them)
// and this result. An exit code is the last command's; what is written may be
// any of theirs.
func (r *Rule) applies(names []string, res attempt.Result) bool {
	if len(r.patterns) == 0 {
		names = names[max(0, len(names)-1):]
	}
	if !r.isAbout(names) {
		return false
	}
	if len(r.Exits) == 0 {
		return true
	}
	for _, e := range r.Exits {
		if e.holds(res) {
			return true
		}
	}
	return false
}

func (e ExitRange) holds(res attempt.Result) bool {
	if e.Signal != "" {
		code := shellCode(e.Signal)
		return res.Signal == e.Signal || res.Signal == "" && code != 0 && code == res.ExitCode
	}
	return res.Signal == "" && e.First <= res.ExitCode && res.ExitCode <= e.Last
}

// String is the range as a rule file has it.
func (e ExitRange) String() string {
	switch {
	case e.Signal != "":
		return string(e.Signal)
	case e.First == e.Last:
		return strconv.Itoa(e.First)
	}
	return strconv.Itoa(e.First) + "-" + strconv.Itoa(e.Last)
}

// shellCode is 128+n, by which a shell shows that signal n ended a command of
// its own; 0 for signals whose number is not portable.
func shellCode(s attempt.Signal) int {
	n, portable := exitcodes.SignalNumber(string(s))
	if !portable {
		return 0
	}
	return exitcodes.OfSignal(n)
}
