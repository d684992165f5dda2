//go:build unix

package proc

// This file looks at standard input.

import (
	"os"

	"golang.org/x/sys/unix"
)

// InputUsedUp reports whether standard input is a file that has been read to its
// end.
func InputUsedUp() bool {
	var st unix.Stat_t
	if unix.Fstat(0, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return false
	}
	offset, err := unix.Seek(0, 0, unix.SEEK_CUR)
	return err == nil && offset > 0 && offset >= st.Size
}

// InputState reports whether standard input has something to read, and whether it
// is a pipe that is empty and that no process writes to any more.
func InputState() (waiting, ended bool) {
	fds := []unix.PollFd{{Fd: 0, Events: unix.POLLIN}}
	if n, err := unix.Poll(fds, 0); n != 1 || err != nil {
		return false, false
	}
	waiting = fds[0].Revents&unix.POLLIN != 0
	return waiting, !waiting && fds[0].Revents&unix.POLLHUP != 0
}

// NullInput reports whether standard input is the null device, which any number
// of commands may read at once. (A descriptor that was closed at the start is:
// Go's runtime opens the device in its place.)
func NullInput() bool {
	var in, null unix.Stat_t
	return unix.Fstat(0, &in) == nil && unix.Stat(os.DevNull, &null) == nil &&
		in.Mode&unix.S_IFMT == unix.S_IFCHR && in.Rdev == null.Rdev
}
