package proctest

// exposed is false: there are no sessions and no dispositions here.
func exposed() bool { return false }

// closeOnExec does nothing: a child inherits the handles that it is given.
func closeOnExec() {}

func again() int { return 1 }
