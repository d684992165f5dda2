package classify

// This file weighs the evidence.
//
// All rules that are about the command and its result are held against the
// exit code and against each line of the output. Of those that match, one
// decides, by the first of these criteria that differs:
//
//  1. A table layered over another one (a user's rules) comes first.
//  2. Decisive evidence before plain, plain before weak, and the weak evidence
//     of an exit code alone last.
//  3. Among weak evidence transient before unknown before permanent, since a
//     wasted attempt costs less than giving up on something that would have worked.
//  4. A rule for the command before a rule for any command.
//  5. The later line before the earlier: what a tool says last is nearer to
//     why it failed. Standard error counts as later than standard output, and
//     the exit code alone as earlier than every line.
//  6. On one line, a rule that no other one there names after "over" (a decisive
//     rule beats those that it names on every line), and then the evidence that
//     stands behind more colons: Go and Rust wrap an error as "what was done: why
//     it failed", so the cause is the innermost.
//  7. The order of the rules in their files. A test proves that this alone never
//     decides between two verdicts on the rules' examples.
//
// The kind of a line changes what it is worth (lines.go). A rule that yields to a
// verdict comes last of all where a rule of that verdict matches the same line
// further on, as in "deploy.sh:12: error: connection refused". A lock that the output says to be old is permanent (age.go).
//
// A failure on which no rule matches is unknown.

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/classify/command"
	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/text"
)

// Failure is a failed attempt and the end of what it wrote.
type Failure struct {
	Argv   []string
	Result attempt.Result
	// Stdout and Stderr are the tails of the streams, as they were written;
	// nil where nothing was captured. Up to 64 KiB each is meant; more works
	// and takes longer.
	Stdout, Stderr []byte
	// Now is the time against which times in the output are read; the zero value
	// leaves them unread.
	Now time.Time
}

// Judgement says what is known of a failure.
type Judgement struct {
	Verdict event.Verdict
	// Rule is the ID of the rule that decided, "" if none did, and Reason its
	// words.
	Rule, Reason string
	// CodeOnly is set where the command's name and its exit code or signal
	// were enough: the output was not needed.
	CodeOnly bool
	// Matches are the rules that matched, the weightiest first: the first one
	// decided.
	Matches []Match
}

// Match is a rule that matched a failure.
type Match struct {
	Rule *Rule
	// Stream is "stdout" or "stderr", and Line what the rule matched there, the
	// last of several; both are "" where the exit code or signal was enough.
	// Of a line longer than 2 KiB it is a piece.
	Stream, Line string
}

// finding is a rule that matched, and where.
type finding struct {
	Match
	layer, index int
	at           int // where the line starts, -1 for the exit code alone
	// strength is the rule's, less one step where the line is discounted.
	strength Strength
	// yielded is set where other evidence replaces this one.
	yielded bool
	// beaten is set where a rule that matches the same line names this one after "over".
	beaten bool
	// link is how many colons stand before the evidence, on a line with evidence for
	// different verdicts.
	link int
}

// The bounds of matching, the last lines first: how many candidate lines one
// pattern is tried on, and how many bytes all patterns are tried on together.
// Without them an output made of the rules' own words would take a second.
const (
	maxTries   = 16
	maxMatched = 24 << 10
)

// Judge says whether the failure is worth a retry.
func (t *Table) Judge(f Failure) Judgement {
	if f.Result.TimedOut {
		return Judgement{Verdict: event.Transient, Rule: "attempt-timeout", Reason: "the attempt ran into its time limit", CodeOnly: true}
	}
	found := t.search(f)
	if len(found) == 0 {
		return Judgement{Verdict: event.Unknown, Reason: "no rule knows this failure"}
	}
	best := found[0]
	j := Judgement{Verdict: best.Rule.Verdict, Rule: best.Rule.ID, Reason: best.Rule.Reason, CodeOnly: best.at < 0}
	for _, f := range found {
		j.Matches = append(j.Matches, f.Match)
	}
	return j
}

// search returns every rule that matches, each with its last line, the weightiest first.
func (t *Table) search(f Failure) []finding {
	s := newSearching(t, f)
	if len(f.Stdout)+len(f.Stderr) > 0 {
		s.lines()
	}
	slices.SortFunc(s.found, weigh)
	return s.found
}

// searching is the state of one search over an output.
type searching struct {
	table  *Table
	names  []string
	wanted []bool // the rules that are still looked for
	out    *output
	now    time.Time
	found  []finding
	// tries counts the lines that a pattern was tried on; last is where the
	// last of them ended. Both are by the candidate's number.
	tries, last []int
	// budget is how many bytes may still be matched.
	budget int
	// discounted are what matched on a discounted line only, by rule.
	discounted map[int]finding
}

// newSearching begins a search with the rules to which the exit code is enough.
func newSearching(t *Table, f Failure) *searching {
	names := command.Chain(f.Argv)
	s := &searching{
		table: t, names: names, wanted: make([]bool, len(t.rules)), out: newOutput(f.Stdout, f.Stderr), now: f.Now,
		budget: maxMatched, discounted: map[int]finding{},
	}
	for i, r := range t.rules {
		applies := r.applies(names, f.Result)
		s.wanted[i] = applies && len(r.patterns) > 0
		if applies && !s.wanted[i] {
			found := finding{Match: Match{Rule: r}, layer: t.layer(i), index: i, at: -1, strength: r.Strength}
			if r.Strength == Weak {
				found.strength-- // any line says more than a number that means many things
			}
			s.found = append(s.found, found)
		}
	}
	return s
}

// lines searches the output.
func (s *searching) lines() {
	index := s.table.filterFor(s.names)
	s.tries, s.last = make([]int, index.patterns), make([]int, index.patterns)
	index.walk(s.out.lower, s.wanted, s.try)
	for _, c := range index.loose {
		s.tryLines(c)
	}
	for i, f := range s.discounted {
		if s.wanted[i] {
			s.found = append(s.found, f)
		}
	}
	settle(s.found)
}

// settle marks the findings that yield to another one, and counts the links of
// lines with evidence for different verdicts.
func settle(found []finding) {
	for i := range found {
		f := &found[i]
		any := func(is func(g finding) bool) bool { return slices.ContainsFunc(found, is) }
		names := func(g finding) bool { return slices.Contains(g.Rule.Over, f.Rule.ID) }
		if any(func(g finding) bool { return g.at == f.at && g.Rule.Verdict != f.Rule.Verdict }) {
			f.link = strings.Count(f.Line[:f.matchEnd()], ": ")
		}
		f.beaten = any(func(g finding) bool { return g.at == f.at && g.strength >= f.strength && names(g) })
		f.yielded = any(func(g finding) bool { return g.strength == Decisive && names(g) })
		if f.Rule.Yields != "" && !f.yielded {
			end := f.matchEnd()
			f.yielded = any(func(g finding) bool { return g.at == f.at && g.Rule.Verdict == f.Rule.Yields && g.matchEnd() > end })
		}
	}
}

// matchEnd is where the last match of the rule's patterns on its line ends.
func (m *Match) matchEnd() int {
	line := m.Line
	if m.Rule.general() {
		line = masked(line)
	}
	end, lower := 0, text.Lower(line)
	for _, p := range m.Rule.patterns {
		if p.mayMatch(lower) {
			for _, at := range p.compiled().FindAllStringIndex(line, -1) {
				end = max(end, at[1])
			}
		}
	}
	return end
}

// try holds a pattern against the line around position at. It returns false
// once the budget is spent.
func (s *searching) try(c candidate, at int) bool {
	r, visible := s.table.rules[c.rule], s.out.text
	if r.general() {
		if visible = s.out.masked; visible[at] != s.out.text[at] {
			return true // the literal stands in an address
		}
	}
	start, end := s.out.around(at)
	if s.last[c.number] == end || s.tries[c.number] >= maxTries {
		return true
	}
	s.last[c.number] = end
	if end-start >= maxLine/2 && s.out.kind(start, end) == contentLine {
		return true // a line of minified source would use up the budget
	}
	s.tries[c.number]++
	if r.Stream != "" && r.Stream != s.out.stream(at) {
		return true
	}
	s.budget -= end - start + 1
	line := visible[start:end]
	if c.pattern.compiled().MatchString(line) && !r.excepts(line, s.out.lower[start:end]) {
		s.match(c.rule, start, end)
	}
	return s.budget > 0
}

// match records that a rule matches the line from start to end.
func (s *searching) match(rule, start, end int) {
	r, kind := s.table.rules[rule], s.out.kind(start, end)
	strength, ok := r.weighs(kind)
	if !ok {
		return
	}
	whole, _ := s.out.line(start)
	f := finding{
		Match: Match{Rule: r, Stream: s.out.stream(start), Line: s.out.text[start:end]},
		layer: s.table.layer(rule), index: rule, at: whole, strength: strength,
	}
	if kind == warningLine && r.general() {
		if _, ok := s.discounted[rule]; !ok {
			s.discounted[rule] = f
		}
		return
	}
	if r.Stale > 0 {
		f.settleAge(s.out.held(start, end, s.now))
	}
	s.wanted[rule] = false // later lines come first, so this is the rule's last
	s.found = append(s.found, f)
}

// settleAge makes a finding decisive where the output says for how long a lock is held,
// and permanent where that is too long.
func (f *finding) settleAge(age time.Duration, known bool) {
	if !known {
		return
	}
	f.strength = Decisive
	if age > f.Rule.Stale {
		old := *f.Rule
		old.Verdict, old.Strength = event.Permanent, Decisive
		old.Reason += "; it is held for more than " + age.Round(time.Minute).String() + ", so its holder is probably gone and the lock has to be removed by hand"
		f.Rule = &old
	}
}

// tryLines holds a pattern without literals against the last lines.
func (s *searching) tryLines(c candidate) {
	for end := len(s.out.text); end > 0 && s.wanted[c.rule] && s.tries[c.number] < maxTries && s.budget > 0; {
		start, _ := s.out.around(end)
		if start < end {
			s.try(c, start)
		}
		end = start - 1
	}
}

// excepts says whether one of the rule's unless patterns matches the line, which
// is given in lower case, too.
func (r *Rule) excepts(line, lower string) bool {
	return slices.ContainsFunc(r.unless, func(p *pattern) bool { return p.mayMatch(lower) && p.compiled().MatchString(line) })
}

// weigh sorts the finding that counts for more to the front. See the order at
// the top of this file.
func weigh(a, b finding) int {
	return cmp.Or(
		number(a.yielded)-number(b.yielded),
		a.layer-b.layer,
		int(b.strength-a.strength),
		a.price()-b.price(),
		number(len(b.Rule.Tools) > 0)-number(len(a.Rule.Tools) > 0),
		b.at-a.at,
		number(a.beaten)-number(b.beaten),
		b.link-a.link,
		a.index-b.index,
	)
}

// price is the place of weak evidence in the order of what a mistake costs, 0 for other
// evidence.
func (f *finding) price() int {
	if f.strength > Weak {
		return 0
	}
	return slices.Index([]event.Verdict{event.Transient, event.Unknown, event.Permanent}, f.Rule.Verdict)
}

func number(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
