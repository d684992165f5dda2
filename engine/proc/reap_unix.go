//go:build unix

package proc

// This file forks and reaps. The leader of an attempt is looked at without
// being reaped (WNOWAIT), so that its pid, and with it its process group,
// cannot be given to somebody else while the rest of its tree is dealt with.

import (
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// ending is how a process ended.
type ending struct {
	code   int            // what it exited with
	signal syscall.Signal // what ended it, 0 if it exited
	err    error          // why that cannot be said
}

// child is a child that has an owner, who waits for it.
type child struct {
	pid    int
	moved  chan struct{} // has a token when the state of some child has changed
	shared bool          // others ran beside it; guarded by reaper.mu
}

// reaper forks the children that have an owner. Every other child is an orphan
// that this process adopted, as child subreaper or as PID 1, and is reaped as
// soon as it ends.
type reaper struct {
	mu        sync.Mutex // a leaf: only system calls while it is held; over fork and entry, so that no status is lost
	owned     []*child
	early     map[int]ending // those of owned whose status has been taken already
	adopts    bool           // the program is a child subreaper
	listening bool
}

var children = reaper{early: map[int]ending{}}

// adopt makes the orphans of whatever is forked from now on come here.
func (r *reaper) adopt() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.adopts {
		r.adopts = becomeSubreaper()
	}
}

// adopting reports whether orphans come here.
func (r *reaper) adopting() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.adopts
}

// listen has the owners told when the state of a child changes, and orphans
// reaped as they end, for good.
func (r *reaper) listen() {
	r.mu.Lock()
	begins := !r.listening
	r.listening = true
	r.mu.Unlock()
	if !begins {
		return
	}
	// A token that waits stands for all that has changed until it is taken.
	changed := make(chan os.Signal, 1)
	signal.Notify(changed, syscall.SIGCHLD)
	go func() {
		for range changed {
			r.reapOrphans()
			r.tell()
		}
	}()
}

// tell tells the owners that the state of a child has changed.
func (r *reaper) tell() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.owned {
		select {
		case c.moved <- struct{}{}:
		default: // it has been told already
		}
	}
}

// fork starts a child and enters it. inherit are descriptors that it gets though
// they are close-on-exec.
func (r *reaper) fork(path string, argv []string, attr *syscall.ProcAttr, inherit []uintptr) (*child, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
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
	c := &child{pid: pid, moved: make(chan struct{}, 1), shared: len(r.owned) > 0}
	for _, other := range r.owned {
		other.shared = true
	}
	r.owned = append(r.owned, c)
	return c, nil
}

// shared reports whether others ran beside a child.
func (r *reaper) shared(c *child) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return c.shared
}

// owners returns the children that somebody waits for.
func (r *reaper) owners() (pids []int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.owned {
		pids = append(pids, c.pid)
	}
	return pids
}

// owns reports whether somebody waits for a child; r.mu is held.
func (r *reaper) owns(pid int) bool {
	return slices.ContainsFunc(r.owned, func(c *child) bool { return c.pid == pid })
}

// reap takes the status of an owned child that has ended, then those of the
// orphans that it hid: a peek always shows the first child that ended.
func (r *reaper) reap(c *child) ending {
	r.mu.Lock()
	how, taken := r.early[c.pid]
	if !taken {
		how = wait4(c.pid)
	}
	delete(r.early, c.pid)
	r.owned = slices.DeleteFunc(r.owned, func(other *child) bool { return other == c })
	r.mu.Unlock()
	r.reapOrphans()
	return how
}

// reapOrphans reaps all orphans that have ended. A process that does not adopt
// has none: its other children are somebody else's.
func (r *reaper) reapOrphans() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.adopts && os.Getpid() != 1 {
		return
	}
	pid := endedChild()
	for ; pid != 0 && !r.owns(pid); pid = endedChild() {
		_ = wait4(pid)
	}
	if pid == 0 {
		return
	}
	// A child that has an owner hides those behind it.
	list := openChildList()
	defer list.close()
	for _, pid := range list.read() {
		if !r.owns(pid) {
			_ = wait4(pid)
		}
	}
}

// idleRounds is how often killOrphans looks again without finding anything new.
const idleRounds = 20

// killOrphans kills every child that has no owner, and what it has started
// meanwhile, as fast as it can. What forks a successor and exits, again and
// again, is gone when a table of all processes has been read; but its successor
// is an orphan, and those the kernel lists apart.
func (r *reaper) killOrphans() {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := openChildList()
	defer list.close()
	killed := map[int]bool{}
	for idle := 0; idle < idleRounds; idle++ {
		for _, pid := range list.read() {
			if r.owns(pid) {
				continue
			}
			if err := syscall.Kill(pid, syscall.SIGKILL); err == nil && !killed[pid] {
				killed[pid], idle = true, 0
			}
			_ = wait4(pid)
		}
	}
}

// reapOrphan reaps one child that has ended, unless it has an owner.
func (r *reaper) reapOrphan(pid int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.owns(pid) {
		_ = wait4(pid)
	}
}

// takeEarly takes the status of an owned child before its owner is done with it,
// where the system cannot say otherwise how it ended.
func (r *reaper) takeEarly(pid int) ending {
	r.mu.Lock()
	defer r.mu.Unlock()
	how, taken := r.early[pid]
	if !taken {
		how = wait4(pid)
		r.early[pid] = how
	}
	return how
}

// wait4 takes the status of a child that has ended.
func wait4(pid int) ending {
	var status syscall.WaitStatus
	for {
		_, err := syscall.Wait4(pid, &status, syscall.WNOHANG, nil)
		if err == syscall.EINTR {
			continue
		}
		if status.Signaled() {
			return ending{signal: status.Signal()}
		}
		return ending{code: status.ExitStatus()}
	}
}
