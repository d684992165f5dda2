package proctest

// Run runs the tests of m and returns their exit code. There are no sessions and no
// dispositions here, and a child inherits only the handles that it is given.
func Run(m M) int { return m.Run() }
