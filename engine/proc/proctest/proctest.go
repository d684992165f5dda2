// Package proctest runs the tests of a package that starts processes in a
// session of their own, so that neither the terminal, nor the dispositions, nor
// the open files of their parent decide what they see. Only tests import it. It knows
// nothing of the program, and it never changes a process that it did not start.
package proctest

import "os"

// M is what Run needs of a testing.M.
type M interface{ Run() int }

// inside marks the environment of the tests that run in the session. Set by
// hand it keeps them where they are, under a debugger say.
const inside = "PROCTEST_INSIDE"

// Run runs the tests of m and returns their exit code. Where the process has a
// controlling terminal, or a signal is ignored or blocked, it runs the test
// binary again as the leader of a new session, with every signal at its
// default action and none blocked: that one runs the tests, and this one passes
// on what asks it to end. No process that the tests start inherits another
// descriptor than the standard ones from this one's parent.
func Run(m M) int {
	closeOnExec()
	if _, set := os.LookupEnv(inside); set {
		_ = os.Unsetenv(inside) // what the tests start decides for itself
		return m.Run()
	}
	if !exposed() {
		return m.Run()
	}
	return again()
}
