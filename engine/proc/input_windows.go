package proc

// This file looks at standard input.

import "golang.org/x/sys/windows"

// InputUsedUp reports false: a handle does not show what was read before.
func InputUsedUp() bool { return false }

// InputState reports nothing.
func InputState() (waiting, ended bool) { return false, false }

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
