package reap

// This file holds what macOS alone knows about children.

import (
	"os"
	"syscall"
	"time"

	"github.com/retrysh/retry/engine/proc/table"
)

// siginfo is siginfo_t of sys/signal.h.
type siginfo struct {
	signo, errno, code, pid int32
	uid                     uint32
	status                  int32
	_                       [128]byte
}

// ending returns how a child has ended. waitid(2) gives a stopped child's signal in
// the status, and not the one that ended a child (xnu, kern_exit.c). So in the
// program's own group, where the caller needs to know it, the child is reaped early.
// Elsewhere its pid still names a process group that may have to be ended.
func (i *siginfo) ending(own bool) Ending {
	if !own {
		return Ending{}
	}
	mu.Lock()
	defer mu.Unlock()
	pid := int(i.pid)
	how, taken := early[pid]
	if !taken {
		how = wait4(pid)
		early[pid] = how
	}
	return how
}

// childList is the children of this program.
type childList struct{}

func openChildList() childList { return childList{} }
func (childList) close()       {}

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

// LivingChildren is not known from the children alone here.
func LivingChildren() bool { return true }

// Orphans are launchd's here.
func becomeSubreaper() bool   { return false }
func endedChild() int         { return 0 }
func ProbeChildren(int) []int { return nil }

// AwaitUntil does not wait: there are no descriptors of processes here, and a
// queue for one would cost what it saves.
func AwaitUntil(int, time.Duration) (Ending, bool) { return Ending{}, false }
