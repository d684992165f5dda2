//go:build unix

package process

// This file finds the processes that an attempt has started, and ends them all, also
// after the leader has ended: stopped ones, those in another process group or session,
// orphans, and those that start new ones as fast as they are killed. It leaves the
// processes of attempts that run beside it.

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// pause is how long to wait between two looks at a tree that was asked to end: at first
// little, since most commands end at once, then a tenth of the time that has passed.
func pause(begun time.Time) time.Duration {
	return min(max(500*time.Microsecond, time.Since(begun)/10), 40*time.Millisecond)
}

// Tree is the processes of one attempt. It belongs to one goroutine at a time.
type Tree struct {
	leader int           // the command, 0 before the start
	reaped bool          // another process may have the leader's pid
	ending Ending        // of the leader, when it is reaped
	moved  chan struct{} // has a token when the state of some child may have changed
	group  bool          // the leader leads a process group of its own
	probe  bool          // the program does not adopt its orphans
	// earlier are processes, with their start times, that were there before this attempt:
	// they, their sessions and their children are not of this tree.
	earlier  map[int]uint64
	sessions map[int]bool
	marks    []string // entries of the environment that only this tree has
	warn     func(line string)

	listed   bool           // there is a process table
	known    map[int]uint64 // members seen so far, with their start times
	own      map[int]bool   // their process groups and sessions, without the program's
	asked    map[int]bool   // members that got the first signal
	refusing map[int]bool   // members that this program may not signal

	shared atomic.Bool
}

// isForeign reports whether p is in another session than the program, which macOS does
// not say.
func isForeign(p Entry) bool {
	session, _ := unix.Getsid(0)
	return p.Sid != session && p.Sid != 0
}

// New notes the processes that exist before an attempt with the environment env, whose
// command will lead a process group if group is set. The program does not adopt the orphans
// of a probe. warn takes a line for the user, and does not block.
func New(group, probe bool, env []string, warn func(line string)) *Tree {
	t := &Tree{
		moved: make(chan struct{}, 1), group: group, probe: probe, marks: marksOf(env), warn: warn,
		known: map[int]uint64{}, own: map[int]bool{},
	}
	mu.Lock()
	for _, other := range trees {
		if !probe && !other.probe {
			t.shared.Store(true)
			other.shared.Store(true)
		}
	}
	trees = append(trees, t)
	mu.Unlock()
	if probe || !LivingChildren() {
		return t
	}
	t.earlier = map[int]uint64{}
	t.sessions = map[int]bool{}
	list, err := List()
	if err != nil && !group {
		for _, pid := range probeChildren(0) {
			t.earlier[pid] = 0
		}
	}
	for _, p := range t.below(list, true) {
		t.earlier[p.Pid] = p.Start
		if isForeign(p) {
			t.sessions[p.Sid] = true
		}
	}
	return t
}

// Close ends the use of the tree.
func (t *Tree) Close() {
	mu.Lock()
	defer mu.Unlock()
	trees = slices.DeleteFunc(trees, func(other *Tree) bool { return other == t })
}

// IsShared reports whether an orphan may belong to another tree.
func (t *Tree) IsShared() bool { return t.shared.Load() }

// Signal sends sig to the leader, unless it has been reaped.
func (t *Tree) Signal(sig syscall.Signal) error {
	if t.reaped {
		return os.ErrProcessDone
	}
	return syscall.Kill(t.leader, sig)
}

// SignalGroup sends sig to the leader, and to the process group that it leads.
func (t *Tree) SignalGroup(sig syscall.Signal) {
	if t.group && !t.reaped {
		_ = syscall.Kill(-t.leader, sig)
	} else {
		_ = t.Signal(sig)
	}
}

// SignalSharedGroup sends sig to all others in the program's process group, or to the leader
// alone if they are not known.
func (t *Tree) SignalSharedGroup(sig syscall.Signal) {
	list, err := List()
	if err != nil {
		_ = t.Signal(sig)
	}
	for _, p := range list {
		if p.Pgid == unix.Getpgrp() && p.Pid != os.Getpid() {
			_ = syscall.Kill(p.Pid, sig)
		}
	}
}

// below returns the descendants of this program, or of the leader if orphans are not
// adopted, without those from before, those of another attempt and, unless all is set, those
// that may be of another attempt.
func (t *Tree) below(list []Entry, all bool) (found []Entry) {
	mu.Lock()
	others := maps.Clone(leaders)
	mu.Unlock()
	root := os.Getpid()
	if t.probe {
		root = t.leader
	}
	descend(byParent(list), root, func(p Entry) bool {
		switch {
		case has(t.earlier, p), t.sessions[p.Sid]:
			return false
		case p.Pid == t.leader:
		case others[p.Pid] != nil, !all && p.Ppid == root && !t.claims(p):
			return false
		}
		found = append(found, p)
		return true
	})
	return found
}

// claims reports whether an orphan is this tree's and not that of another attempt: it was
// seen in the tree, or is in a process group or session of one that was, or has the marks
// in its environment. Any other, such as a daemon with an environment of its own that was
// not seen before its parent ended, is left.
func (t *Tree) claims(p Entry) bool {
	return has(t.known, p) || t.group && p.Pgid == t.leader || t.own[p.Pgid] || t.own[p.Sid] ||
		len(t.marks) > 0 && !p.Dead && HasInEnvironment(p.Pid, t.marks)
}

// remember notes a member, and its process group and session if they are not the
// program's.
func (t *Tree) remember(p Entry) {
	t.known[p.Pid] = p.Start
	if p.Pgid != unix.Getpgrp() {
		t.own[p.Pgid] = true
	}
	if isForeign(p) {
		t.own[p.Sid] = true
	}
}

// marksOf returns the entries that distinguish an attempt's environment.
func marksOf(env []string) (marks []string) {
	for _, entry := range env {
		switch name, _, _ := strings.Cut(entry, "="); name {
		case "RETRY_RUN_ID", "RETRY_ATTEMPT", "RETRY_COPY", "TRACEPARENT":
			marks = append(marks, entry)
		}
	}
	return marks
}

// members returns the living processes of the tree.
func (t *Tree) members() []Entry {
	alive := t.Remember()
	if !t.listed {
		return t.membersWithoutTable()
	}
	return alive
}

// Remember notes and returns the members by the process table, if there is one. They are
// easier to find while the leader has its process group.
func (t *Tree) Remember() []Entry {
	list, err := List()
	if t.listed = err == nil; !t.listed {
		return nil
	}
	return t.membersIn(list)
}

// membersIn notes and returns the members in a process table.
func (t *Tree) membersIn(list []Entry) (alive []Entry) {
	for _, p := range t.below(list, !t.IsShared()) {
		t.remember(p)
	}
	for _, p := range list {
		ours := has(t.known, p) || !t.reaped && (p.Pid == t.leader || t.group && p.Pgid == t.leader)
		if ours && !p.Dead {
			t.remember(p)
			alive = append(alive, p)
		}
	}
	return alive
}

// membersWithoutTable returns the leader, which stands for its group, or if that is the
// program's the leader and the orphans in it: the program's children that were not there
// before.
func (t *Tree) membersWithoutTable() (alive []Entry) {
	switch {
	case t.group && !t.reaped && (!t.HasEnded() || livingGroup(t.leader)):
		return []Entry{{Pid: t.leader, Pgid: t.leader}}
	case t.group:
		return nil
	case !t.HasEnded():
		return []Entry{{Pid: t.leader}}
	}
	children := probeChildren(t.leader) // without the lock: it may take a second
	mu.Lock()
	defer mu.Unlock()
	for _, pid := range children {
		if _, was := t.earlier[pid]; was || leaders[pid] != nil {
			continue
		}
		if hasEnded(pid) {
			_ = wait4(pid)
		} else if group, err := unix.Getpgid(pid); err == nil && group == unix.Getpgrp() {
			alive = append(alive, Entry{Pid: pid})
		}
	}
	return alive
}

// kill sends sig, then CONT: a stopped process handles no signal. No child is reaped between
// the two, so that CONT goes to no other process.
func kill(pid int, sig syscall.Signal) error {
	mu.Lock()
	defer mu.Unlock()
	err := syscall.Kill(pid, sig)
	if err == nil {
		_ = syscall.Kill(pid, syscall.SIGCONT)
	}
	return err
}

// signal sends sig to each member, or those for which to returns true, and returns the
// number of members that this program may signal.
func (t *Tree) signal(sig syscall.Signal, to func(Entry) bool) (left int) {
	covered := false
	if t.group && !t.reaped && to == nil {
		covered = kill(-t.leader, sig) == nil
	}
	alive := t.members()
	refused := 0
	var spared map[int]bool
	if sig != syscall.SIGKILL {
		spared = underAnother(alive)
	}
	for _, p := range alive {
		if to != nil && !to(p) || covered && p.Pgid == t.leader && sig != syscall.SIGKILL || spared[p.Pid] {
			continue
		}
		t.asked[p.Pid] = true
		if kill(p.Pid, sig) == syscall.EPERM {
			refused++
			t.refusing[p.Pid] = true
		}
	}
	switch refused {
	case 0:
	case 1:
		t.warn("could not signal a process of the command: operation not permitted")
	default:
		t.warn(fmt.Sprintf("could not signal %d processes of the command: operation not permitted", refused))
	}
	for _, p := range alive {
		if !t.refusing[p.Pid] {
			left++
		}
	}
	return left
}

// underAnother returns those of alive that descend from another retry among them, which
// passes the signal on. A process that gets it twice may stop without cleaning up
// (terraform).
func underAnother(alive []Entry) map[int]bool {
	found := map[int]bool{}
	under := byParent(alive)
	for _, p := range alive {
		if len(under[p.Pid]) > 0 && isAnother(p.Pid) {
			descend(under, p.Pid, func(p Entry) bool {
				found[p.Pid] = true
				return true
			})
		}
	}
	return found
}

// alone reports whether every living child of this program is the tree's. Then the kernel
// can say whether one is left; a listing may miss a process whose parent ended meanwhile.
func (t *Tree) alone() bool {
	mu.Lock()
	defer mu.Unlock()
	return adopts && t.listed && !t.probe && len(t.earlier) == 0 && !t.IsShared() &&
		(len(leaders) == 0 || len(leaders) == 1 && leaders[t.leader] == t)
}

// alive reports whether a process of the tree lives.
func (t *Tree) alive() bool {
	if !t.probe && !LivingChildren() {
		return false
	}
	return t.alone() || len(t.members()) > 0 || t.listed && len(t.members()) > 0 // twice: see alone
}

// End sends sig to the tree, and kills what still lives after grace or when now is closed.
// It returns when the leader has ended, and all others that this program may signal. They
// are reaped then.
func (t *Tree) End(sig syscall.Signal, grace time.Duration, now <-chan struct{}) {
	defer Orphans()
	if t.HasEnded() && !t.alive() {
		return
	}
	t.asked, t.refusing = map[int]bool{}, map[int]bool{}
	if sig != syscall.SIGKILL && t.ask(sig, grace, now) {
		return
	}
	begun := time.Now()
	for first := true; ; first = false {
		found := len(t.asked)
		left := t.signal(syscall.SIGKILL, nil)
		if left == 0 && len(t.refusing) > 0 && t.HasEnded() {
			return
		}
		if t.alone() {
			killOrphans()
		}
		if len(t.asked) > found && !first {
			continue // without a pause, since it starts new ones
		}
		time.Sleep(pause(begun))
		if !t.alive() {
			return
		}
	}
}

// ask sends sig, and reports whether the tree has ended in time.
func (t *Tree) ask(sig syscall.Signal, grace time.Duration, now <-chan struct{}) bool {
	started, begun := ticks(), time.Now()
	limit := time.After(grace)
	t.signal(sig, nil)
	for looks := 0; t.alive(); looks++ {
		Orphans() // whole generations may pass until then
		if looks%4 == 3 {
			// Those that the first pass missed get the signal. Those that started
			// later do not: they may be the command's own cleaning up.
			t.signal(sig, func(p Entry) bool {
				covered := t.group && p.Pgid == t.leader
				return !t.asked[p.Pid] && !covered && p.Start < started
			})
		}
		select {
		case <-time.After(pause(begun)):
			continue
		case <-limit:
		case <-now:
		}
		return false
	}
	return true
}
