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

// lastRecovery returns where a stream, in lower case, last says so, -1 for nowhere.
func lastRecovery(stream string) int {
	last := -1
	if !holds(stream, "attempt", "retr", "try ", "tries", "reconnected", "ignor") {
		return last
	}
	for _, at := range wentWell().FindAllStringIndex(stream, -1) {
		if !strings.HasSuffix(stream[:at[0]], "not ") {
			last = at[0]
		}
	}
	return last
}

// dropOvercome drops the findings of failures that pass of which the same stream says
// behind them that they were overcome.
func dropOvercome(found []finding, out *output) []finding {
	stdout := sync.OnceValue(func() int { return lastRecovery(out.lower[:out.stderr]) })
	stderr := sync.OnceValue(func() int { return lastRecovery(out.lower[out.stderr:]) + out.stderr })
	return slices.DeleteFunc(found, func(f finding) bool {
		if f.rule.Verdict != event.Transient || !f.rule.builtIn || f.line < 0 {
			return false
		}
		last := stderr
		if f.line < out.stderr {
			last = stdout
		}
		if last() < f.line {
			return false
		}
		_, end := out.line(f.line)
		return last() >= min(f.line+f.rule.matchEnd(f.match.Line), end)
	})
}
