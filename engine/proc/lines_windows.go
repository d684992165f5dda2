package proc

// This file looks how a console is used.

import "golang.org/x/sys/windows"

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
