// This file's subject is what a pattern cannot match without: a few literals
// of which every line that it matches holds at least one.

package match

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	// literalMin is the shortest literal that is worth looking for: what is
	// shorter is in nearly every line. literalsMax is for one pattern.
	literalMin  = 3
	literalsMax = 64
	// classMax is the largest character class that is spelt out.
	classMax = 8
)

// literal is a part of what a pattern matches. If fold is set, text is in lower
// case and stands for every case of its ASCII letters, but not for U+017F and
// U+212A, which fold to s and k: the filter knows of these two.
type literal struct {
	text string
	fold bool
}

// factor is what is known of all that a part of a pattern can match.
type factor struct {
	// exact, if not nil, has every string that the part matches.
	exact []literal
	// need, if not nil, has literals of which each match contains one.
	need []literal
}

// required returns literals of which each line that re matches contains one,
// or nil where there are none that are usable.
func required(re *syntax.Regexp) []literal {
	f := analyze(re)
	set := f.need
	if f.exact != nil {
		set = f.exact
	}
	if value(set) <= 0 {
		return nil
	}
	for i, l := range set {
		if l.fold {
			set[i].text = oneFold(l.text)
		}
	}
	return set
}

// foldMin is how much must be left of a literal for oneFold to cut it.
const foldMin = 6

// oneFold returns the longest part of a folding literal that has no s and no k,
// the two letters that also fold to runes above ASCII, if it is long enough:
// the filter then need not look for these runes.
func oneFold(text string) string {
	best := ""
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == 's' || r == 'k' }) {
		if len(part) > len(best) {
			best = part
		}
	}
	if len(best) < foldMin {
		return text
	}
	return best
}

// value says how well literals tell lines apart: 0 not at all, and the
// shortest of them counts most.
func value(set []literal) int {
	if len(set) == 0 || len(set) > literalsMax {
		return 0
	}
	shortest := len(set[0].text)
	for _, l := range set {
		shortest = min(shortest, len(l.text))
	}
	if shortest < literalMin {
		return 0
	}
	return literalsMax*min(shortest, 12) - len(set) + 1
}

func analyze(re *syntax.Regexp) factor {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText,
		syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return factor{exact: []literal{{}}}
	case syntax.OpLiteral:
		return analyzeLiteral(re)
	case syntax.OpCharClass:
		return factor{exact: spell(re.Rune)}
	case syntax.OpCapture:
		return analyze(re.Sub[0])
	case syntax.OpConcat:
		s := newSequence()
		for _, sub := range re.Sub {
			s.part(sub)
		}
		return s.factor()
	case syntax.OpAlternate:
		return analyzeAlternate(re)
	case syntax.OpQuest:
		if f := analyze(re.Sub[0]); f.exact != nil {
			return factor{exact: union(f.exact, []literal{{}})}
		}
	case syntax.OpPlus, syntax.OpRepeat:
		s := newSequence()
		s.part(re)
		return s.factor()
	}
	return factor{}
}

func analyzeLiteral(re *syntax.Regexp) factor {
	s := newSequence()
	fold := re.Flags&syntax.FoldCase != 0
	var text []byte
	add := func() {
		if len(text) > 0 {
			s.exact([]literal{{string(text), fold && hasLetter(text)}})
			text = text[:0]
		}
	}
	for _, r := range re.Rune {
		switch {
		// U+FFFD also matches what is not UTF-8.
		case r == utf8.RuneError, fold && r >= utf8.RuneSelf:
			add()
			s.gap()
		case fold:
			text = append(text, lower(byte(r)))
		default:
			text = utf8.AppendRune(text, r)
		}
	}
	add()
	return s.factor()
}

func analyzeAlternate(re *syntax.Regexp) factor {
	exact, need := []literal{}, []literal{}
	for _, sub := range re.Sub {
		f := analyze(sub)
		if f.exact == nil {
			exact = nil
			f.exact = f.need
		} else if exact != nil {
			exact = union(exact, f.exact)
		}
		if value(f.exact) <= 0 {
			need = nil
		} else if need != nil {
			need = union(need, f.exact)
		}
		if exact == nil && need == nil {
			return factor{}
		}
	}
	return factor{exact: exact, need: need}
}

// spell returns the runes of a small class one by one, nil for a larger one.
func spell(class []rune) []literal {
	if len(class) == 4 && class[0] == class[1] && class[2] == class[3] && class[2] == class[0]+'a'-'A' &&
		'A' <= class[0] && class[0] <= 'Z' {
		return []literal{{string(class[2]), true}}
	}
	var set []literal
	for i := 0; i < len(class); i += 2 {
		if class[i+1]-class[i] >= classMax {
			return nil
		}
		for r := class[i]; r <= class[i+1]; r++ {
			if r == utf8.RuneError || len(set) == classMax {
				return nil
			}
			set = append(set, literal{text: string(r)})
		}
	}
	return set
}

// union returns the literals of both, nil where they are too many.
func union(a, b []literal) []literal {
	set := slices.Clone(a)
	for _, l := range b {
		if !slices.Contains(set, l) {
			set = append(set, l)
		}
	}
	if len(set) > literalsMax {
		return nil
	}
	return set
}

// sequence gathers what stands in a row: the strings since the last gap, all
// combinations of them, and the best of what stood before.
type sequence struct {
	last  []literal
	best  []literal
	whole bool // there was no gap
}

func newSequence() *sequence {
	return &sequence{last: []literal{{}}, whole: true}
}

// part appends what re matches.
func (s *sequence) part(re *syntax.Regexp) {
	if re.Op == syntax.OpPlus || re.Op == syntax.OpRepeat && re.Min > 0 {
		// The first round follows what stood before and the last one is
		// followed by what comes; between them, nothing is known.
		f := analyze(re.Sub[0])
		s.add(f)
		s.gap()
		s.add(f)
		return
	}
	if re.Op == syntax.OpRepeat {
		s.gap()
		return
	}
	s.add(analyze(re))
}

func (s *sequence) add(f factor) {
	if f.exact != nil {
		s.exact(f.exact)
		return
	}
	s.gap()
	s.consider(f.need)
}

func (s *sequence) exact(set []literal) {
	if len(s.last)*len(set) > literalsMax {
		s.gap()
		s.last = set
		return
	}
	product := make([]literal, 0, len(s.last)*len(set))
	for _, a := range s.last {
		for _, b := range set {
			product = append(product, concat(a, b))
		}
	}
	s.last = product
}

func (s *sequence) gap() {
	s.consider(s.last)
	s.last, s.whole = []literal{{}}, false
}

func (s *sequence) consider(set []literal) {
	if value(set) > value(s.best) {
		s.best = set
	}
}

func (s *sequence) factor() factor {
	if s.whole {
		return factor{exact: s.last}
	}
	s.consider(s.last)
	return factor{need: s.best}
}

func concat(a, b literal) literal {
	l := literal{a.text + b.text, a.fold || b.fold}
	if l.fold {
		l.text = strings.Map(func(r rune) rune {
			if r < utf8.RuneSelf {
				return rune(lower(byte(r)))
			}
			return r
		}, l.text)
	}
	return l
}

func hasLetter(text []byte) bool {
	return slices.ContainsFunc(text, func(b byte) bool { return 'a' <= lower(b) && lower(b) <= 'z' })
}

func lower(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}
