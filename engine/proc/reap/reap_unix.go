//go:build unix

package reap

// This file forks and reaps.

import (
	"errors"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/retrysh/retry/engine/proc/table"
)

// Child is a child that has an owner, who waits for it.
type Child struct {
	pid   int
	moved chan struct{}
}

// Pid is its process id, and until it is reaped no other process's.
func (c *Child) Pid() int { return c.pid }

// Moved has a token when the state of some child may have changed (Listen).
func (c *Child) Moved() <-chan struct{} { return c.moved }

// What this process knows of its children.
var (
	mu     sync.Mutex // a leaf; held over fork and entry, so that no status is lost
	owned  []*Child
	early  = map[int]Ending{} // those of owned whose status has been taken already
	adopts bool               // the program is a child subreaper

	listening sync.Once
)

// Adopt makes the orphans of whatever is forked from now on come here, where the
// system can do that.
func Adopt() {
	mu.Lock()
	defer mu.Unlock()
	adopts = adopts || becomeSubreaper()
}

// Adopting reports whether orphans come here.
func Adopting() bool {
	mu.Lock()
	defer mu.Unlock()
	return adopts
}

// Listen sends the owners a token when the state of a child changes, and reaps
// orphans as they end, from now on.
func Listen() {
	listening.Do(func() {
		// A token that waits stands for all that has changed until it is taken.
		changed := make(chan os.Signal, 1)
		signal.Notify(changed, syscall.SIGCHLD)
		go func() {
			for range changed {
				Orphans()
				notifyOwners()
			}
		}()
	})
}

// notifyOwners sends the owners a token: the state of some child has changed.
func notifyOwners() {
	mu.Lock()
	defer mu.Unlock()
	for _, c := range owned {
		select {
		case c.moved <- struct{}{}:
		default: // there is a token already
		}
	}
}

// Fork starts a child and enters it. inherit are descriptors that it gets though
// they are close-on-exec.
func Fork(path string, argv []string, attr *syscall.ProcAttr, inherit []uintptr) (*Child, error) {
	mu.Lock()
	defer mu.Unlock()
	for _, fd := range inherit {
		_, _ = unix.FcntlInt(fd, unix.F_SETFD, 0)
	}
	pid, err := syscall.ForkExec(path, argv, attr)
	for _, fd := range inherit {
		_, _ = unix.FcntlInt(fd, unix.F_SETFD, unix.FD_CLOEXEC)
	}
	if err != nil {
		return nil, err
	}
	c := &Child{pid: pid, moved: make(chan struct{}, 1)}
	owned = append(owned, c)
	return c, nil
}

// Owned returns the children that have an owner.
func Owned() (pids []int) {
	mu.Lock()
	defer mu.Unlock()
	for _, c := range owned {
		pids = append(pids, c.pid)
	}
	return pids
}

// isOwned reports whether a child has an owner; mu is held.
func isOwned(pid int) bool {
	return slices.ContainsFunc(owned, func(c *Child) bool { return c.pid == pid })
}

// Reap takes the status of a child that has ended, and gives its pid away. Then it
// reaps the orphans that the child hid: a look at all children always shows the
// first that ended.
func Reap(c *Child) Ending {
	mu.Lock()
	how, taken := early[c.pid]
	if !taken {
		how = wait4(c.pid)
	}
	delete(early, c.pid)
	owned = slices.DeleteFunc(owned, func(other *Child) bool { return other == c })
	mu.Unlock()
	Orphans()
	return how
}

// Orphans reaps all orphans that have ended. A process that does not adopt has
// none: its other children belong to the program that it ran before.
func Orphans() {
	mu.Lock()
	defer mu.Unlock()
	if !adopts && os.Getpid() != 1 {
		return
	}
	pid := endedChild()
	for ; pid != 0 && !isOwned(pid); pid = endedChild() {
		if wait4(pid).Err != nil { // it would be asked for again and again
			return
		}
	}
	if pid == 0 {
		return
	}
	// A child that has an owner hides those behind it.
	list := openChildList()
	defer list.close()
	for _, pid := range list.read() {
		if !isOwned(pid) {
			_ = wait4(pid)
		}
	}
}

// Orphan reaps one child, if it has ended and has no owner.
func Orphan(pid int) {
	mu.Lock()
	defer mu.Unlock()
	if !isOwned(pid) {
		_ = wait4(pid)
	}
}

// idleRounds is how often KillOrphans looks again without finding anything new.
const idleRounds = 20

// KillOrphans kills every child that has no owner, and what it has started
// meanwhile, as fast as it can. What forks a successor and exits, again and
// again, is gone when a table of all processes has been read; but its successor
// is an orphan, and those the kernel lists apart.
func KillOrphans() {
	mu.Lock()
	defer mu.Unlock()
	list := openChildList()
	defer list.close()
	killed := map[int]bool{}
	for idle := 0; idle < idleRounds; idle++ {
		for _, pid := range list.read() {
			if isOwned(pid) {
				continue
			}
			if err := syscall.Kill(pid, syscall.SIGKILL); err == nil && !killed[pid] {
				killed[pid], idle = true, 0
			}
			_ = wait4(pid)
		}
	}
}

// wait4 takes the status of a child that has ended.
func wait4(pid int) Ending {
	var status syscall.WaitStatus
	for {
		got, err := syscall.Wait4(pid, &status, syscall.WNOHANG, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return Ending{Err: os.NewSyscallError("wait4", err)}
		case got != pid:
			return Ending{Err: errNotEnded}
		case status.Signaled():
			return Ending{Signal: status.Signal()}
		default:
			return Ending{Code: status.ExitStatus()}
		}
	}
}

// errNotEnded says that a status was asked for too early.
var errNotEnded = errors.New("it has not ended")

// waitid calls waitid(2) again when it was interrupted.
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

// idPid is P_PID of sys/wait.h.
const idPid = 1

// look looks whether a child is in one of the states, without reaping it.
func look(pid, states int) (siginfo, error) {
	return waitid(idPid, pid, states|unix.WNOHANG|unix.WNOWAIT)
}

// HasEnded reports whether the child has ended, without reaping it.
func HasEnded(pid int) bool {
	info, err := look(pid, unix.WEXITED)
	return err != nil || info.pid != 0
}

// Look returns how a child has ended, and whether it has; it leaves it unreaped. On
// macOS the signal that ended it is known only where own says that the child is in the
// program's own process group.
func Look(pid int, own bool) (Ending, bool) {
	info, err := look(pid, unix.WEXITED)
	switch {
	case err != nil:
		return Ending{Err: err}, true
	case info.pid == 0:
		return Ending{}, false
	}
	return info.ending(own), true
}

// StoppedBy returns what has stopped a child, once for each time.
func StoppedBy(pid int) (syscall.Signal, bool) {
	info, err := waitid(idPid, pid, unix.WSTOPPED|unix.WNOHANG)
	return syscall.Signal(info.status), err == nil && info.pid != 0
}

// StandsStill reports whether a child is stopped.
func StandsStill(pid int) bool {
	info, err := look(pid, unix.WSTOPPED)
	if err == nil && info.pid != 0 {
		return true
	}
	p, ok := table.Stat(pid)
	return ok && p.Stopped
}
