//go:build unix

package process

// This file forks children and reaps them.

import (
	"errors"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/retrysh/retry/engine/proc/stdio"
)

// What this process knows of its children.
var (
	mu      sync.Mutex        // a leaf; held over fork and entry, so that no status is lost
	trees   []*Tree           // from New to Close
	leaders = map[int]*Tree{} // of trees, from Start to Reap, by pid
	adopts  bool              // orphans come here: the program is a child subreaper

	// childless says that the program had no child when Orphans looked, and has started
	// none since.
	childless atomic.Bool

	listening sync.Once
)

// Listen sends the owners of trees a token when the state of a child changes, and reaps
// orphans as they end, from now on.
func Listen() {
	listening.Do(func() {
		// A token that waits stands for all that has changed until it is taken.
		changed := make(chan os.Signal, 1)
		signal.Notify(changed, syscall.SIGCHLD)
		go func() {
			for range changed {
				Orphans()
				mu.Lock()
				for _, t := range trees {
					select {
					case t.moved <- struct{}{}:
					default: // there is a token already
					}
				}
				mu.Unlock()
			}
		}()
	})
}

// Start starts argv as the leader, with the given descriptors as 0, 1 and 2, and inherit
// under their own numbers. The error is an *exitcodes.Error: 126, 127, or 125 if the
// system had no process to give.
func (t *Tree) Start(argv, env []string, files [3]stdio.File, inherit []uintptr) error {
	attr := &syscall.ProcAttr{
		Env: env, Files: []uintptr{uintptr(files[0]), uintptr(files[1]), uintptr(files[2])}, Sys: sysProcAttr(t.group),
	}
	return Each(argv, func(path string, argv []string) error {
		return t.fork(path, argv, attr, inherit)
	})
}

func (t *Tree) fork(path string, argv []string, attr *syscall.ProcAttr, inherit []uintptr) (err error) {
	mu.Lock()
	defer mu.Unlock()
	if !t.probe && !adopts {
		adopts = becomeSubreaper()
	}
	for _, fd := range inherit {
		_, _ = unix.FcntlInt(fd, unix.F_SETFD, 0)
	}
	childless.Store(false)
	if t.leader, err = syscall.ForkExec(path, argv, attr); err == nil {
		leaders[t.leader] = t
	}
	for _, fd := range inherit {
		_, _ = unix.FcntlInt(fd, unix.F_SETFD, unix.FD_CLOEXEC)
	}
	return err
}

// Pid is the leader's process id, until Reap no other process's.
func (t *Tree) Pid() int { return t.leader }

// Moved returns a channel that has a token when the leader's state may have changed.
func (t *Tree) Moved() <-chan struct{} {
	Listen()
	return t.moved
}

// HasEnded reports whether the leader has ended.
func (t *Tree) HasEnded() bool { return t.reaped || hasEnded(t.leader) }

// EndedBy returns what the leader, which has ended, exited with, or the signal that ended
// it, without reaping it: both are 0 if that is not known.
func (t *Tree) EndedBy() (code int, sig syscall.Signal) {
	found, _ := look(idPid, t.leader, unix.WEXITED)
	if found.code == exitedCode {
		return found.status, 0
	}
	return 0, syscall.Signal(found.status)
}

// Reap takes the status of the leader, which has ended, and gives its pid away. Then it
// reaps the orphans that the leader hid: a look at all children always shows the first
// that ended.
func (t *Tree) Reap() Ending {
	if !t.reaped {
		mu.Lock()
		t.ending, t.reaped = wait4(t.leader), true
		delete(leaders, t.leader)
		mu.Unlock()
		Orphans()
	}
	return t.ending
}

// StoppedBy returns what has stopped the leader, once for each time.
func (t *Tree) StoppedBy() (syscall.Signal, bool) {
	child, err := waitid(idPid, t.leader, unix.WSTOPPED)
	return syscall.Signal(child.status), err == nil && child.pid != 0
}

// IsStopped reports whether the leader is stopped.
func (t *Tree) IsStopped() bool {
	child, _ := look(idPid, t.leader, unix.WSTOPPED)
	p, _ := Stat(t.leader) // also after StoppedBy
	return !t.reaped && (child.pid != 0 || p.Stopped)
}

// Orphans reaps all orphans that have ended. A process that does not adopt has
// none: its other children belong to the program that it ran before.
func Orphans() {
	mu.Lock()
	defer mu.Unlock()
	if !adopts && os.Getpid() != 1 {
		return
	}
	endedChild := func() int {
		child, err := look(idAll, 0, unix.WEXITED)
		childless.Store(err == unix.ECHILD)
		return child.pid
	}
	pid := endedChild()
	for ; pid != 0 && leaders[pid] == nil; pid = endedChild() {
		if wait4(pid).Err != nil { // it would be asked for again and again
			return
		}
	}
	if pid == 0 {
		return
	}
	// A child that leads a tree hides those behind it.
	list := openChildList()
	defer list.close()
	for _, pid := range list.read() {
		if leaders[pid] == nil {
			_ = wait4(pid)
		}
	}
}

// killOrphans kills every child that leads no tree, and what it has started meanwhile, as
// fast as it can. What forks a successor and exits, again and again, is gone when a table
// of all processes has been read; but its successor is an orphan, and those the kernel
// lists apart.
func killOrphans() {
	mu.Lock()
	defer mu.Unlock()
	list := openChildList()
	defer list.close()
	killAll(list.read, func(pid int) bool {
		if leaders[pid] != nil {
			return false
		}
		err := syscall.Kill(pid, syscall.SIGKILL)
		_ = wait4(pid)
		return err == nil
	})
}

// idleRounds is how often killAll looks again without finding anything new.
const idleRounds = 20

// killAll calls kill, which reports whether it killed, for each pid that list returns, until
// there is no new one that it kills.
func killAll(list func() []int, kill func(pid int) bool) {
	killed := map[int]bool{}
	for idle := 0; idle < idleRounds; idle++ {
		for _, pid := range list() {
			if kill(pid) && !killed[pid] {
				killed[pid], idle = true, 0
			}
		}
	}
}

// wait4 takes the status of a child that has ended.
func wait4(pid int) Ending {
	var status syscall.WaitStatus
	got, err := syscall.Wait4(pid, &status, syscall.WNOHANG, nil)
	switch {
	case err != nil:
		return Ending{Err: os.NewSyscallError("wait4", err)}
	case got != pid:
		return Ending{Err: errors.New("it has not ended")}
	case status.Signaled():
		return Ending{Signal: status.Signal()}
	}
	return Ending{Code: status.ExitStatus()}
}

// P_ALL, P_PID and P_PGID of sys/wait.h.
const idAll, idPid, idGroup = 0, 1, 2

// child is what waitid(2) says of one: its pid, 0 for none, and the state that code
// (CLD_EXITED, ...) and status describe.
type child struct{ pid, code, status int }

const (
	// codeField is the index of the code in siginfo_t, on all systems but Linux on MIPS.
	codeField = 2
	// exitedCode is CLD_EXITED of signal.h: status is what the child exited with, and not
	// what ended it.
	exitedCode = 1
)

// waitid calls waitid(2) without waiting.
func waitid(kind, id, options int) (child, error) {
	var info [32]int32 // siginfo_t
	_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, uintptr(kind), uintptr(id), uintptr(unsafe.Pointer(&info)),
		uintptr(options|unix.WNOHANG), 0, 0)
	if errno != 0 {
		return child{}, errno
	}
	return child{pid: int(info[pidField]), code: int(info[codeField]), status: int(info[pidField+2])}, nil
}

// look looks for a child in one of the states, without reaping it.
func look(kind, id, states int) (child, error) {
	return waitid(kind, id, states|unix.WNOWAIT)
}

// hasEnded reports whether a child has ended, without reaping it.
func hasEnded(pid int) bool {
	found, err := look(idPid, pid, unix.WEXITED)
	return err != nil || found.pid != 0
}
