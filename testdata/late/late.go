// Package late is for tests of time limits, on a machine that may be busy with others.
package late

import (
	"testing"
	"time"
)

// tries is how often a test is run before the machine is no excuse any more.
const tries = 20

// most is the longest limit that a test is given.
const most = 10 * time.Second

// Retry runs try, and again as long as the machine was too late for it. try gets a limit,
// which doubles each time, and reports by its own clock, or by how far the program got,
// that the limit was not kept. It fails the test for any other reason.
func Retry(t testing.TB, limit time.Duration, try func(limit time.Duration) (late bool)) {
	t.Helper()
	for range tries {
		if late := try(limit); !late || t.Failed() {
			return
		}
		t.Logf("the machine was late, with a limit of %v", limit)
		limit = max(limit, min(2*limit, most))
	}
	t.Errorf("the machine was late in each of %d tries", tries)
}
