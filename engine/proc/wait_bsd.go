//go:build darwin || freebsd

package proc

// This file knows how a status says that a child has stopped, and what children
// this program has.

import (
	"os"
	"syscall"
)

// stateMask has all its bits set in the status of a child that is stopped
// (sys/wait.h, _WSTOPPED). Go's own Stopped leaves out who was stopped by STOP.
const stateMask = 0x7f

// probeChildren finds none: orphans are not this program's here.
func probeChildren(int) []int { return nil }

// childList is the children of this program.
type childList struct{}

func openChildList() childList { return childList{} }

func (childList) close() {}

// read returns the children that are there now, zombies as well.
func (childList) read() (pids []int) {
	list, _ := processes()
	for _, p := range list {
		if p.ppid == os.Getpid() {
			pids = append(pids, p.pid)
		}
	}
	return pids
}

// livingGroup reports whether a process group has a member that is no zombie
// (kill(2): EPERM for zombies).
func livingGroup(pgid int) bool { return syscall.Kill(-pgid, 0) == nil }

// poll asks for a change in the state of an owned child: what has stopped it, or
// how it has ended, which is told again and again.
func (r *reaper) poll(pid int) (how ending, stopped, over bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if how, over = r.early[pid]; over {
		return how, false, true
	}
	var status syscall.WaitStatus
	got, err := syscall.Wait4(pid, &status, syscall.WNOHANG|syscall.WUNTRACED, nil)
	switch {
	case err == syscall.EINTR || err == nil && got == 0:
		return ending{}, false, false
	case err != nil:
		return ending{err: err}, false, true
	case status&stateMask == stateMask:
		return ending{signal: syscall.Signal(status >> 8)}, true, false
	case status.Signaled():
		how = ending{signal: status.Signal()}
	default:
		how = ending{code: status.ExitStatus()}
	}
	r.early[pid] = how
	return how, false, true
}
