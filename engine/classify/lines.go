package classify

// This file recognises what a line is by its shape. The shapes are data, in
// rules/lines.kinds.

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/retrysh/retry/engine/blockfile"
	"github.com/retrysh/retry/engine/event"
)

// lineKind says how much a line is worth as evidence; see rules/lines.kinds.
type lineKind string

const (
	plainLine   lineKind = ""
	contentLine lineKind = "content"
	handledLine lineKind = "handled"
	retriedLine lineKind = "retried"
	stepLine    lineKind = "step"
	warningLine lineKind = "warning"
	passingLine lineKind = "passing"
)

// weighs returns the strength that the rule's evidence has on a line of the kind;
// ok is false if it has none.
func (r *Rule) weighs(kind lineKind) (s Strength, ok bool) {
	switch {
	case !r.builtIn:
		return r.Strength, true
	case kind == contentLine:
		return r.Strength, r.OnContent
	case kind == handledLine && r.general():
		return 0, false
	case kind == retriedLine:
		if r.Verdict == event.Permanent {
			return r.Strength, r.Strength > Weak // the tool may try again what cannot work
		}
		return Retried, r.Verdict == event.Transient
	case kind == stepLine && r.general() && r.Verdict == event.Permanent:
		return Retried, false
	case kind == warningLine && r.general():
		if r.Strength == Decisive {
			return Plain, true
		}
		return Weak, r.Strength > Weak || r.Verdict != event.Permanent
	case kind == passingLine && r.Verdict == event.Permanent:
		return r.Strength, r.Strength == Decisive
	}
	return r.Strength, true
}

// shape is one way to recognise a kind of line: all of its conditions hold.
type shape struct {
	kind       lineKind
	conditions [len(conditions)][]*pattern
}

// conditions are the keys of a shape's patterns (rules/lines.kinds), and the lines that they
// are about: the line itself, and so many lines above or below it, with same those that name
// the same thing. One that is not says that no such line matches.
var conditions = [...]struct {
	key          string
	itself       bool
	above, below int
	same, not    bool
}{
	{key: "match", itself: true},
	{key: "unless", itself: true, not: true},
	{key: "above", above: 1},
	{key: "after", above: 12},
	{key: "below", below: 1},
	{key: "soon", below: 3},
	{key: "later", below: 12},
	{key: "recovers", below: 12, same: true},
	{key: "never", itself: true, below: 12, not: true},
}

//go:embed rules/lines.kinds
var kindsFile string

// parseShapes reads a file of shapes, and their patterns as addPattern does.
func parseShapes(text string, literals *string) (list []*shape, err error) {
	var s *shape
	for line := range blockfile.Lines(text) {
		i := 0
		for i < len(conditions) && conditions[i].key != line.Key {
			i++
		}
		switch {
		case line.Key == "":
			s = nil
		case line.Key == "lines":
			s = &shape{kind: lineKind(line.Value)}
			list = append(list, s)
		case s == nil || i == len(conditions):
			return nil, fmt.Errorf("line %d: unknown key %q", line.Number, line.Key)
		default:
			if s.conditions[i], err = addPattern(s.conditions[i], line.Value, line.Number, literals); err != nil {
				return nil, fmt.Errorf("line %d: %w", line.Number, err)
			}
		}
	}
	return list, nil
}

// maxLooked is how many bytes are held against the patterns of shapes, each byte once for a
// pattern. An output of the rules' own words needs 0.2 MB of
// it; lines beyond are plain.
const maxLooked = 8 << 20

// kind says what the line is that begins at start. It remembers the answer.
func (o *output) kind(start, end int) lineKind {
	kind, known := o.kinds[start]
	if known || o.looked > maxLooked {
		return kind
	}
	first, last := o.line(start)
	_, shapes := builtInPatterns()
	if i := slices.IndexFunc(shapes, func(s *shape) bool { return s.fits(o, start, end, first, last) }); i >= 0 {
		kind = shapes[i].kind
	} else if o.stamps.isQuiet(first) {
		kind = warningLine
	}
	o.kinds[start] = kind
	return kind
}

// fits reports whether the text from start to end is of the shape, which is part of the
// line from first to last.
func (s *shape) fits(o *output, start, end, first, last int) bool {
	for i, list := range s.conditions {
		c := conditions[i]
		if len(list) == 0 {
			continue
		}
		found := c.itself && o.matches(list, start, end) || o.matchesNear(list, first, last, c.above, c.below, c.same)
		if found == c.not {
			return false
		}
	}
	return true
}

// matches reports whether one of the patterns matches the text from start to end.
func (o *output) matches(list []*pattern, start, end int) bool {
	end = min(end, start+maxLine)
	return slices.ContainsFunc(list, func(p *pattern) bool {
		o.looked += end - start
		return p.mayMatch(o.lower[start:end]) && p.compiled().MatchString(o.text[start:end])
	})
}

// matchesNear reports whether one of the patterns matches one of so many lines around the
// one from first to last. A blank line above ends the search. With same, a line below has to
// name the same thing.
func (o *output) matchesNear(list []*pattern, first, last, above, below int, same bool) bool {
	itself := o.lower[first:min(last, first+maxLine)]
	for ; above > 0 && first > 0; above-- {
		from, to := o.line(first - 1)
		if strings.TrimSpace(o.text[from:to]) == "" {
			return false
		}
		if o.matches(list, o.stamps.behind(from), to) {
			return true
		}
		first = from
	}
	for ; below > 0 && last < len(o.text); below-- {
		from, to := o.line(last + 1)
		start := o.stamps.behind(from)
		if o.matches(list, start, to) && (!same || sameThing(itself, o.lower[start:min(to, start+maxLine)])) {
			return true
		}
		last = to
	}
	return false
}

// sameThing reports whether two lines, in lower case, have a name in common, or one has none:
// "cache is ready" says nothing of "db:5432: connection refused".
func sameThing(a, b string) bool {
	ofA, ofB := names(a), names(b)
	if len(ofA) == 0 || len(ofB) == 0 {
		return true
	}
	return slices.ContainsFunc(ofB, func(name string) bool { return slices.Contains(ofA, name) })
}

// names returns the words of a line, in lower case, that may name what it is about.
func names(line string) []string {
	words := strings.FieldsFunc(line, func(c rune) bool {
		return c < 0x80 && !strings.ContainsRune(alphanumerics+"_", c)
	})
	return slices.DeleteFunc(words, func(word string) bool {
		return word[0] <= '9' || strings.Contains(nameless, " "+word+" ")
	})
}

// nameless are words of faults and recoveries that name nothing.
const nameless = " a an the to of at in on by for from after with and is are was were be has have had been it " +
	"its not no now again yet still then finally connection connections connect connected connecting reconnected " +
	"reconnecting recovered succeeded success successfully ok okay up down ready done reachable available " +
	"healthy alive refused reset timed out timeout time unreachable unavailable econnrefused econnreset " +
	"etimedout peer error errors err failed failure fail fails fatal warning warn info debug exception could " +
	"cannot can unable attempt attempts try tries retry retries second seconds server service host port address " +
	"network dial tcp http https curl wget request response client waiting wait localhost "
