package proc

import "golang.org/x/sys/windows"

// ForegroundTerminal is false: a process has no terminal of its own here.
func ForegroundTerminal() bool { return false }

// EnoughFiles has no limit to look at here.
func EnoughFiles(Config, int, int) error { return nil }

// besideOthers reports false: there are no jobs here.
func besideOthers() bool { return false }

// EditsLines reports false: what a console program does with its screen cannot
// be seen from outside.
func EditsLines(int) bool { return false }

// ShowsColors switches on that a console obeys escape sequences, which it prints
// otherwise (learn.microsoft.com, "Console Virtual Terminal Sequences"), and
// reports whether it does. What is not a console reports false.
func ShowsColors(fd int) bool {
	var mode uint32
	console := windows.Handle(fd)
	if windows.GetConsoleMode(console, &mode) != nil {
		return false
	}
	return windows.SetConsoleMode(console, mode|windows.ENABLE_PROCESSED_OUTPUT|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
