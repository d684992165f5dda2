//go:build unix

package proc

// This file asks about terminals.

import (
	"slices"

	"golang.org/x/sys/unix"

	"github.com/retrysh/retry/engine/proc/stdio"
	"github.com/retrysh/retry/engine/proc/table"
)

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

// besideOthers reports whether processes of the job may write to the terminal that
// neither wait for this program nor belong to its command. The leader of a job is
// what a shell waits for.
func besideOthers() bool {
	self, group := unix.Getpid(), unix.Getpgrp()
	if self == group {
		return false
	}
	all, err := table.List()
	if err != nil {
		return false
	}
	parent := map[int]int{}
	for _, p := range all {
		parent[p.Pid] = p.Ppid
	}
	below := func(pid, above int) bool {
		for range len(parent) { // the table may change while it is read
			if pid == above || pid == 0 {
				break
			}
			pid = parent[pid]
		}
		return pid == above
	}
	return slices.ContainsFunc(all, func(p table.Process) bool {
		return p.Pgid == group && !p.Dead && !below(p.Pid, self) && !below(self, p.Pid)
	})
}

// EditsLines reports whether the terminal edits lines itself.
func EditsLines(fd int) bool { return stdio.EditsLines(fd) }

// ShowsColors reports true: a terminal obeys escape sequences.
func ShowsColors(int) bool { return true }
