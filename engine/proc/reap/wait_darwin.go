package reap

// This file looks at children without reaping them, through waitid(2), which
// Go's own library calls in the same way here.

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/retrysh/retry/engine/proc/table"
)

// siginfo is siginfo_t of sys/signal.h. Its status is of no use: it lacks the
// number of the signal that ended a process.
type siginfo struct {
	signo, errno, code, pid int32
	uid                     uint32
	status                  int32
	_                       [128]byte
}

// becomeSubreaper is not possible here: orphans are launchd's.
func becomeSubreaper() bool { return false }

// endedChild knows of no orphans: there are none.
func endedChild() int { return 0 }

// LivingChildren is not known from the children alone here.
func LivingChildren() bool { return true }

// AwaitUntil does not wait: there are no descriptors of processes here, and a
// queue for one would cost what it saves.
func AwaitUntil(int, time.Duration) (Ending, bool) { return Ending{}, false }

// Look returns how a child has ended, and whether it has. It leaves it unreaped
// where its pid still names a process group that may have to be ended; in the
// program's own group, where the caller needs to know the signal, it reaps it at
// once.
func Look(pid int, own bool) (Ending, bool) {
	info, err := look(pid, unix.WEXITED)
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
	info, err := look(pid, unix.WSTOPPED)
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

// stateMask has all its bits set in the status of a child that is stopped
// (sys/wait.h, _WSTOPPED). Go's own Stopped leaves out who was stopped by STOP.
const stateMask = 0x7f

// ProbeChildren finds none: orphans are not this program's here.
func ProbeChildren(int) []int { return nil }

// childList is the children of this program.
type childList struct{}

func openChildList() childList { return childList{} }

func (childList) close() {}

// read returns the children that are there now, zombies as well.
func (childList) read() (pids []int) {
	list, _ := table.List()
	for _, p := range list {
		if p.Ppid == os.Getpid() {
			pids = append(pids, p.Pid)
		}
	}
	return pids
}

// LivingGroup reports whether a process group has a member that is no zombie
// (kill(2): EPERM for zombies).
func LivingGroup(pgid int) bool { return syscall.Kill(-pgid, 0) == nil }

// poll asks for a change in the state of an owned child: what has stopped it, or
// how it has ended, which is returned again each time.
func poll(pid int) (how Ending, stopped, over bool) {
	mu.Lock()
	defer mu.Unlock()
	if how, over = early[pid]; over {
		return how, false, true
	}
	var status syscall.WaitStatus
	got, err := syscall.Wait4(pid, &status, syscall.WNOHANG|syscall.WUNTRACED, nil)
	switch {
	case err == syscall.EINTR || err == nil && got == 0:
		return Ending{}, false, false
	case err != nil:
		return Ending{Err: err}, false, true
	case status&stateMask == stateMask:
		return Ending{Signal: syscall.Signal(status >> 8)}, true, false
	case status.Signaled():
		how = Ending{Signal: status.Signal()}
	default:
		how = Ending{Code: status.ExitStatus()}
	}
	early[pid] = how
	return how, false, true
}
