package reap

// This file looks at children without reaping them, through waitid(2), which
// Go's own library calls in the same way here.

import (
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/retrysh/retry/engine/proc/table"
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

func HasEnded(pid int) bool {
	info, err := waitid(idPid, pid, waitExited|waitLook|unix.WNOHANG)
	return err != nil || info.pid != 0
}

// LivingChildren cannot be told from the children alone here.
func LivingChildren() bool { return true }

// AwaitUntil does not wait: there are no descriptors of processes here, and a
// queue for one would cost what it saves.
func AwaitUntil(int, time.Duration) (Ending, bool) { return Ending{}, false }

// Look returns how a child has ended, and whether it has. It leaves it unreaped
// where its pid still names a process group that may have to be ended; in the
// program's own group, where the caller needs to know the signal, it reaps it at
// once.
func Look(pid int, own bool) (Ending, bool) {
	info, err := waitid(idPid, pid, waitExited|waitLook|unix.WNOHANG)
	switch {
	case err != nil:
		return Ending{Err: err}, true
	case info.pid == 0:
		return Ending{}, false
	case own:
		return takeEarly(pid), true
	}
	return Ending{}, true
}

// StoppedBy returns what has stopped a child, once for each time.
func StoppedBy(pid int) (syscall.Signal, bool) {
	info, err := waitid(idPid, pid, waitStopped|waitLook|unix.WNOHANG)
	if err != nil || info.pid == 0 {
		return 0, false
	}
	how, stopped, _ := poll(pid)
	return how.Signal, stopped
}

// StandsStill reports whether a child is stopped.
func StandsStill(pid int) bool {
	p, ok := table.Stat(pid)
	return ok && p.Stopped
}

// takeEarly takes the status of an owned child before its owner is done with it.
func takeEarly(pid int) Ending {
	mu.Lock()
	defer mu.Unlock()
	how, taken := early[pid]
	if !taken {
		how = wait4(pid)
		early[pid] = how
	}
	return how
}
