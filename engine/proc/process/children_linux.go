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
// task/TID/children), which orphans become: two dozen microseconds, where a table of all
// processes takes a millisecond and more. It stays open, and is read without garbage: a
// chain of processes that fork a successor and exit is as fast as a look.
type childList struct {
	fd   int // -1 where the kernel keeps no such list
	line [4 << 10]byte
	pids []int
}

func openChildList() *childList {
	fd, err := unix.Open("/proc/self/task/"+strconv.Itoa(unix.Getpid())+"/children", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		fd = -1
	}
	return &childList{fd: fd}
}

func (c *childList) close() { _ = unix.Close(c.fd) }

// read returns the children that are there now, zombies as well: the first few hundred.
// The result is good until the next call.
func (c *childList) read() []int {
	c.pids = c.pids[:0]
	n, err := unix.Pread(c.fd, c.line[:], 0)
	if err != nil || n <= 0 {
		return nil
	}
	whole := c.line[:bytes.LastIndexByte(c.line[:n], ' ')+1] // a number may be cut at the end
	for field := range bytes.FieldsSeq(whole) {
		if pid, err := strconv.Atoi(string(field)); err == nil {
			c.pids = append(c.pids, pid)
		}
	}
	return c.pids
}

// probeChildren returns the children that the kernel admits to when it is asked of each
// pid there can be, without /proc: those from first, the command, on that are likely, and
// all others only where none but first is among these. A process gets the next free pid,
// so what a child starts is most likely found soon after it.
func probeChildren(first int) (pids []int) {
	const (
		pidLimit = 1 << 22 // PID_MAX_LIMIT of linux/threads.h
		likely   = 1 << 16
	)
	probe := func(from, to int) {
		for pid := from; pid < to; pid++ {
			if _, err := look(idPid, pid, unix.WEXITED|unix.WSTOPPED); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	if !LivingChildren() {
		return nil
	}
	probe(max(first, 1), first+likely)
	if first > 0 && slices.ContainsFunc(pids, func(pid int) bool { return pid != first }) {
		return pids
	}
	probe(first+likely, pidLimit)
	probe(1, first)
	return pids
}

// LivingChildren reports whether any child is alive. A zombie is passed over
// where exits are not asked for, so that ECHILD means that all have ended; and
// since orphans come to a subreaper, no child means no descendant.
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
