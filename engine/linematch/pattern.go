// This file reads patterns and explains the errors in them.

package linematch

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
)

// Pattern is a Go regular expression (RE2 syntax, https://github.com/google/re2/wiki/Syntax).
// It may be shared between matchers and goroutines.
type Pattern struct {
	src string
	re  *syntax.Regexp
}

// Parse reads a Go regular expression. Its error quotes src and is one line. A pattern is
// tried on one line at a time: `a\nb` is accepted and matches nothing.
func Parse(src string) (*Pattern, error) {
	re, err := syntax.Parse(src, syntax.Perl)
	if err != nil {
		return nil, patternError(src, err.(*syntax.Error))
	}
	if needsLineEnd(re) {
		return nil, fmt.Errorf("%q can match no line: it needs a line feed, and each line is looked at without its "+
			"end; write a pattern for one line", src)
	}
	return &Pattern{src: src, re: re}, nil
}

// needsLineEnd reports whether every text that an expression matches holds a line feed or a
// carriage return.
func needsLineEnd(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpLiteral:
		return slices.ContainsFunc(re.Rune, endsLine)
	case syntax.OpCharClass:
		for i := 0; i < len(re.Rune); i += 2 { // pairs of the first and the last rune of a range
			for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
				if !endsLine(r) {
					return false
				}
			}
		}
		return len(re.Rune) > 0
	case syntax.OpCapture, syntax.OpPlus:
		return needsLineEnd(re.Sub[0])
	case syntax.OpRepeat:
		return re.Min > 0 && needsLineEnd(re.Sub[0])
	case syntax.OpConcat:
		return slices.ContainsFunc(re.Sub, needsLineEnd)
	case syntax.OpAlternate:
		return !slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return !needsLineEnd(sub) })
	}
	return false
}

func endsLine(r rune) bool { return r == '\n' || r == '\r' }

// UnmarshalText is Parse. It refuses "", which matches every line.
func (p *Pattern) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		return errors.New(`"" matches every line; if that is meant, write "^"`)
	}
	pattern, err := Parse(string(text))
	if err == nil {
		*p = *pattern
	}
	return err
}

// String returns the pattern as the user wrote it.
func (p *Pattern) String() string { return p.src }

// faults are the errors of regexp/syntax in words for users. %q and %s are the part of the
// pattern where the parser stopped.
var faults = []struct {
	code syntax.ErrorCode
	why  string
}{
	{syntax.ErrMissingParen, "a ( is not closed"},
	{syntax.ErrUnexpectedParen, `a ) has no (; to match one, write \)`},
	{syntax.ErrMissingBracket, "the [ at %q is not closed"},
	{syntax.ErrTrailingBackslash, `it ends in a single \; to match one, write \\`},
	{syntax.ErrMissingRepeatArgument, `nothing stands before %q; to match the character, write \%s`},
	{syntax.ErrInvalidRepeatOp, "%q repeats a repetition"},
	{syntax.ErrInvalidRepeatSize, "the repeat count in %q is out of order, or with those within it above 1000"},
	{syntax.ErrInvalidCharRange, "the range %q runs backwards or has no end"},
	{syntax.ErrInvalidCharClass, "%q is not a character class"},
	{syntax.ErrInvalidEscape, "%q is not an escape sequence (there are no back-references)"},
	{syntax.ErrInvalidPerlOp, "%q is not complete, or not supported (there is no look-ahead or look-behind)"},
	{syntax.ErrInvalidNamedCapture, "%q is not a valid group name, or is used twice"},
	{syntax.ErrInvalidUTF8, "it is not valid UTF-8"},
	{syntax.ErrNestingDepth, "it nests too deeply"},
	{syntax.ErrLarge, "it is too large"},
}

// patternError explains an error of regexp/syntax.
func patternError(src string, e *syntax.Error) error {
	why := string(e.Code) + " at %q"
	for _, fault := range faults {
		if fault.code == e.Code {
			why = fault.why
		}
	}
	if e.Code == syntax.ErrInvalidCharRange && (strings.HasPrefix(e.Expr, `\p`) || strings.HasPrefix(e.Expr, `\P`)) {
		why = "%q is not a Unicode class"
	}
	return fmt.Errorf("pattern %q: %s", src,
		strings.NewReplacer("%q", strconv.Quote(e.Expr), "%s", e.Expr).Replace(why))
}
