package proc

// InputUsedUp reports false: a handle does not show what was read before.
func InputUsedUp() bool { return false }

// InputState reports nothing.
func InputState() (waiting, ended bool) { return false, false }
