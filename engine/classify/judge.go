package classify

// This file judges a failure. All rules for the command and its result are applied to the
// exit code and to each line of the output. Of those that match, weigh says which decides.
// If none matches, the failure is unknown.
//
// The kind of a line changes the strength of its evidence (lines.go).

import (
	"cmp"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/classify/command"
	"github.com/retrysh/retry/engine/event"
)

// Failure is a failed attempt and the end of what it wrote.
type Failure struct {
	Argv   []string
	Result attempt.Result
	// Stdout and Stderr are the tails of the streams, usually up to 64 KiB; nil if not
	// captured.
	Stdout, Stderr []byte
	// Order is how much of each stream came when, up to the end of both. Without it, and of
	// what came before it, standard output is the first.
	Order []Arrival
}

// Arrival is how many bytes of each stream came at about the same time.
type Arrival struct{ Stdout, Stderr int }

func (f *Failure) hasOutput() bool { return len(f.Stdout)+len(f.Stderr) > 0 }

// lastLine is the last line of standard error that is not blank, or else of standard output.
func (f *Failure) lastLine() Match {
	out := newOutput(f.Stdout, f.Stderr, f.Order)
	start := strings.LastIndexByte(strings.TrimRight(out.text, " \t\n"), '\n') + 1
	_, end := out.line(start)
	return Match{Stream: out.stream(start), Line: strings.TrimSpace(out.text[start:end])}
}

// Judgement says what is known of a failure.
type Judgement struct {
	Verdict event.Verdict
	// Rule is the ID of the rule that decided, "" for none, and Reason its words.
	Rule, Reason string
	// CodeOnly says that the rule needed no output.
	CodeOnly bool
	// Matches are the rules that matched. The first one decided.
	Matches []Match
	// Won says what the deciding rule had over one with another verdict, or that its
	// evidence is weak; "" if it was the only one, and not weak.
	Won string
	// Last is the last line of the output, if no rule knows the failure.
	Last Match
}

// Match is a rule that matched a failure.
type Match struct {
	Rule *Rule
	// Stream is "stdout" or "stderr", and Line the last line there that matches, a part of
	// it above 2 KiB. Both are "" if the rule needed no output.
	Stream, Line string
}

// finding is a rule that matched, and where.
type finding struct {
	Match
	layer, index int
	at           int      // where the line starts, -1 for the exit code alone
	end          int      // where the last match ends in Line
	strength     Strength // of the rule, less one step on a discounted line
	yielded      bool     // a decisive finding overrides this one, or the verdict of Yields follows on its line
	beaten       bool     // a finding on the same line, at least as strong, overrides this one
	colonsBefore int      // colons before the evidence, on a line with different verdicts
}

// The limits of matching, from the last line on: of the lines that one pattern is tried
// on, and of the bytes for all patterns. Without them an output of the rules' own words
// would take a second.
const (
	maxTries   = 16
	maxMatched = 24 << 10
)

// Judge judges a failure.
func (t *Table) Judge(f Failure) Judgement {
	if f.Result.TimedOut {
		return Judgement{
			Verdict: event.Transient, Rule: "attempt-timeout", Reason: "the attempt ran into its time limit",
			CodeOnly: true,
		}
	}
	if !f.hasOutput() {
		return t.judgeExit(f)
	}
	j := judgement(t.search(f))
	if j.Rule == "" {
		j.Last = f.lastLine()
	}
	return j
}

// lastExit is the judgement of a failure without output.
type lastExit struct {
	argv      []string
	exitCode  int
	signal    attempt.Signal
	judgement Judgement
}

// judgeExit judges a failure without output: once, if one like it follows.
func (t *Table) judgeExit(f Failure) Judgement {
	t.mu.Lock()
	defer t.mu.Unlock()
	last := &t.last
	isLast := last.argv != nil && last.exitCode == f.Result.ExitCode && last.signal == f.Result.Signal &&
		slices.Equal(last.argv, f.Argv)
	if !isLast {
		*last = lastExit{slices.Clone(f.Argv), f.Result.ExitCode, f.Result.Signal, judgement(t.search(f))}
	}
	return last.judgement
}

// judgement is that of the rules that were found, the first of which decides.
func judgement(found []finding) Judgement {
	if len(found) == 0 {
		return Judgement{Verdict: event.Unknown, Reason: "no rule knows this failure"}
	}
	best := found[0]
	j := Judgement{
		Verdict: best.Rule.Verdict, Rule: best.Rule.ID, Reason: best.Rule.Reason,
		CodeOnly: best.at < 0, Won: won(found),
	}
	for _, f := range found {
		j.Matches = append(j.Matches, f.Match)
	}
	return j
}

// search returns the rules that match, each with its last line, in the order of weigh.
func (t *Table) search(f Failure) []finding {
	s := newSearching(t, f)
	if f.hasOutput() {
		s.lines(f)
	}
	found := slices.Collect(maps.Values(s.found))
	settle(found)
	slices.SortFunc(found, weigh)
	return found
}

// searching is the state of one search over an output.
type searching struct {
	rules  []*Rule
	ends   []int // of the layers in rules
	filter *filter
	wanted []bool // the rules that are still looked for
	out    *output
	found  map[int]finding // by rule
	// tries counts, by the candidate's number, the lines that a pattern was tried on; last
	// is the end of the last of them.
	tries, last []int
	budget      int // bytes that may still be matched
}

// newSearching begins a search with the rules that need no output.
func newSearching(t *Table, f Failure) *searching {
	names, args, script := command.Parts(f.Argv)
	s := &searching{budget: maxMatched, found: map[int]finding{}}
	if f.hasOutput() {
		t.read()
		s.rules = t.all
		if script {
			s.rules = t.script
		}
		s.ends = t.ends
		s.filter = t.filter
	} else {
		s.rules, s.ends = t.exits(names)
	}
	s.wanted = make([]bool, len(s.rules))
	for i, r := range s.rules {
		applies := r.applies(names, args, f.Result)
		s.wanted[i] = applies && len(r.patterns) > 0
		if applies && !s.wanted[i] {
			found := finding{Match: Match{Rule: r}, layer: s.layer(i), index: i, at: -1, strength: r.Strength}
			if r.Strength == Weak {
				found.strength = weakExit // a code has many meanings, so any line has precedence
			}
			s.found[i] = found
		}
	}
	return s
}

// layer returns the layer of the rule with the index.
func (s *searching) layer(index int) int { return sort.SearchInts(s.ends, index+1) }

// lines searches the output.
func (s *searching) lines(f Failure) {
	s.out = newOutput(f.Stdout, f.Stderr, f.Order)
	s.tries, s.last = make([]int, s.filter.patterns), make([]int, s.filter.patterns)
	s.filter.walk(s.out.lower, s.wanted, s.try)
	for _, c := range s.filter.unindexed {
		for end := len(s.out.text); end > 0 && s.wanted[c.rule] && s.tries[c.number] < maxTries && s.budget > 0; {
			start, _ := s.out.around(end)
			if start < end {
				s.try(c, start)
			}
			end = start - 1
		}
	}
}

// settle marks the findings that yield to another one, as one of "deploy.sh:12: error:" to
// "connection refused" behind it, and counts the colons in lines with evidence for different
// verdicts.
func settle(found []finding) {
	for i := range found {
		f := &found[i]
		for _, g := range found {
			names := slices.Contains(g.Rule.Over, f.Rule.ID)
			sameLine := g.at == f.at
			if sameLine && g.Rule.Verdict != f.Rule.Verdict {
				f.colonsBefore = strings.Count(f.Line[:f.end], ": ")
			}
			if names && sameLine && g.strength >= f.strength {
				f.beaten = true
			}
			// A decisive rule overrides those that it names on any line, others only on their own.
			overridden := names && g.strength == Decisive
			// A rule with Yields knows how an error begins; why it came stands behind that.
			followed := sameLine && g.end > f.end && g.Rule.Verdict == f.Rule.Yields
			if overridden || followed {
				f.yielded = true
			}
		}
	}
}

// try tries a pattern on the line around position at. It returns false if the budget is
// spent.
func (s *searching) try(c candidate, at int) bool {
	r := s.rules[c.rule]
	visible := s.out.text
	if r.general() {
		if visible = s.out.masked; visible[at] != s.out.text[at] {
			return true // the literal stands in an address
		}
	}
	start, end := s.out.around(at)
	if r.builtIn {
		start = s.out.stamps.behind(start)
	}
	if s.last[c.number] == end || s.tries[c.number] >= maxTries {
		return true
	}
	s.last[c.number] = end
	if end-start >= maxLine/2 && s.out.kind(start, end) == contentLine {
		return true // a line of minified source would use up the budget
	}
	s.tries[c.number]++
	if r.Stream != "" && r.Stream != s.out.stream(at) || !containsOne(s.out.lower[start:end], c.pattern.also) {
		return true
	}
	s.budget -= end - start + 1
	line, lower := visible[start:end], s.out.lower[start:end]
	for _, at := range slices.Backward(c.pattern.compiled().FindAllStringIndex(line, -1)) {
		if !r.excepts(line, lower, at[0], at[1]) {
			s.match(c.rule, start, end, at[1])
			break
		}
	}
	return s.budget > 0
}

// match records that a rule matches the line from start to end.
func (s *searching) match(rule, start, end, last int) {
	r := s.rules[rule]
	kind := s.out.kind(start, end)
	strength, ok := r.weighs(kind)
	if !ok {
		return
	}
	whole, _ := s.out.line(start)
	f := finding{
		Match: Match{Rule: r, Stream: s.out.stream(start), Line: s.out.text[start:end]},
		layer: s.layer(rule), index: rule, at: whole, end: last, strength: strength,
	}
	if kind == warningLine && r.general() {
		if _, ok := s.found[rule]; !ok {
			s.found[rule] = f // until another kind of line matches
		}
		return
	}
	s.wanted[rule] = false // later lines come first, so this is the rule's last
	s.found[rule] = f
}

// excepts reports whether an unless pattern of the rule matches the line, of a built-in rule in
// the clause that has the match from first to last, or from another clause into that one: what
// stands behind a semicolon or a full stop is mostly about something else.
func (r *Rule) excepts(line, lower string, first, last int) bool {
	return slices.ContainsFunc(r.unless, func(p *pattern) bool {
		if !p.mayMatch(lower) {
			return false
		}
		from, to := 0, len(line)
		if r.builtIn {
			from, to = clause(line, first, last)
		}
		return slices.ContainsFunc(p.compiled().FindAllStringIndex(line, -1), func(at []int) bool {
			return at[0] < to && from < at[1]
		})
	})
}

// clauseEnds end a clause.
var clauseEnds = []string{"; ", ". ", "! ", "? "}

// clause returns where the clause begins and ends that has the text from first to last.
func clause(line string, first, last int) (from, to int) {
	to = len(line)
	for _, end := range clauseEnds {
		if i := strings.LastIndex(line[:first], end); i >= 0 {
			from = max(from, i+len(end))
		}
		if i := strings.Index(line[last:], end); i >= 0 {
			to = min(to, last+i+1)
		}
	}
	return from, to
}

// criteria are what findings are compared by: the first that tells two apart decides. Each
// is negative if a counts more, and says in words why.
var criteria = []struct {
	compare func(a, b *finding) int
	says    func(a, b *finding) string
}{
	{
		func(a, b *finding) int { return falseFirst(a.yielded, b.yielded) },
		func(a, _ *finding) string {
			return "it is overruled by what stands behind it on its line, or by a decisive rule"
		},
	},
	{ // a user's rules are layered over the built-in ones
		func(a, b *finding) int { return cmp.Compare(a.layer, b.layer) },
		func(_, _ *finding) string { return "a rule of your own comes before a built-in one" },
	},
	{
		func(a, b *finding) int { return cmp.Compare(b.strength, a.strength) },
		func(a, b *finding) string {
			return a.strength.String() + " evidence comes before " + b.strength.String()
		},
	},
	{ // a wasted attempt costs less than to give up what would have worked
		func(a, b *finding) int {
			if a.strength > Weak {
				return 0
			}
			return cmp.Compare(slices.Index(byCost, a.Rule.Verdict), slices.Index(byCost, b.Rule.Verdict))
		},
		func(a, b *finding) string {
			return "of weak evidence " + string(a.Rule.Verdict) + " comes before " + string(b.Rule.Verdict)
		},
	},
	{
		func(a, b *finding) int { return falseFirst(len(a.Rule.Tools) == 0, len(b.Rule.Tools) == 0) },
		func(_, _ *finding) string { return "a rule for the command comes before one for any command" },
	},
	{ // the last output of a tool is nearer to the cause; the exit code is before every line
		func(a, b *finding) int { return cmp.Compare(b.at, a.at) },
		func(_, b *finding) string {
			if b.at < 0 {
				return "the output comes before the exit code"
			}
			return "the later line comes first"
		},
	},
	{
		func(a, b *finding) int { return falseFirst(a.beaten, b.beaten) },
		func(_, _ *finding) string { return "on one line the more exact rule comes first" },
	},
	{ // Go and Rust write an error as "what was done: why it failed"
		func(a, b *finding) int { return cmp.Compare(b.colonsBefore, a.colonsBefore) },
		func(_, _ *finding) string { return "what stands behind more colons comes first" },
	},
	{ // a test checks that this never decides between two verdicts on the rules' examples
		func(a, b *finding) int { return cmp.Compare(a.index, b.index) },
		func(_, _ *finding) string { return "it comes first in the files of rules" },
	},
}

// weigh compares findings. The least one decides.
func weigh(a, b finding) int {
	for _, c := range criteria {
		if n := c.compare(&a, &b); n != 0 {
			return n
		}
	}
	return 0
}

// won says why the first finding decides: what it has over the first one with another
// verdict, or that it is weak and alone. It is "" if there is nothing to say.
func won(found []finding) string {
	best := &found[0]
	for i := range found[1:] {
		other := &found[i+1]
		if other.Rule.Verdict == best.Rule.Verdict {
			continue
		}
		for _, c := range criteria {
			if c.compare(best, other) != 0 {
				return "over " + other.Rule.ID + " (" + string(other.Rule.Verdict) + "): " + c.says(best, other)
			}
		}
	}
	if best.strength <= Weak {
		return "by weak evidence alone: the same words have several causes"
	}
	return ""
}

// byCost are the verdicts by the cost of a mistake.
var byCost = []event.Verdict{event.Transient, event.Unknown, event.Permanent}

// falseFirst compares for an order in which false comes before true.
func falseFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
