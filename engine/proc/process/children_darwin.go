package process

// This file holds what macOS alone knows about children.

import (
	"os"
	"syscall"
	"time"
)

// sysProcAttr has no parent-death signal to ask for here.
func sysProcAttr(ownGroup bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: ownGroup}
}

// pidField is the index of the pid in siginfo_t (sys/signal.h).
const pidField = 3

type childList struct{}

func openChildList() childList { return childList{} }
func (childList) close()       {}

// read returns the children that are there now, zombies as well.
func (childList) read() (pids []int) {
	list, _ := List()
	for _, p := range list {
		if p.Ppid == os.Getpid() {
			pids = append(pids, p.Pid)
		}
	}
	return pids
}

// livingGroup reports whether a process group has a member that is no zombie
// (kill(2): EPERM for zombies).
func livingGroup(pgid int) bool { return syscall.Kill(-pgid, 0) == nil }

// LivingChildren is not known from the children alone here.
func LivingChildren() bool { return true }

// Orphans are launchd's here.
func becomeSubreaper() bool   { return false }
func probeChildren(int) []int { return nil }

// AwaitUntil does not wait: there are no descriptors of processes here, and a
// queue for one would cost what it saves.
func (*Tree) AwaitUntil(time.Duration) bool { return false }
