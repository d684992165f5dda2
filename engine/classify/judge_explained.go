package classify

// This file hears that a finding is a consequence of what a line above says: data
// is damaged that did not come in full, a client gives up on a server that it does
// not trust, the next step of a script misses what was not fetched.

import (
	"slices"
	"strings"

	"github.com/retrysh/retry/engine/event"
)

// damaged is the rule for data that is damaged. It is plain, as those are that are
// named below.
const damaged = "integrity"

// untrusted are the rules for a handshake that failed for good, and inVain those for
// what a client says after it: a deadline passed, the connection was reset, the LDAP
// server could not be contacted.
var (
	untrusted = []string{"tls-trust", "tls-protocol"}
	inVain    = []string{"net-timeout", "net-reset", "ldap-transient"}
)

// explained reports whether the finding is a consequence of what a line above says:
// that data is damaged, of something that was not to be had over the network; that a
// client gave up, of a certificate that is not trusted or of TLS that is not spoken;
// that a file is missing or of no use to the next step of a script; and in Python any
// refusal that came up while a failure of the network was handled.
func (f *finding) explained(found []finding, out *output) bool {
	return f.rule.builtIn && slices.ContainsFunc(found, func(g finding) bool {
		if g.strength < Plain || g.line < 0 || g.line >= f.line {
			return false
		}
		if g.rule.Verdict == event.Transient && f.rule.Verdict == event.Permanent {
			return f.rule.ID == damaged || f.rule.general() && (strings.Contains(out.lower[g.line:f.line], whileHandling) || f.isOfInput() && isNextStep(out.lower[f.line:]))
		}
		return slices.Contains(untrusted, g.rule.ID) && slices.Contains(inVain, f.rule.ID)
	})
}

// steps are the tools by which scripts go on with what they fetched, or clean up.
var steps = []string{"mv", "rm", "tar", "gunzip", "unzip"}

// isNextStep recognises a line by one of them.
func isNextStep(line string) bool {
	name, _, _ := strings.Cut(line, ": ")
	return slices.Contains(steps, name)
}

// whileHandling is what Python prints between an exception and one that came up in
// its handler; see PEP 3134.
const whileHandling = "\nduring handling of the above exception, another exception occurred:"
