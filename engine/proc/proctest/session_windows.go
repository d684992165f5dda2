package proctest

// exposed is false: there are no sessions and no dispositions here.
func exposed() bool { return false }

func again() int { return 1 }
