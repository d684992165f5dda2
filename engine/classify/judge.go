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
	"slices"
	"strings"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/classify/command"
	"github.com/retrysh/retry/engine/event"
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

// finding is one rule that matched, and where.
type finding struct {
	rule  *Rule
	layer int
	index int
	line  int // where the line starts, -1 for the exit code alone
	match Match
	// strength is the rule's, less one step where the line is discounted.
	strength Strength
	// yielded is set where other evidence replaces this one.
	yielded bool
	// beaten is set where a rule that matches the same line names this one after "over".
	beaten bool
	// link is how many colons stand before the evidence, on a line that speaks for
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
	out := newOutput(f.Stdout, f.Stderr)
	found := t.byRules(f, out)
	if len(found) == 0 {
		return Judgement{Verdict: event.Unknown, Reason: "no rule knows this failure"}
	}
	best := found[0]
	j := Judgement{Verdict: best.rule.Verdict, Rule: best.rule.ID, Reason: best.rule.Reason, CodeOnly: best.line < 0}
	for _, f := range found {
		j.Matches = append(j.Matches, f.match)
	}
	return j
}

// byRules returns every rule that matches, the weightiest first.
func (t *Table) byRules(f Failure, out *output) []finding {
	names, _ := command.Chain(f.Argv)
	found := t.search(names, f, out)
	slices.SortFunc(found, weigh)
	return found
}

// search returns every rule that matches, each with its last line.
func (t *Table) search(names []string, f Failure, out *output) []finding {
	var found []finding
	about := make([]bool, len(t.rules))
	for i, r := range t.rules {
		about[i] = r.applies(names, f.Result)
		if about[i] && len(r.patterns) == 0 {
			f := finding{rule: r, layer: t.layer[i], index: i, line: -1, match: Match{Rule: r}, strength: r.Strength}
			if r.Strength == Weak {
				f.strength-- // any line says more than a number that means many things
			}
			found = append(found, f)
			about[i] = false
		}
	}
	if len(f.Stdout)+len(f.Stderr) == 0 {
		return found
	}
	index := t.filterFor(names)
	s := searching{
		table: t, about: about, found: found, out: out, budget: maxMatched,
		now: f.Now, tries: make([]int, index.patterns), last: make([]int, index.patterns), discounted: map[int]finding{},
	}
	index.walk(s.out.lower, about, s.try)
	for _, c := range index.loose {
		s.tryLines(c)
	}
	for i, f := range s.discounted {
		if s.about[i] {
			s.found = append(s.found, f)
		}
	}
	settle(s.found)
	return s.found
}

// settle marks the findings that yield to another one, and counts the links of
// lines that speak for different verdicts.
func settle(found []finding) {
	for i := range found {
		f := &found[i]
		if slices.ContainsFunc(found, func(g finding) bool { return g.line == f.line && g.rule.Verdict != f.rule.Verdict }) {
			f.link = strings.Count(f.match.Line[:f.rule.matchEnd(f.match.Line)], ": ")
		}
		f.beaten = slices.ContainsFunc(found, func(g finding) bool {
			return g.line == f.line && g.strength >= f.strength && slices.Contains(g.rule.Over, f.rule.ID)
		})
		f.yielded = slices.ContainsFunc(found, func(g finding) bool {
			return g.strength == Decisive && slices.Contains(g.rule.Over, f.rule.ID)
		})
		if f.rule.Yields == "" || f.yielded {
			continue
		}
		end := f.rule.matchEnd(f.match.Line)
		f.yielded = slices.ContainsFunc(found, func(g finding) bool {
			return g.line == f.line && g.rule.Verdict == f.rule.Yields && g.rule.matchEnd(g.match.Line) > end
		})
	}
}

// matchEnd is where the last match of the rule's patterns on the line ends.
func (r *Rule) matchEnd(line string) int {
	if r.general() {
		line = masked(line)
	}
	end, lower := 0, lowerASCII(line)
	for _, p := range r.patterns {
		if !p.mayMatch(lower) {
			continue
		}
		for _, loc := range p.compiled().FindAllStringIndex(line, -1) {
			end = max(end, loc[1])
		}
	}
	return end
}

// searching is the state of one search over an output.
type searching struct {
	table *Table
	about []bool // the rules that are still looked for
	out   *output
	now   time.Time
	found []finding
	// tries counts the lines that a pattern was tried on; last is where the
	// last of them ended. Both are by the candidate's number.
	tries, last []int
	// budget is how many bytes may still be matched.
	budget int
	// discounted are what matched on a discounted line only, by rule.
	discounted map[int]finding
}

// try holds a pattern against the line around position at. It returns false
// once the budget is spent.
func (s *searching) try(c candidate, at int) bool {
	if s.table.rules[c.rule].general() && s.out.masked[at] != s.out.text[at] {
		return true // the literal stands in an address
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
	r := s.table.rules[c.rule]
	text := s.out.text
	if r.general() {
		text = s.out.masked
	}
	if r.Stream == "stdout" && at >= s.out.stderr || r.Stream == "stderr" && at < s.out.stderr {
		return true
	}
	s.budget -= end - start + 1
	line := text[start:end]
	if c.pattern.compiled().MatchString(line) && !r.excepts(line, s.out.lower[start:end]) {
		s.match(c.rule, start, end)
	}
	return s.budget > 0
}

// match records that a rule matches the line from start to end.
func (s *searching) match(rule, start, end int) {
	r := s.table.rules[rule]
	found := Match{Rule: r, Stream: "stderr", Line: s.out.text[start:end]}
	if start < s.out.stderr {
		found.Stream = "stdout"
	}
	whole, _ := s.out.line(start)
	f := finding{rule: r, layer: s.table.layer[rule], index: rule, line: whole, match: found, strength: r.Strength}
	kind := s.out.kind(start, end)
	strength, ok := r.weighs(kind)
	if !ok {
		return
	}
	f.strength = strength
	if kind == warningLine && r.general() {
		if _, ok := s.discounted[rule]; !ok {
			s.discounted[rule] = f
		}
		return
	}
	if r.Stale > 0 {
		f = f.aged(s.out.held(start, end, s.now))
	}
	s.about[rule] = false // later lines come first, so this is the rule's last
	s.found = append(s.found, f)
}

// aged settles the matter where the output says for how long a lock is held.
func (f finding) aged(age time.Duration, known bool) finding {
	if !known {
		return f
	}
	f.strength = Decisive
	if age > f.rule.Stale {
		old := *f.rule
		old.Verdict, old.Strength = event.Permanent, Decisive
		old.Reason += "; it is held for more than " + age.Round(time.Minute).String() + ", so its holder is probably gone and the lock has to be removed by hand"
		f.rule, f.match.Rule = &old, &old
	}
	return f
}

// tryLines holds a pattern without literals against the last lines.
func (s *searching) tryLines(c candidate) {
	for end := len(s.out.text); end > 0 && s.about[c.rule] && s.tries[c.number] < maxTries && s.budget > 0; {
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

// weakest are the verdicts in the order in which weak evidence counts.
var weakest = []event.Verdict{event.Transient, event.Unknown, event.Permanent}

// weigh sorts the finding that counts for more to the front. See the order at
// the top of this file.
func weigh(a, b finding) int {
	if a.yielded != b.yielded {
		return first(b.yielded)
	}
	if a.layer != b.layer {
		return a.layer - b.layer
	}
	if a.strength != b.strength {
		return int(b.strength - a.strength)
	}
	if a.strength <= Weak {
		if d := slices.Index(weakest, a.rule.Verdict) - slices.Index(weakest, b.rule.Verdict); d != 0 {
			return d
		}
	}
	if at, bt := len(a.rule.Tools) > 0, len(b.rule.Tools) > 0; at != bt {
		return first(at)
	}
	if a.line != b.line {
		return b.line - a.line
	}
	if a.beaten != b.beaten {
		return first(b.beaten)
	}
	if a.link != b.link {
		return b.link - a.link
	}
	return a.index - b.index
}

// first is -1 for true, 1 for false.
func first(yes bool) int {
	if yes {
		return -1
	}
	return 1
}
