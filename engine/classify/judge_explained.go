package classify

// This file hears that a finding is a consequence of what a line above says: data
// is damaged that did not come in full, a client gives up on a server that it does
// not trust.

import (
	"slices"

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

// explained reports whether the finding is that data is damaged, and a line above
// says that something was not to be had over the network; or that a client gave up,
// and a line above says that the certificate is not trusted or TLS not spoken.
func (f *finding) explained(found []finding) bool {
	return f.rule.builtIn && slices.ContainsFunc(found, func(g finding) bool {
		if g.strength < Plain || g.line < 0 || g.line >= f.line {
			return false
		}
		return f.rule.ID == damaged && g.rule.Verdict == event.Transient || slices.Contains(untrusted, g.rule.ID) && slices.Contains(inVain, f.rule.ID)
	})
}
