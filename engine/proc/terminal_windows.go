package proc

// ForegroundTerminal is false: a process has no terminal of its own here.
func ForegroundTerminal() bool { return false }

// EnoughFiles has no limit to look at here.
func EnoughFiles(Config, int, int) error { return nil }

// besideOthers reports false: there are no jobs here.
func besideOthers() bool { return false }
