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
	case kind == warningLine && r.general():
		return max(r.Strength-1, Weak), r.Strength > Weak || r.Verdict != event.Permanent
	case kind == passingLine && r.Verdict == event.Permanent && r.Strength < Decisive:
		return r.Strength - 1, r.Strength > Weak
	}
	return r.Strength, true
}

// shape is one way to recognise a kind of line: all of its conditions hold.
type shape struct {
	kind       lineKind
	conditions [len(conditions)][]*pattern
}

// conditions are the keys of a shape's patterns; see rules/lines.kinds.
var conditions = [...]string{"match", "unless", "above", "below", "later", "after", "under"}

// maxAround is how many lines above or below a line are read for what it belongs to.
const maxAround = 12

//go:embed rules/lines.kinds
var kindsFile string

// parseShapes reads a file of shapes, and their patterns as newPattern does.
func parseShapes(text string, literals *string) (list []*shape, err error) {
	var s *shape
	for line := range blockfile.Lines(text) {
		switch i := slices.Index(conditions[:], line.Key); {
		case line.Key == "":
			s = nil
		case line.Key == "lines":
			s = &shape{kind: lineKind(line.Value)}
			list = append(list, s)
		case s == nil || i < 0:
			return nil, fmt.Errorf("line %d: unknown key %q", line.Number, line.Key)
		default:
			p, err := newPattern(line.Value, line.Number, literals)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", line.Number, err)
			}
			s.conditions[i] = append(s.conditions[i], p)
		}
	}
	return list, nil
}

// kind says what the line is that begins at start. It remembers the answer.
func (o *output) kind(start, end int) lineKind {
	kind, known := o.kinds[start]
	if known {
		return kind
	}
	first, last := o.line(start)
	_, shapes := builtIn()
	if i := slices.IndexFunc(shapes, func(s *shape) bool { return s.fits(o, start, end, first, last) }); i >= 0 {
		kind = shapes[i].kind
	}
	o.kinds[start] = kind
	return kind
}

// fits reports whether the text from start to end is of the shape, which is part of the
// line from first to last.
func (s *shape) fits(o *output, start, end, first, last int) bool {
	for i, list := range s.conditions {
		if len(list) == 0 {
			continue
		}
		ok := false
		switch conditions[i] {
		case "match":
			ok = o.matches(list, start, end)
		case "unless":
			ok = !o.matches(list, start, end)
		case "above":
			if first > 0 {
				from, to := o.line(first - 1)
				ok = o.matches(list, from, to)
			}
		case "below":
			ok = o.matchesBelow(list, last, 1)
		case "later":
			ok = o.matchesBelow(list, last, maxAround)
		case "after", "under":
			ok = o.matchesAbove(list, first, start, conditions[i] == "under")
		}
		if !ok {
			return false
		}
	}
	return true
}

// matches reports whether one of the patterns matches the text from start to end.
func (o *output) matches(list []*pattern, start, end int) bool {
	end = min(end, start+maxLine)
	return slices.ContainsFunc(list, func(p *pattern) bool {
		return p.mayMatch(o.lower[start:end]) && p.compiled().MatchString(o.text[start:end])
	})
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

// matchesBelow reports whether one of the patterns matches one of so many lines below
// the one that ends at last.
func (o *output) matchesBelow(list []*pattern, last, lines int) bool {
	for ; lines > 0 && last < len(o.text); lines-- {
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
