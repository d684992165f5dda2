package classify

// This file is the way in to the patterns that a user gives: what they are and
// how they are matched is the work of package match, and whoever judges an
// attempt needs to know of this room only.

import "github.com/retrysh/retry/engine/classify/match"

// Pattern is a compiled pattern of --on-stdout, --until-stderr and their like.
type Pattern = match.Pattern

// Matcher tries patterns on each line of one stream, as an io.Writer.
type Matcher = match.Matcher

// ParsePattern reads a Go regular expression; the error says in one line what
// is wrong with it.
func ParsePattern(src string) (*Pattern, error) { return match.Parse(src) }

// NewMatcher returns a Matcher for the patterns, which its method Seen counts
// from 0.
func NewMatcher(patterns []*Pattern) *Matcher { return match.New(patterns) }
