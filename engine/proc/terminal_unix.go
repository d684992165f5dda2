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

// underJobControl reports whether a shell with job control has started the
// program as a job: it is in the same session, and in another process group. A
// shell that runs a script keeps its children in its own group, and does not
// notice that one has stopped.
func underJobControl() bool {
	parent := unix.Getppid()
	session, err := unix.Getsid(parent)
	if err != nil {
		return false
	}
	own, err := unix.Getsid(0)
	if err != nil || session != own {
		return false
	}
	group, err := unix.Getpgid(parent)
	return err == nil && group != unix.Getpgrp()
}

func inForeground(fd int) bool {
	pgrp, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	return err == nil && pgrp == unix.Getpgrp()
}
