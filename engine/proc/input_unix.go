//go:build unix

package proc

// This file looks whether standard input has been used up.

import "golang.org/x/sys/unix"

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
