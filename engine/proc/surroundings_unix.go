//go:build unix

package proc

// This file looks at what the program was started with: its terminal, its job, its
// standard input, what it inherits and the limit of open files.

import (
	"fmt"
	"os"
	"slices"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/retrysh/retry/engine/proc/process"
	"github.com/retrysh/retry/engine/proc/signals"
	"github.com/retrysh/retry/engine/proc/stdio"
)

// ForegroundTerminal reports whether the program is in the foreground process
// group of its controlling terminal, so that the terminal's signals reach it.
// If /dev/tty cannot be opened, the standard descriptors are asked, but not after
// ENXIO: then there is no controlling terminal.
func ForegroundTerminal() bool {
	foreground, _ := lookAtTerminal()
	return foreground
}

// lookAtTerminal is ForegroundTerminal. none says that there is no controlling terminal: the
// program opens none, so there will be none later.
func lookAtTerminal() (foreground, none bool) {
	fd, err := openTTY()
	switch err {
	case nil:
		defer func() { _ = unix.Close(fd) }()
		return inForeground(fd), false
	case unix.ENXIO:
		return false, true
	}
	return inForeground(0) || inForeground(1) || inForeground(2), false
}

func openTTY() (fd int, err error) {
	return unix.Open("/dev/tty", unix.O_RDONLY|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
}

// console is the controlling terminal of a run.
type console struct {
	none atomic.Bool // there is none
	had  atomic.Bool // the program was in its foreground
}

// hasForeground reports whether the program is in the foreground of its terminal, which it
// takes back first if it can.
func (c *console) hasForeground() bool {
	if c.none.Load() {
		return false
	}
	if c.had.Load() {
		c.takeBack()
	}
	foreground, none := lookAtTerminal()
	if none {
		c.none.Store(true)
	}
	if foreground {
		c.had.Store(true)
	}
	return foreground
}

// takeBack makes the program's process group that of the foreground again if the group to
// which a command gave the terminal, as an interactive shell does, is gone. Nobody else
// would get Ctrl-C and Ctrl-Z.
func (c *console) takeBack() {
	fd, err := openTTY()
	if err != nil {
		return
	}
	defer func() { _ = unix.Close(fd) }()
	group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	if err != nil || group <= 1 || group == unix.Getpgrp() || unix.Kill(-group, 0) != unix.ESRCH {
		return
	}
	signals.WithoutTTOU(func() { _ = unix.IoctlSetPointerInt(fd, unix.TIOCSPGRP, unix.Getpgrp()) })
}

// underJobControl reports whether a shell with job control has started the
// program as a job: it is in the same session, and in another process group. A
// shell that runs a script keeps its children in its own group, and does not
// notice that one has stopped.
func underJobControl() bool {
	parent := unix.Getppid()
	session, _ := unix.Getsid(parent) // no session if there is no such process
	own, _ := unix.Getsid(0)
	group, err := unix.Getpgid(parent)
	return err == nil && session == own && group != unix.Getpgrp()
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
	all, err := process.List()
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
	return slices.ContainsFunc(all, func(p process.Entry) bool {
		return p.Pgid == group && !p.Dead && !below(p.Pid, self) && !below(self, p.Pid)
	})
}

// ShowsColors reports true: a terminal obeys escape sequences.
func ShowsColors(int) bool { return true }

// Umask sets the mask for new files, and returns the one before.
func Umask(mask int) (before int) { return unix.Umask(mask) }

// HandDown gives a process to be started a pipe, and returns its number there.
func HandDown(attr *os.ProcAttr, pipe *os.File) uintptr {
	attr.Files = append(attr.Files, pipe)
	return uintptr(len(attr.Files) - 1)
}

// HandedDown is the pipe in the process that was started. No other gets it.
func HandedDown(number uintptr) *os.File {
	unix.CloseOnExec(int(number))
	return os.NewFile(number, "result")
}

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

// What a run needs at the most, beside what its streams take: the three standard
// streams, two for the runtime's timers (epoll_create(2), eventfd(2)), and two
// for a moment (the pipe of a fork, a look into /proc).
const filesOfARun = 3 + 2 + 2

// filesPlenty is a limit below which those that are open already are counted,
// which takes a system call each.
const filesPlenty = 256

// EnoughFiles returns an error if fewer files may be open than attempts under cfg
// need and the others that the run opens: Go's runtime answers that with its
// stacks when it cannot have its own. reads is how many of the command's outputs
// are read.
func EnoughFiles(cfg Config, reads, others int) error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil || limit.Cur >= filesPlenty {
		return nil
	}
	open := 0
	for fd := 3; fd < int(limit.Cur); fd++ {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil {
			open++
		}
	}
	needed := open + filesOfARun + filesOfStreams(cfg, reads) + others
	if needed <= int(limit.Cur) {
		return nil
	}
	already := ""
	if open > 0 {
		already = fmt.Sprintf(" since %d are open already", open)
	}
	return fmt.Errorf("the limit of open files is %d, at least %d are needed%s (ulimit -n)", limit.Cur, needed, already)
}

// filesOfStreams is how many files the streams of an attempt take: a pipe for
// each that is read or held or replayed, one more to wake what waits for them, and
// a file for what is kept.
func filesOfStreams(cfg Config, reads int) int {
	held, kept := 0, 0
	for _, mode := range []stdio.OutputMode{cfg.Stdout, cfg.Stderr} {
		switch mode {
		case stdio.Hold:
			held++
		case stdio.OnFailure:
			held++
			kept++ // that of the attempt before
		}
	}
	files, pipes := held+kept, max(held, reads)
	if cfg.Stdin != stdio.Inherit {
		files++
	}
	if cfg.Stdin == stdio.Replay {
		pipes++
	}
	if pipes > 0 {
		pipes++
	}
	return files + 2*pipes
}
