package proc

// This file looks at children without reaping them, through waitid(2), which
// Go's own library calls in the same way here.

import (
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Values from sys/wait.h and sys/signal.h.
const (
	idAll, idPid, idGroup = 0, 1, 2

	waitExited  = 0x04
	waitStopped = 0x08
	waitLook    = 0x20
)

// siginfo is siginfo_t of sys/signal.h. Its status is of no use: it lacks the
// number of the signal that ended a process.
type siginfo struct {
	signo, errno, code, pid int32
	uid                     uint32
	status                  int32
	_                       [128]byte
}

func waitid(kind, id, options int) (siginfo, error) {
	var info siginfo
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, uintptr(kind), uintptr(id), uintptr(unsafe.Pointer(&info)), uintptr(options), 0, 0)
		switch errno {
		case 0:
			return info, nil
		case syscall.EINTR:
		default:
			return siginfo{}, errno
		}
	}
}

// becomeSubreaper is not possible here: orphans are launchd's.
func becomeSubreaper() bool { return false }

// endedChild knows of no orphans: there are none.
func endedChild() int { return 0 }

func ended(pid int) bool {
	info, err := waitid(idPid, pid, waitExited|waitLook|unix.WNOHANG)
	return err != nil || info.pid != 0
}

// livingChildren cannot be told from the children alone here.
func livingChildren() bool { return true }

// awaitUntil does not wait: there are no descriptors of processes here, and a
// queue for one would cost what it saves.
func awaitUntil(int, time.Duration) (ending, bool) { return ending{}, false }

// look returns how a child has ended, and whether it has. It leaves it unreaped
// where its pid still names a process group that may have to be ended; in the
// program's own group, where the caller needs to know the signal, it reaps it at
// once.
func look(pid int, own bool) (ending, bool) {
	info, err := waitid(idPid, pid, waitExited|waitLook|unix.WNOHANG)
	switch {
	case err != nil:
		return ending{err: err}, true
	case info.pid == 0:
		return ending{}, false
	case own:
		return children.takeEarly(pid), true
	}
	return ending{}, true
}

// stoppedBy returns what has stopped a child, once for each time.
func stoppedBy(pid int) (syscall.Signal, bool) {
	info, err := waitid(idPid, pid, waitStopped|waitLook|unix.WNOHANG)
	if err != nil || info.pid == 0 {
		return 0, false
	}
	how, stopped, _ := children.poll(pid)
	return how.signal, stopped
}

// standsStill reports whether a child is stopped.
func standsStill(pid int) bool {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	return err == nil && fromTable(k).stopped
}
