package classify

// This file finds the literal strings of which every match of a pattern must
// contain one, so that the pattern need not be tried where none occurs. The
// idea is Russ Cox's ("Regular Expression Matching with a Trigram Index",
// 2012), reduced to what short patterns need.

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

// requiredLiterals returns literals in lower case, each at least minLiteral
// bytes long, of which every match of the pattern contains one, and none
// within another; nil where there is no such set.
func requiredLiterals(text string) []string {
	re, err := syntax.Parse(foldCase+text, syntax.Perl)
	if err != nil {
		return nil
	}
	var kept []string
	set := required(re)
	for _, s := range set {
		// What holds a shorter literal of the set adds nothing: "rate limits" beside "rate limit".
		covered := slices.ContainsFunc(set, func(other string) bool { return other != s && strings.Contains(s, other) })
		if !covered && !slices.Contains(kept, s) {
			kept = append(kept, s)
		}
	}
	return kept
}

func required(re *syntax.Regexp) []string {
	if set := exact(re); set != nil {
		return usable(set)
	}
	switch re.Op {
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return required(re.Sub[0])
		}
	case syntax.OpAlternate:
		return usable(union(re.Sub, required))
	case syntax.OpConcat:
		return requiredOfConcat(re.Sub)
	}
	return nil
}

// requiredOfConcat returns the best set of any run of subexpressions: the one
// whose shortest literal is longest, the last of those: numbers after words
// are rarer.
func requiredOfConcat(subs []*syntax.Regexp) (best []string) {
	offer := func(set []string) {
		if set = usable(set); set != nil && shortest(set) >= shortest(best) {
			best = set
		}
	}
	run := []string{""}
	for _, sub := range subs {
		set := exact(sub)
		product := cross(run, set)
		if product == nil {
			offer(run)
			if product = set; set == nil {
				offer(required(sub))
				product = []string{""}
			}
		}
		run = product
	}
	offer(run)
	return best
}

// exact returns all strings that re can match, in lower case, or nil where
// they are too many or not ASCII.
func exact(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		if slices.ContainsFunc(re.Rune, foldsBeyondASCII) {
			return nil
		}
		return []string{strings.ToLower(string(re.Rune))}
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return []string{""}
	case syntax.OpCapture:
		return exact(re.Sub[0])
	case syntax.OpQuest:
		if set := exact(re.Sub[0]); set != nil && len(set) < maxLiterals {
			return append([]string{""}, set...)
		}
	case syntax.OpCharClass:
		return exactClass(re.Rune)
	case syntax.OpAlternate:
		return union(re.Sub, exact)
	case syntax.OpConcat:
		run := []string{""}
		for _, sub := range re.Sub {
			run = cross(run, exact(sub))
		}
		return run
	}
	return nil
}

// foldsBeyondASCII reports whether a character has another case that is not among the
// lower-case letters of ASCII, which the lower case of the text is limited to.
func foldsBeyondASCII(r rune) bool { return r >= 0x80 && unicode.SimpleFold(r) != r }

// exactClass returns the members of a small character class.
func exactClass(ranges []rune) (set []string) {
	for i := 0; i+1 < len(ranges); i += 2 {
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			switch {
			case 'A' <= r && r <= 'Z', r == 'ſ', r == '\u212a': // other cases of members that are there too
			case r < ' ', foldsBeyondASCII(r), len(set) == maxClass:
				return nil
			default:
				set = append(set, string(r))
			}
		}
	}
	return set
}

// union returns the sets of all the subexpressions together, nil where one has none or
// they are too many.
func union(subs []*syntax.Regexp, of func(*syntax.Regexp) []string) (all []string) {
	for _, sub := range subs {
		set := of(sub)
		if set == nil || len(all)+len(set) > maxLiterals {
			return nil
		}
		all = append(all, set...)
	}
	return all
}

// cross returns every string of a followed by every string of b, or nil where
// one of them is nil or they are too many.
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

// usable returns the set if the filter can look for all of it, else nil.
func usable(set []string) []string {
	if len(set) > maxLiterals || shortest(set) < minLiteral {
		return nil
	}
	return set
}

// shortest returns the length of the shortest string of the set, 0 for none.
func shortest(set []string) int {
	if len(set) == 0 {
		return 0
	}
	return len(slices.MinFunc(set, func(a, b string) int { return len(a) - len(b) }))
}
