package proc

// This file looks at what the program was started with: its console, its standard
// input and what it inherits.

import (
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

// The following have no counterpart here: a process has no terminal of its own and no
// job, what a console program does with its screen cannot be seen from outside, and a
// handle does not show what was read before.
func ForegroundTerminal() bool           { return false }
func besideOthers() bool                 { return false }
func InputUsedUp() bool                  { return false }
func InputState() (waiting, ended bool)  { return false, false }
func Umask(int) (before int)             { return 0o022 }
func EnoughFiles(Config, int, int) error { return nil }

// HandDown gives a process to be started a pipe, and returns its handle there.
func HandDown(attr *os.ProcAttr, pipe *os.File) uintptr {
	h := pipe.Fd()
	_ = windows.SetHandleInformation(windows.Handle(h), windows.HANDLE_FLAG_INHERIT, windows.HANDLE_FLAG_INHERIT)
	attr.Sys = &syscall.SysProcAttr{AdditionalInheritedHandles: []syscall.Handle{syscall.Handle(h)}}
	return h
}

// HandedDown is the pipe in the process that was started. No other gets it.
func HandedDown(number uintptr) *os.File {
	_ = windows.SetHandleInformation(windows.Handle(number), windows.HANDLE_FLAG_INHERIT, 0)
	return os.NewFile(number, "result")
}

// ShowsColors switches on that a console obeys escape sequences, which it prints
// otherwise (learn.microsoft.com, "Console Virtual Terminal Sequences"), and
// reports whether it does. What is not a console reports false.
func ShowsColors(fd int) bool {
	var mode uint32
	console := windows.Handle(fd)
	if windows.GetConsoleMode(console, &mode) != nil {
		return false
	}
	return windows.SetConsoleMode(console,
		mode|windows.ENABLE_PROCESSED_OUTPUT|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}

// NullInput reports whether standard input is NUL, which any number of commands
// may read at once: a character device that is not a console. A handle that is
// missing gives no input either.
func NullInput() bool {
	in, err := windows.GetStdHandle(windows.STD_INPUT_HANDLE)
	if err != nil || in == 0 {
		return true
	}
	kind, err := windows.GetFileType(in)
	return err == nil && kind == windows.FILE_TYPE_CHAR && windows.GetConsoleMode(in, new(uint32)) != nil
}
