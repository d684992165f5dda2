//go:build unix

package proc

// This file reaps children. The leader of an attempt is looked at without
// being reaped (WNOWAIT), so that its pid, and with it its process group,
// cannot be given to somebody else while the rest of its tree is dealt with.

import (
	"sync"
	"syscall"
)

// ending is how a process ended.
type ending struct {
	code   int            // what it exited with
	signal syscall.Signal // what ended it, 0 if it exited
}

// family knows which children have an owner that waits for them. Every other
// child is an orphan that this process adopted, as child subreaper or as PID 1,
// and is reaped as soon as it ends.
type family struct {
	mu     sync.Mutex // held over fork and entry, so that no status is lost
	owned  map[int]bool
	early  map[int]ending // those of owned whose status has been taken already
	adopts bool           // the program is a child subreaper
}

var children = family{owned: map[int]bool{}, early: map[int]ending{}}

// adopt makes the orphans of whatever is forked from now on come here.
func (f *family) adopt() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.adopts {
		f.adopts = becomeSubreaper()
	}
}

// adopting reports whether orphans come here.
func (f *family) adopting() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.adopts
}

// fork runs start, which returns a new child, and enters the child.
func (f *family) fork(start func() (int, error)) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	pid, err := start()
	if err == nil {
		f.owned[pid] = true
	}
	return pid, err
}

// owners returns the children that somebody waits for.
func (f *family) owners() []int {
	f.mu.Lock()
	defer f.mu.Unlock()
	var pids []int
	for pid := range f.owned {
		pids = append(pids, pid)
	}
	return pids
}

// reap takes the status of an owned child that has ended, then those of the
// orphans that it hid: a peek always shows the first child that ended.
func (f *family) reap(pid int) ending {
	f.mu.Lock()
	how, taken := f.early[pid]
	if !taken {
		how = wait4(pid)
	}
	delete(f.early, pid)
	delete(f.owned, pid)
	f.mu.Unlock()
	f.reapOrphans()
	return how
}

// reapOrphans reaps all orphans that have ended.
func (f *family) reapOrphans() {
	f.mu.Lock()
	defer f.mu.Unlock()
	pid := endedChild()
	for ; pid != 0 && !f.owned[pid]; pid = endedChild() {
		_ = wait4(pid)
	}
	if pid == 0 {
		return
	}
	// A child that has an owner hides those behind it.
	list := openChildList()
	defer list.close()
	for _, pid := range list.read() {
		if !f.owned[pid] {
			_ = wait4(pid)
		}
	}
}

// idleRounds is how often killOrphans looks again without finding anything new.
const idleRounds = 20

// killOrphans kills every child that has no owner, and what it has started
// meanwhile, as fast as it can. What forks a successor and exits, again and
// again, is gone when a table of all processes has been read; but its successor
// is an orphan, and those the kernel lists apart: such a chain ends within 10 ms,
// where the table alone took 30 s, and all pids that there were.
func (f *family) killOrphans() {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := openChildList()
	defer list.close()
	killed := map[int]bool{}
	for idle := 0; idle < idleRounds; idle++ {
		for _, pid := range list.read() {
			if f.owned[pid] {
				continue
			}
			if err := syscall.Kill(pid, syscall.SIGKILL); err == nil && !killed[pid] {
				killed[pid], idle = true, 0
			}
			_ = wait4(pid)
		}
	}
}

// reapOrphan reaps one child that has ended, unless it has an owner, and
// reports whether it did.
func (f *family) reapOrphan(pid int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.owned[pid] {
		return false
	}
	_ = wait4(pid)
	return true
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
