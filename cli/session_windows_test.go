package cli

import "testing"

// runInSession runs the tests. There are no sessions and no dispositions here, and a child
// inherits only the handles that it is given.
func runInSession(m *testing.M) int { return m.Run() }
