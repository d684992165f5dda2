package classify

// This file recognises what a line is by its shape. The shapes are data, in
// rules/lines.kinds.

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/retrysh/retry/engine/blockfile"
	"github.com/retrysh/retry/engine/event"
)

// lineKind says how much a line is worth as evidence; see rules/lines.kinds.
type lineKind string

const (
	plainLine   lineKind = ""
	contentLine lineKind = "content"
	handledLine lineKind = "handled"
	warningLine lineKind = "warning"
	passingLine lineKind = "passing"
)

// weighs returns the strength that the rule's evidence has on a line of the kind;
// ok is false where it is none.
func (r *Rule) weighs(kind lineKind) (s Strength, ok bool) {
	switch {
	case !r.builtIn:
		return r.Strength, true
	case kind == contentLine:
		return r.Strength, r.OnContent
	case kind == handledLine && r.general():
		return 0, false
	case kind == warningLine && r.general() && (r.Strength > Weak || r.Verdict != event.Permanent):
		return max(r.Strength-1, Weak), true
	case kind == warningLine && r.general():
		return 0, false
	case kind == passingLine && r.Verdict == event.Permanent && r.Strength < Decisive:
		return r.Strength - 1, r.Strength > Weak
	}
	return r.Strength, true
}

// shape is one way to recognise a kind of line: all of its conditions hold.
type shape struct {
	kind                                             lineKind
	match, unless, above, below, later, after, under []*pattern
}

// maxAround is how many lines above or below a line are read for what it belongs to.
const maxAround = 12

//go:embed rules/lines.kinds
var kindsFile string

// shapes are the built-in shapes, in their order.
var shapes = sync.OnceValue(func() []*shape {
	list, _ := parseShapes(kindsFile) // a test proves the file valid
	return list
})

// parseShapes reads a file of shapes.
func parseShapes(text string) (list []*shape, err error) {
	var s *shape
	for line := range blockfile.Lines(text) {
		switch line.Key {
		case "":
			s = nil
			continue
		case "lines":
			s = &shape{kind: lineKind(line.Value)}
			list = append(list, s)
			continue
		}
		to := s.condition(line.Key)
		if to == nil {
			return nil, fmt.Errorf("line %d: %q is not known here", line.Number, line.Key)
		}
		*to = append(*to, &pattern{text: line.Value, lineNum: line.Number})
	}
	return list, nil
}

// condition returns the shape's patterns of that name, nil for an unknown one.
func (s *shape) condition(name string) *[]*pattern {
	if s == nil {
		return nil
	}
	return map[string]*[]*pattern{"match": &s.match, "unless": &s.unless, "above": &s.above, "below": &s.below, "later": &s.later, "after": &s.after, "under": &s.under}[name]
}

// patterns returns all of the shape's patterns, in the order of the literals' file.
func (s *shape) patterns() []*pattern {
	return slices.Concat(s.match, s.unless, s.above, s.below, s.later, s.after, s.under)
}

// kind says what the line is that begins at start. It remembers the answer.
func (o *output) kind(start, end int) lineKind {
	if kind, known := o.kinds[start]; known {
		return kind
	}
	if o.kinds == nil {
		o.kinds = map[int]lineKind{}
	}
	kind := plainLine
	for _, s := range shapes() {
		if s.fits(o, start, end) {
			kind = s.kind
			break
		}
	}
	o.kinds[start] = kind
	return kind
}

func (s *shape) fits(o *output, start, end int) bool {
	if len(s.match) > 0 && !o.matches(s.match, start, end) || o.matches(s.unless, start, end) {
		return false
	}
	first, last := o.line(start)
	if len(s.above) > 0 {
		if first == 0 {
			return false
		}
		if from, to := o.line(first - 1); !o.matches(s.above, from, to) {
			return false
		}
	}
	if len(s.below) > 0 {
		if last >= len(o.text) {
			return false
		}
		if from, to := o.line(last + 1); !o.matches(s.below, from, to) {
			return false
		}
	}
	return (len(s.later) == 0 || o.matchesBelow(s.later, last)) &&
		(len(s.after) == 0 || o.matchesAbove(s.after, first, start, false)) &&
		(len(s.under) == 0 || o.matchesAbove(s.under, first, start, true))
}

// matches reports whether one of the patterns matches the text from start to end.
func (o *output) matches(list []*pattern, start, end int) bool {
	end = min(end, start+maxLine)
	for _, p := range list {
		if p.mayMatch(o.lower[start:end]) && p.compiled().MatchString(o.text[start:end]) {
			return true
		}
	}
	return false
}

// matchesAbove reports whether one of the patterns matches a line above the one
// that begins at first, with no blank line between; where less is set, a line
// that is indented less than all below it.
func (o *output) matchesAbove(list []*pattern, first, start int, less bool) bool {
	depth := columns(o.lower[start:])
	for n := 0; n < maxAround && first > 0; n++ {
		from, to := o.line(first - 1)
		line := o.lower[from:to]
		if strings.TrimSpace(line) == "" {
			return false
		}
		d := columns(line)
		if (!less || d < depth) && o.matches(list, from, to) {
			return true
		}
		depth = min(depth, d)
		first = from
	}
	return false
}

// matchesBelow reports whether one of the patterns matches a line below the one
// that ends at last.
func (o *output) matchesBelow(list []*pattern, last int) bool {
	for n := 0; n < maxAround && last < len(o.text); n++ {
		from, to := o.line(last + 1)
		if o.matches(list, from, to) {
			return true
		}
		last = to
	}
	return false
}

// columns is how far the line is indented, a tab being eight columns.
func columns(line string) int {
	n := 0
	for _, c := range line {
		switch c {
		case ' ':
			n++
		case '\t':
			n += 8 - n%8
		default:
			return n
		}
	}
	return n
}

// holds reports whether one of the words stands in the line.
func holds(line string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(line, w) })
}
