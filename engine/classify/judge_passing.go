package classify

// This file hears that a refusal passes: "not allowed in the current state", "no
// such node right now". Behind such words a vague refusal is none, and a plain one
// is vague.

import (
	"strings"

	"github.com/retrysh/retry/engine/event"
)

// passes takes one step from a general rule's permanent evidence on a line that
// speaks of a state that passes; ok is false where nothing is left of it.
func (f finding) passes(line string) (left finding, ok bool) {
	if !f.rule.general() || f.rule.Verdict != event.Permanent || f.strength == Decisive || !isPassing(line) {
		return f, true
	}
	f.strength--
	return f, f.strength >= Weak
}

// isPassing recognises a line that speaks of a state that passes.
func isPassing(line string) bool {
	return holds(line, passingWords...) || strings.HasSuffix(line, " yet")
}

// passingWords are the words for it.
var passingWords = []string{
	"right now", "at the moment", "momentar", "for now", " until ", "shortly", " yet.", " yet,", " yet:", " yet ready", " yet active", " yet answer",
	" is being ", " are being ", "already being", "still being", "currently being", "currently in ", "currently running", "in the current state", "concurrently",
	"resync", "failing over", "going down", "shutting down", "failover", "transition", "lagging", " stalled", "come back", "coming back", "try later", "exhausted", "throttl", "overload",
	"in progress", "propagat", "replication delay", "a pending ", "has pending ", "incompatible operation", "current status: ", "invalid state for ", " held by ", "synchronizing", "re-shard", "rebalanc", "leader",
}
