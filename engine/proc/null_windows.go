package proc

// This file knows the null device.

import "golang.org/x/sys/windows"

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
