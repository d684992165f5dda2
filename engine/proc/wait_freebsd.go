//go:build amd64 || arm64

package proc

// This file looks at children without reaping them, through wait6(2), and makes
// the program the reaper of its descendants, through procctl(2). Both take a
// 64-bit id_t, which is one argument of a system call on 64-bit systems only.

import (
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Values of idtype_t from sys/wait.h.
const (
	idPid   = 0
	idGroup = 2
	idAll   = 7
)

// wait6 calls wait6(2) again when it was interrupted. It returns pid 0 where
// there is nothing to tell.
func wait6(kind, id, options int) (pid int, status syscall.WaitStatus, err error) {
	for {
		var raw int32
		n, _, errno := syscall.Syscall6(syscall.SYS_WAIT6, uintptr(kind), uintptr(id), uintptr(unsafe.Pointer(&raw)), uintptr(options), 0, 0)
		switch errno {
		case 0:
			return int(n), syscall.WaitStatus(raw), nil
		case syscall.EINTR:
		default:
			return 0, 0, errno
		}
	}
}

// becomeSubreaper makes orphans come to this process (PROC_REAP_ACQUIRE). EBUSY
// says that they do already.
func becomeSubreaper() bool {
	const reapAcquire = 2 // sys/procctl.h
	_, _, errno := syscall.Syscall6(syscall.SYS_PROCCTL, idPid, uintptr(syscall.Getpid()), reapAcquire, 0, 0, 0)
	return errno == 0 || errno == syscall.EBUSY
}

// endedChild returns a child that has ended, 0 for none.
func endedChild() int {
	pid, _, err := wait6(idAll, 0, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT)
	if err != nil {
		return 0
	}
	return pid
}

// ended reports whether the child has ended, without reaping it.
func ended(pid int) bool {
	found, _, err := wait6(idPid, pid, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT)
	return err != nil || found != 0
}

// livingChildren reports whether any child is alive. A zombie is passed over
// where nobody asks for exits (kern_exit.c, proc_to_reap), so that ECHILD means
// that all have ended; and since orphans come here, no child means no descendant.
func livingChildren() bool {
	_, _, err := wait6(idAll, 0, unix.WSTOPPED|unix.WNOHANG|unix.WNOWAIT)
	return err == nil
}

// livingGroup is livingChildren for the children in one process group.
func livingGroup(pgid int) bool {
	_, _, err := wait6(idGroup, pgid, unix.WSTOPPED|unix.WNOHANG|unix.WNOWAIT)
	return err == nil
}

// awaitUntil does not wait: the command was not started with a descriptor to
// wait for, and a queue would cost what it saves.
func awaitUntil(int, time.Duration) (ending, bool) { return ending{}, false }

// lookAgain is how long a child that somebody else waits for, and that has
// ended, is given to be reaped.
const lookAgain = time.Millisecond

// awaitEnd blocks until the child has ended, and leaves it unreaped. Orphans
// are reaped meanwhile. Where stopped is not nil it is called each time the
// child has stopped.
func awaitEnd(pid int, stopped func(syscall.Signal)) (ending, error) {
	options := unix.WEXITED | unix.WNOWAIT
	if stopped != nil {
		options |= unix.WSTOPPED
	}
	for {
		found, status, err := wait6(idAll, 0, options)
		switch {
		case err != nil:
			return ending{}, err
		case status&stateMask == stateMask:
			// Taking the report away keeps the next wait from returning at once.
			_, _, _ = wait6(idPid, found, unix.WSTOPPED|unix.WNOHANG)
			if found == pid {
				stopped(syscall.Signal(status >> 8))
			}
		case found == pid && status.Signaled():
			return ending{signal: status.Signal()}, nil
		case found == pid:
			return ending{code: status.ExitStatus()}, nil
		case !children.reapOrphan(found):
			time.Sleep(lookAgain)
		}
	}
}

// awaitOwn blocks until one child has ended, and leaves it unreaped.
func awaitOwn(pid int) error {
	_, _, err := wait6(idPid, pid, unix.WEXITED|unix.WNOWAIT)
	return err
}

// standsStill reports whether a child is stopped.
func standsStill(pid int) bool {
	table, err := unix.SysctlRaw("kern.proc.pid", pid)
	if err != nil {
		return false
	}
	list, err := fromTable(table)
	return err == nil && len(list) == 1 && list[0].stopped
}
