package classify

// This file hears that a finding is a consequence of what a line above says: data
// is damaged that did not come in full, a client gives up on a server that it does
// not trust.

import (
	"slices"

	"github.com/retrysh/retry/engine/event"
)

// The rules for data that is damaged and for a certificate that is not trusted,
// both of them plain.
const (
	damaged   = "integrity"
	untrusted = "tls-trust"
)

// inVain are the rules for what a client says after it gave up: a deadline passed,
// the LDAP server could not be contacted.
var inVain = []string{"net-timeout", "ldap-transient"}

// explained reports whether the finding is that data is damaged, and a line above
// says that something was not to be had over the network; or that a client gave up,
// and a line above says that the certificate is not trusted.
func (f *finding) explained(found []finding) bool {
	return f.rule.builtIn && slices.ContainsFunc(found, func(g finding) bool {
		if g.strength < Plain || g.line < 0 || g.line >= f.line {
			return false
		}
		return f.rule.ID == damaged && g.rule.Verdict == event.Transient || g.rule.ID == untrusted && slices.Contains(inVain, f.rule.ID)
	})
}
