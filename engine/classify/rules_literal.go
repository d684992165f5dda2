package classify

// This file finds the literal strings of which every match of a pattern must contain one or
// two, so that the pattern need not be tried on a line without them. The idea is Russ Cox's
// ("Regular Expression Matching with a Trigram Index", 2012), reduced to what short patterns
// need.

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
)

const (
	// minLiteral is the shortest literal that the filter can look for.
	minLiteral = 3
	// maxLiterals bounds the alternatives of one pattern.
	maxLiterals = 64
	// maxClass bounds the members of a character class.
	maxClass = 10
)

// requiredLiterals returns up to two sets of literals in lower case, divided by tabs, each at
// least minLiteral bytes long. Every match of the pattern contains one of each set. No literal
// of a set is within another.
func requiredLiterals(text string) (first, second string) {
	re, _ := syntax.Parse(foldCase+text, syntax.Perl) // addPattern has checked it
	_, required := literals(re)
	sets := [2]string{}
	for i, set := range required {
		var kept []string
		for _, s := range set {
			// What holds a shorter literal of the set adds nothing: "rate limits" beside "rate limit".
			covered := slices.ContainsFunc(set, func(other string) bool {
				return other != s && strings.Contains(s, other)
			})
			if !covered && !slices.Contains(kept, s) {
				kept = append(kept, s)
			}
		}
		sets[i] = strings.Join(kept, "\t")
	}
	return sets[0], sets[1]
}

// literals returns, in lower case, all strings that re can match, nil if they are too
// many or not ASCII; and the best sets of literals that the filter can look for, of each of
// which every match contains one.
func literals(re *syntax.Regexp) (exact []string, required [][]string) {
	switch re.Op {
	case syntax.OpLiteral:
		if i := slices.IndexFunc(re.Rune, divides); i >= 0 {
			before := &syntax.Regexp{Op: syntax.OpLiteral, Rune: re.Rune[:i]}
			after := &syntax.Regexp{Op: syntax.OpLiteral, Rune: re.Rune[i+1:]}
			return literalsOfConcat([]*syntax.Regexp{before, {Op: syntax.OpAnyChar}, after})
		}
		exact = []string{strings.ToLower(string(re.Rune))}
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText,
		syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		exact = []string{""}
	case syntax.OpCharClass:
		exact = exactClass(re.Rune)
	case syntax.OpCapture:
		return literals(re.Sub[0])
	case syntax.OpQuest:
		exact, _ = literals(re.Sub[0])
		exact = union([]string{""}, exact)
	case syntax.OpPlus, syntax.OpRepeat:
		if re.Op == syntax.OpPlus || re.Min > 0 {
			_, required = literals(re.Sub[0])
		}
	case syntax.OpAlternate:
		exact = []string{}
		first, second := []string{}, []string{}
		for _, sub := range re.Sub {
			e, r := literals(sub)
			exact = union(exact, e)
			if len(r) == 0 {
				r = [][]string{nil}
			}
			first = union(first, r[0])
			second = union(second, r[len(r)-1])
		}
		required = withSet(withSet(nil, second), first)
	case syntax.OpConcat:
		return literalsOfConcat(re.Sub)
	}
	return exact, withSet(required, exact)
}

// literalsOfConcat is literals for a sequence. Required are the best sets of the runs of
// subexpressions: of equal ones the last, since numbers after words are rarer.
func literalsOfConcat(subs []*syntax.Regexp) (exact []string, required [][]string) {
	exact = []string{""}
	run := exact
	for _, sub := range subs {
		e, r := literals(sub)
		exact = cross(exact, e)
		if next := cross(run, e); next != nil {
			run = next
			continue
		}
		required = withSet(required, run)
		for _, set := range slices.Backward(r) {
			required = withSet(required, set)
		}
		run = e
		if run == nil {
			run = []string{""}
		}
	}
	return exact, withSet(required, run)
}

// withSet puts a set among others, by the length of its shortest literal, before those of the
// same length. Two are kept. The filter cannot look for short literals.
func withSet(sets [][]string, set []string) [][]string {
	n := shortest(set)
	if n < minLiteral {
		return sets
	}
	i := 0
	for i < len(sets) && shortest(sets[i]) > n {
		i++
	}
	sets = slices.Insert(slices.Clip(sets), i, set)
	return sets[:min(2, len(sets))]
}

// shortest returns the length of the shortest string of the set, 0 for none.
func shortest(set []string) int {
	if len(set) == 0 {
		return 0
	}
	return len(slices.MinFunc(set, func(a, b string) int { return len(a) - len(b) }))
}

// divides reports whether a character is in no literal: tabs and line feeds divide literals,
// and the lower case of the text is limited to the letters of ASCII.
func divides(r rune) bool { return r < ' ' || r >= 0x80 && unicode.SimpleFold(r) != r }

// exactClass returns the members of a small character class.
func exactClass(ranges []rune) (set []string) {
	for i := 0; i+1 < len(ranges); i += 2 {
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			switch {
			case 'A' <= r && r <= 'Z', r == 'ſ', r == '\u212a': // other cases of members that are there too
			case divides(r), len(set) == maxClass:
				return nil
			default:
				set = append(set, string(r))
			}
		}
	}
	return set
}

// union returns the strings of a and b, nil if one is nil or they are too many.
func union(a, b []string) []string {
	if a == nil || b == nil || len(a)+len(b) > maxLiterals {
		return nil
	}
	return append(a, b...)
}

// cross returns every string of a followed by every string of b, nil if one is nil or
// they are too many.
func cross(a, b []string) (product []string) {
	if len(a)*len(b) > maxLiterals {
		return nil
	}
	for _, x := range a {
		for _, y := range b {
			product = append(product, x+y)
		}
	}
	return product
}
