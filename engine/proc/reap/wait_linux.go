package reap

// This file holds what Linux alone knows about children.

import (
	"bytes"
	"strconv"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// siginfo is the kernel's siginfo_t as waitid(2) fills it: three integers, then
// a union that is aligned as a pointer is.
type siginfo struct {
	signo, errno, code int32
	_                  [unsafe.Sizeof(uintptr(0))/4 - 1]int32
	pid                int32
	uid                uint32
	status             int32
	_                  [128]byte
}

// cldExited is a value of siginfo.code for SIGCHLD, from uapi/asm-generic/siginfo.h.
const cldExited = 1

func (i *siginfo) ending(bool) Ending {
	if i.code == cldExited {
		return Ending{Code: int(i.status) & 0xff}
	}
	return Ending{Signal: syscall.Signal(i.status)}
}

// becomeSubreaper makes orphans come to this process.
func becomeSubreaper() bool {
	return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == nil
}

// endedChild returns a child that has ended, 0 for none.
func endedChild() int {
	info, err := waitid(unix.P_ALL, 0, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT)
	if err != nil {
		return 0
	}
	return int(info.pid)
}

// childList is the kernel's list of the children of the program's first thread
// (proc(5), task/TID/children), which orphans become: two dozen microseconds,
// where a table of all processes takes a millisecond and more.
type childList struct {
	fd   int // -1 where the kernel keeps no such list
	line [4 << 10]byte
	pids []int
}

func openChildList() *childList {
	self := strconv.Itoa(unix.Getpid())
	fd, err := unix.Open("/proc/self/task/"+self+"/children", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		fd = -1
	}
	return &childList{fd: fd}
}

func (c *childList) close() {
	if c.fd >= 0 {
		_ = unix.Close(c.fd)
	}
}

// read returns the children that are there now, zombies as well: the first few
// hundred. The result is good until the next call.
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

// ProbeChildren returns the children that the kernel admits to when it is asked
// of each pid there can be, without /proc: those from first on that are likely,
// and all others only where there are more. A process gets the next free pid, so
// what a child starts is most likely found soon after it.
func ProbeChildren(first int) (pids []int) {
	const (
		pidLimit = 1 << 22 // PID_MAX_LIMIT of linux/threads.h
		likely   = 1 << 16
	)
	probe := func(from, to int) {
		for pid := from; pid < to; pid++ {
			if _, err := look(pid, unix.WEXITED|unix.WSTOPPED); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	if !LivingChildren() {
		return nil
	}
	if probe(max(first, 1), first+likely); first > 0 && len(pids) > 1 {
		return pids // the one is the command itself
	}
	probe(first+likely, pidLimit)
	probe(1, first)
	return pids
}

// LivingChildren reports whether any child is alive. A zombie is passed over
// where exits are not asked for, so that ECHILD means that all have ended; and
// since orphans come to a subreaper, no child means no descendant.
func LivingChildren() bool {
	_, err := waitid(unix.P_ALL, 0, unix.WSTOPPED|unix.WNOHANG|unix.WNOWAIT)
	return err == nil
}

// LivingGroup is livingChildren for the children in one process group.
func LivingGroup(pgid int) bool {
	_, err := waitid(unix.P_PGID, pgid, unix.WSTOPPED|unix.WNOHANG|unix.WNOWAIT)
	return err == nil
}

// AwaitUntil waits until the child has ended, for limit at most, and reports
// whether it has; it leaves the child unreaped. It may return early: a signal
// is a reason to.
func AwaitUntil(pid int, limit time.Duration) (Ending, bool) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil { // Linux before 5.3
		return Ending{}, false
	}
	timeout := unix.NsecToTimespec(int64(limit))
	n, err := unix.Ppoll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, &timeout, nil)
	_ = unix.Close(fd)
	if err != nil || n <= 0 {
		return Ending{}, false
	}
	info, err := look(pid, unix.WEXITED)
	return info.ending(false), err == nil && int(info.pid) == pid
}
