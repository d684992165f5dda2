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
	return minimal(required(re))
}

// minimal leaves out what occurs only where a shorter literal of the set does:
// "rate limits" beside "rate limit".
func minimal(set []string) []string {
	var kept []string
	for _, s := range set {
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
		var all []string
		for _, sub := range re.Sub {
			set := required(sub)
			if set == nil {
				return nil
			}
			all = append(all, set...)
		}
		return usable(all)
	case syntax.OpConcat:
		return requiredOfConcat(re.Sub)
	}
	return nil
}

// requiredOfConcat returns the best set of any run of subexpressions: the one
// whose shortest literal is longest, the last of those: numbers after words
// tell more.
func requiredOfConcat(subs []*syntax.Regexp) []string {
	var best []string
	offer := func(set []string) {
		if set = usable(set); set != nil && shortest(set) >= shortest(best) {
			best = set
		}
	}
	run := []string{""}
	for _, sub := range subs {
		set := exact(sub)
		if product := cross(run, set); product != nil {
			run = product
			continue
		}
		offer(run)
		run = []string{""}
		if set != nil {
			run = set
		} else {
			offer(required(sub))
		}
	}
	offer(run)
	return best
}

// exact returns all strings that re can match, in lower case, or nil where
// they are too many or not ASCII.
func exact(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			if r >= 0x80 && unicode.SimpleFold(r) != r {
				return nil // the lower case of the text is that of ASCII
			}
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
		var all []string
		for _, sub := range re.Sub {
			set := exact(sub)
			if set == nil || len(all)+len(set) > maxLiterals {
				return nil
			}
			all = append(all, set...)
		}
		return all
	case syntax.OpConcat:
		run := []string{""}
		for _, sub := range re.Sub {
			if run = cross(run, exact(sub)); run == nil {
				return nil
			}
		}
		return run
	}
	return nil
}

// exactClass returns the members of a small character class.
func exactClass(ranges []rune) []string {
	var set []string
	for i := 0; i+1 < len(ranges); i += 2 {
		if ranges[i+1]-ranges[i] > maxClass {
			return nil
		}
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			switch {
			case 'A' <= r && r <= 'Z', r == 'ſ', r == '\u212a': // other cases of members that are there too
			case r < ' ', r >= 0x80 && unicode.SimpleFold(r) != r || len(set) == maxClass:
				return nil
			default:
				set = append(set, string(r))
			}
		}
	}
	return set
}

// cross returns every string of a followed by every string of b, or nil where
// one of them is nil or they are too many.
func cross(a, b []string) []string {
	if a == nil || b == nil || len(a)*len(b) > maxLiterals {
		return nil
	}
	out := make([]string, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			out = append(out, x+y)
		}
	}
	return out
}

// usable returns the set if the filter can look for all of it, else nil.
func usable(set []string) []string {
	if len(set) == 0 || len(set) > maxLiterals || shortest(set) < minLiteral {
		return nil
	}
	return set
}

func shortest(set []string) int {
	if len(set) == 0 {
		return 0
	}
	n := len(set[0])
	for _, s := range set[1:] {
		n = min(n, len(s))
	}
	return n
}
