package process

// This file holds what Linux alone knows about children.

import (
	"bytes"
	"slices"
	"strconv"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// sysProcAttr asks the kernel to kill the command when this thread dies, which
// is when the program does.
func sysProcAttr(ownGroup bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: ownGroup, Pdeathsig: syscall.SIGKILL}
}

// pidField is the index of the pid in siginfo_t: it follows three integers, aligned as a
// pointer is.
const pidField = 2 + unsafe.Sizeof(uintptr(0))/4

// becomeSubreaper makes orphans come to this process.
func becomeSubreaper() bool {
	return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == nil
}

// childList is the kernel's list of the children of the program's first thread (proc(5),
// task/TID/children), which orphans become. To read it takes two dozen microseconds; a table
// of all processes takes a millisecond and more. It stays open, and is read without garbage:
// a chain of processes that fork a successor and exit is as fast as a look.
type childList struct {
	fd   int // -1 if the kernel keeps no such list
	line [4 << 10]byte
	pids []int
}

func openChildList() *childList {
	fd, _ := unix.Open("/proc/self/task/"+strconv.Itoa(unix.Getpid())+"/children", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	return &childList{fd: fd}
}

func (c *childList) close() { _ = unix.Close(c.fd) }

// read returns the children that are there now, zombies as well: the first few hundred.
// The result is good until the next call.
func (c *childList) read() []int {
	c.pids = c.pids[:0]
	n, err := unix.Pread(c.fd, c.line[:], 0)
	if err != nil {
		return nil
	}
	for rest := c.line[:n]; ; {
		number, more, whole := bytes.Cut(rest, []byte{' '})
		if !whole { // cut at the end
			return c.pids
		}
		pid, _ := strconv.Atoi(string(number))
		c.pids, rest = append(c.pids, pid), more
	}
}

// pidLimit is PID_MAX_LIMIT of linux/threads.h. A test does not look as far.
var pidLimit = 1 << 22

// nearPids is how far from the pid of a process those of its children are looked for first: a
// process gets the next free pid.
const nearPids = 1 << 16

// probeChildren returns the children that the kernel admits to when it is asked of each pid
// there can be, without /proc: with first, the command, only those near it if there are any.
func probeChildren(first int) []int {
	if !LivingChildren() {
		return nil
	}
	return probePids(first, nearPids, pidLimit, func(pid int) bool {
		_, err := look(idPid, pid, unix.WEXITED|unix.WSTOPPED)
		return err == nil
	})
}

// probePids returns the pids below limit that are children: if one other than first is within
// near behind it only those, and all if first is 0.
func probePids(first, near, limit int, isChild func(pid int) bool) (pids []int) {
	probe := func(from, to int) {
		for pid := from; pid < to; pid++ {
			if isChild(pid) {
				pids = append(pids, pid)
			}
		}
	}
	behind := min(first+near, limit)
	probe(max(first, 1), behind)
	if first != 0 && slices.ContainsFunc(pids, func(pid int) bool { return pid != first }) {
		return pids
	}
	probe(behind, limit)
	probe(1, first)
	return pids
}

// LivingChildren reports whether any child is alive. It does not ask for exits, so
// that the kernel passes over zombies: ECHILD means that all have ended. Since
// orphans come to a subreaper, no child means no descendant.
func LivingChildren() bool {
	if childless.Load() && unix.Getpid() != 1 { // PID 1 gets orphans of others
		return false
	}
	return living(idAll, 0)
}

// livingGroup is LivingChildren for the children in one process group.
func livingGroup(pgid int) bool { return living(idGroup, pgid) }

func living(kind, id int) bool {
	_, err := look(kind, id, unix.WSTOPPED)
	return err == nil
}

// AwaitUntil waits until the leader has ended, at most for limit, and reports whether it
// has. It may return early: a signal is a reason to.
func (t *Tree) AwaitUntil(limit time.Duration) bool {
	fd, err := unix.PidfdOpen(t.leader, 0)
	if err != nil { // Linux before 5.3
		return false
	}
	timeout := unix.NsecToTimespec(int64(limit))
	_, _ = unix.Ppoll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, &timeout, nil)
	_ = unix.Close(fd)
	return t.HasEnded()
}
