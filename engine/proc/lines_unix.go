//go:build unix

package proc

// This file looks how a terminal is used.

import "golang.org/x/sys/unix"

// EditsLines reports whether the terminal edits lines itself (termios(3),
// ICANON): programs that draw their own screen, or read key by key, switch that
// off.
func EditsLines(fd int) bool {
	mode, err := unix.IoctlGetTermios(fd, getTermios)
	return err == nil && mode.Lflag&unix.ICANON != 0
}

// ShowsColors reports true: a terminal obeys escape sequences.
func ShowsColors(int) bool { return true }
