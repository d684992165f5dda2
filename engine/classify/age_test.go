package classify

import (
	"testing"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/event"
)

// An old lock is permanent, a young one transient. Where the age is unknown, the rule
// decides.
func TestLocksHaveAnAge(t *testing.T) {
	now := time.Date(2026, 3, 1, 8, 0, 30, 0, time.UTC)
	for _, c := range []struct {
		name, output string
		want         event.Verdict
	}{
		{"no time", "error: could not acquire the lock\n", event.Transient},
		{"seconds ago", "unable to create lock: repository is locked by PID 1\nlock was created at 2026-03-01 07:59:12 (48.2s ago)\n", event.Transient},
		{"days ago", "unable to create lock: repository is locked by PID 1\nlock was created at 2026-02-25 02:00:01 (78h12m9s ago)\n", event.Permanent},
		{"days ago, above", "Last lock taken 3 days ago by ci@x\ncould not obtain the lock\n", event.Permanent},
		{"an hour ago", "could not obtain the lock, taken an hour ago\n", event.Transient},
		{"about an hour ago", "could not obtain the lock, taken about an hour ago\n", event.Transient},
		{"two years ago", "could not obtain the lock, taken 2 years ago\n", event.Permanent},
		{"an hour and a second ago", "could not obtain the lock, taken 1h1s ago\n", event.Permanent},
		{"two hours and more", "could not obtain the lock, taken 2 hours, 3 minutes ago\n", event.Permanent},
		{"a lease", "failed to get lease: lease currently held by a, expires at 2025-08-03T11:02:41Z\n", event.Transient},
		{"minutes and seconds", "Another app is currently holding the yum lock; waiting for it to exit...\n  Started: Sun Mar  1 10:02:19 2020 - 00:41 ago\n", event.Transient},
		{"hours, minutes and seconds", "Another app is currently holding the yum lock; waiting for it to exit...\n  Started: Sun Mar  1 05:57:19 2026 - 2:03:11 ago\n", event.Permanent},
		{"a zone", "Error acquiring the state lock\nLock Info:\n  ID: 9\n  Who: ci@x\n  Created:   2026-03-01 05:00:00.5 +0000 UTC\n", event.Permanent},
		{"a zone, young", "Error acquiring the state lock\nLock Info:\n  ID: 9\n  Who: ci@x\n  Created:   2026-03-01 08:00:00.5 +0000 UTC\n", event.Transient},
		{"another zone", "Error acquiring the lock\ncreated: 2026-03-01T13:30:00+05:30\n", event.Transient},
		{"no zone, and less than zones are apart", "Could not acquire change log lock.  Currently locked by a (10.2.3.4) since 3/1/26, 1:59 AM\n", event.Transient},
		{"no zone, days", "Could not acquire change log lock.  Currently locked by a (10.2.3.4) since 2/20/26, 3:14 AM\n", event.Permanent},
		{"the future", "could not obtain the lock, held since 2027-01-01\n", event.Transient},
		{"another date", "could not obtain the lock\nversion 1.2 of 2019-01-01\n", event.Transient},
		{"too far away", "could not obtain the lock\n\n\n\n\n\n\n\n\n\n\n\n\n\ncreated 2019-01-01\n", event.Transient},
	} {
		f := Failure{Argv: []string{"x"}, Result: attempt.Result{ExitCode: 1}, Stderr: []byte(c.output), Now: now}
		if j := BuiltIn().Judge(f); j.Verdict != c.want {
			t.Errorf("%s: %s by %q (%s), want %s", c.name, j.Verdict, j.Rule, j.Reason, c.want)
		}
		f.Now = time.Time{}
		if j := BuiltIn().Judge(f); j.Verdict != event.Transient {
			t.Errorf("%s, at no time: %s by %q", c.name, j.Verdict, j.Rule)
		}
	}
}
