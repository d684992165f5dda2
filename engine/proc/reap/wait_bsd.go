//go:build darwin || freebsd

package reap

// This file knows how a status says that a child has stopped, and what children
// this program has.

import (
	"os"
	"syscall"

	"github.com/retrysh/retry/engine/proc/table"
)

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
// how it has ended, which is told again and again.
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
