package proc

// InputUsedUp reports false: a handle does not show what was read before.
func InputUsedUp() bool { return false }

// InputEnded reports false.
func InputEnded() bool { return false }
