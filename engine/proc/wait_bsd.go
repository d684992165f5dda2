//go:build darwin || freebsd

package proc

// This file knows how a status says that a child has stopped, and what children
// this program has.

import "os"

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
