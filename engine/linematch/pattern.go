// This file's subject is a user's pattern: what is accepted, and how an error
// in it is reported.

package linematch

import (
	"fmt"
	"regexp/syntax"
	"strings"
)

// Pattern is a compiled pattern of --on-stdout, --until-stderr and their like:
// a Go regular expression (RE2 syntax, https://github.com/google/re2/wiki/Syntax).
// It may be shared between matchers and goroutines.
type Pattern struct {
	src string
	re  *syntax.Regexp
}

// Parse reads src as a Go regular expression. The error quotes src and
// says in one line what is wrong with it.
//
// A pattern is tried on one line at a time, never across a line's end: one
// that needs a line feed, as `a\nb` does, is accepted and matches nothing.
func Parse(src string) (*Pattern, error) {
	re, err := syntax.Parse(src, syntax.Perl)
	if err != nil {
		return nil, patternError(src, err)
	}
	return &Pattern{src: src, re: re}, nil
}

// program compiles the pattern. Simplify copies what it changes, so that a
// Pattern may be shared; Compile fails for no expression that Parse returned.
func (p *Pattern) program() *syntax.Prog {
	prog, _ := syntax.Compile(p.re.Simplify())
	return prog
}

// String returns the pattern as the user wrote it.
func (p *Pattern) String() string { return p.src }

// patternError says what err, from regexp/syntax, means to a user who does
// not read Go. Expr is the part of src that the parser stopped at.
func patternError(src string, err error) error {
	e, ok := err.(*syntax.Error)
	if !ok {
		return fmt.Errorf("pattern %q: %w", src, err)
	}
	why := fmt.Sprintf("%s at %q", e.Code, e.Expr)
	switch e.Code {
	case syntax.ErrMissingParen:
		why = "a ( is not closed"
	case syntax.ErrUnexpectedParen:
		why = `a ) has no (; to match one, write \)`
	case syntax.ErrMissingBracket:
		why = fmt.Sprintf("the [ at %q is not closed", e.Expr)
	case syntax.ErrTrailingBackslash:
		why = `it ends in a single \; to match one, write \\`
	case syntax.ErrMissingRepeatArgument:
		why = fmt.Sprintf(`nothing stands before %q; to match the character, write \%s`, e.Expr, e.Expr)
	case syntax.ErrInvalidRepeatOp:
		why = fmt.Sprintf("%q repeats a repetition", e.Expr)
	case syntax.ErrInvalidRepeatSize:
		why = fmt.Sprintf("the repeat count in %q is out of order, or with those within it above 1000", e.Expr)
	case syntax.ErrInvalidCharRange:
		if strings.HasPrefix(e.Expr, `\p`) || strings.HasPrefix(e.Expr, `\P`) {
			why = fmt.Sprintf("%q is not a Unicode class", e.Expr)
			break
		}
		why = fmt.Sprintf("the range %q runs backwards or has no end", e.Expr)
	case syntax.ErrInvalidCharClass:
		why = fmt.Sprintf("%q is not a character class", e.Expr)
	case syntax.ErrInvalidEscape:
		why = fmt.Sprintf("%q is not an escape sequence (there are no back-references)", e.Expr)
	case syntax.ErrInvalidPerlOp:
		why = fmt.Sprintf("%q is not complete, or not supported (there is no look-ahead or look-behind)", e.Expr)
	case syntax.ErrInvalidNamedCapture:
		why = fmt.Sprintf("%q is not a valid group name, or is used twice", e.Expr)
	case syntax.ErrInvalidUTF8:
		why = "it is not valid UTF-8"
	case syntax.ErrNestingDepth:
		why = "it nests too deeply"
	case syntax.ErrLarge:
		why = "it is too large"
	}
	return fmt.Errorf("pattern %q: %s", src, why)
}
