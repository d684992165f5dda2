package classify

// This file hears that a failure was overcome: the command tried again by itself,
// and says further down that it went well, or Ansible says that it goes on. What
// the command failed of is something else then.
//
//	fetching schema (attempt 1): ETIMEDOUT, retrying
//	fetching schema (attempt 2): ok
//	Error: Cannot find module './src/targets'

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/retrysh/retry/engine/event"
)

// wentWell finds, in lower case, that a later try did.
var wentWell = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(?:attempt|try|retry) #?\d+(?: of \d+|/\d+)?\)?:?,? (?:is |was |has )?(?:ok|okay|succeeded|successful|connected|worked|done|passed)\b` +
		`|\b(?:ok|okay|succeeded|success|successful|connected|worked|passed|recovered) (?:on|at|after|in|with) (?:the )?(?:#?\d+ |\w+ )?(?:attempts?|try|tries|retry|retries)\b` +
		`|\bretried, ok\b|\breconnected\b|\(ignored\)|\bretry (?:ok|succeeded|worked|was successful)\b` +
		`|\n\.\.\.ignoring\b`)
})

// overcome reports whether the finding is of a failure that passes, and the same
// stream says behind it that it was overcome.
func (f *finding) overcome(out *output) bool {
	if f.rule.Verdict != event.Transient || !f.rule.builtIn || f.line < 0 {
		return false
	}
	_, first := out.line(f.line)
	from := min(f.line+f.rule.matchEnd(f.match.Line), first)
	to := len(out.lower)
	if from < out.stderr {
		to = out.stderr
	}
	rest := out.lower[from:to]
	if !holds(rest, "attempt", "retr", "try ", "tries", "reconnected", "ignor") {
		return false
	}
	return slices.ContainsFunc(wentWell().FindAllStringIndex(rest, -1), func(at []int) bool {
		return !strings.HasSuffix(rest[:at[0]], "not ")
	})
}
