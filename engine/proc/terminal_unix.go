//go:build unix

package proc

// This file asks about the controlling terminal.

import "golang.org/x/sys/unix"

// ForegroundTerminal reports whether the program is in the foreground process
// group of its controlling terminal, so that the terminal's signals reach it.
// Where /dev/tty cannot be opened for want of the file, the standard
// descriptors are asked.
func ForegroundTerminal() bool {
	fd, err := unix.Open("/dev/tty", unix.O_RDONLY|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err == nil {
		defer func() { _ = unix.Close(fd) }()
		return inForeground(fd)
	}
	if err == unix.ENXIO { // there is no controlling terminal
		return false
	}
	return inForeground(0) || inForeground(1) || inForeground(2)
}

func inForeground(fd int) bool {
	pgrp, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	return err == nil && pgrp == unix.Getpgrp()
}
