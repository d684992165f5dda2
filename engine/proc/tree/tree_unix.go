//go:build unix

// Package tree finds the processes that an attempt has started, and ends them all, also
// after the leader has ended: stopped ones, those in another process group or session,
// orphans, and those that start new ones as fast as they are killed. It leaves the
// processes of attempts that run beside it. On Windows a job does this (package spawn).
package tree

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/retrysh/retry/engine/proc/reap"
	"github.com/retrysh/retry/engine/proc/table"
)

// polling says when to look again at a tree that was asked to end: at first soon, since
// most commands end at once, then after a tenth of the time that has passed. Every fourth
// look lists all processes.
type polling struct {
	begun time.Time
	looks int
}

const (
	firstLook = 500 * time.Microsecond
	lastLook  = 40 * time.Millisecond
)

func (p *polling) pause() time.Duration {
	p.looks++
	return min(max(firstLook, time.Since(p.begun)/10), lastLook)
}

func (p *polling) thorough() bool { return p.looks%4 == 0 }

// Tree is the processes of one attempt. It belongs to one goroutine at a time.
type Tree struct {
	// root is the process whose descendants belong to the tree: this program for an
	// attempt, since it adopts orphans, the leader for a probe.
	root   int
	leader int         // the command
	child  *reap.Child // the same
	group  bool        // the leader leads a process group of its own
	// before are processes with their start times that earlier attempts, or the program
	// that this process ran before, have left. They, their sessions and descendants do
	// not belong to the tree.
	before   map[int]uint64
	sessions map[int]bool
	marks    []string // entries of the environment that only this tree has
	report   func(line string)

	listed   bool           // there is a process table
	reaped   bool           // another process may have the leader's pid
	known    map[int]uint64 // members seen so far, with their start times
	own      map[int]bool   // their process groups and sessions, without the program's
	asked    map[int]bool   // members that got the first signal
	refusing map[int]bool   // members that this program may not signal

	shared atomic.Bool
}

// home returns the program's own process group and session.
var home = sync.OnceValues(func() (group, session int) {
	session, _ = unix.Getsid(0)
	return unix.Getpgrp(), session
})

// isForeign reports whether p is in another session than the program, which macOS does
// not say.
func isForeign(p table.Process) bool {
	_, session := home()
	return p.Sid != session && p.Sid != 0
}

// New notes the processes that exist before an attempt with the environment env, whose
// command will lead a process group if group is set. report takes a line for the user, and
// does not block.
func New(group bool, env []string, report func(line string)) *Tree {
	t := &Tree{root: os.Getpid(), group: group, marks: marksOf(env), report: report}
	t.enter()
	if !reap.LivingChildren() {
		return t
	}
	t.before, t.sessions = map[int]uint64{}, map[int]bool{}
	list, err := table.List()
	if err != nil {
		if !group {
			for _, pid := range reap.ProbeChildren(0) {
				t.before[pid] = 0
			}
		}
		return t
	}
	for _, p := range t.below(list, true) {
		t.before[p.Pid] = p.Start
		if isForeign(p) {
			t.sessions[p.Sid] = true
		}
	}
	return t
}

// beside are the open trees. Those that were open at the same time are shared.
var beside struct {
	mu    sync.Mutex // a leaf
	trees []*Tree
}

func (t *Tree) enter() {
	beside.mu.Lock()
	defer beside.mu.Unlock()
	beside.trees = append(beside.trees, t)
	if len(beside.trees) > 1 {
		for _, each := range beside.trees {
			each.shared.Store(true)
		}
	}
}

// Close ends the use of the tree.
func (t *Tree) Close() {
	beside.mu.Lock()
	defer beside.mu.Unlock()
	beside.trees = slices.DeleteFunc(beside.trees, func(other *Tree) bool { return other == t })
}

// IsShared reports whether an orphan may belong to another tree.
func (t *Tree) IsShared() bool { return t.shared.Load() }

// Lead makes a child the tree's leader.
func (t *Tree) Lead(c *reap.Child) { t.child, t.leader = c, c.Pid() }

// Below is the tree of a child that leads a process group, without orphans: the program
// does not adopt them.
func Below(c *reap.Child, report func(line string)) *Tree {
	t := &Tree{root: c.Pid(), group: true, report: report}
	t.Lead(c)
	return t
}

// Moved returns a channel that has a token when the leader's state may have changed.
func (t *Tree) Moved() <-chan struct{} {
	reap.Listen()
	return t.child.Moved()
}

// HasEnded reports whether the leader has ended.
func (t *Tree) HasEnded() bool { return t.reaped || reap.HasEnded(t.leader) }

// AwaitUntil waits for the leader, at most for limit.
func (t *Tree) AwaitUntil(limit time.Duration) (reap.Ending, bool) {
	return reap.AwaitUntil(t.leader, limit)
}

// Reap takes the status of the leader, whose pid is free then.
func (t *Tree) Reap() reap.Ending {
	t.reaped = true
	return reap.Reap(t.child)
}

// Remember notes the members, which are easier to find while the leader has its process
// group.
func (t *Tree) Remember() { _, _ = t.members() }

// below returns the descendants of the root, without those from before, those of another
// attempt and, unless all is set, those that may be of another attempt.
func (t *Tree) below(list []table.Process, all bool) (found []table.Process) {
	owned := reap.Owned()
	descend(byParent(list), t.root, func(p table.Process) bool {
		switch {
		case has(t.before, p), t.sessions[p.Sid]:
			return false
		case p.Pid == t.leader:
		case slices.Contains(owned, p.Pid), !all && p.Ppid == t.root && !t.claims(p):
			return false
		}
		found = append(found, p)
		return true
	})
	return found
}

// has reports whether a process is among some with their start times.
func has(some map[int]uint64, p table.Process) bool {
	start, there := some[p.Pid]
	return there && start == p.Start
}

// claims reports whether an orphan is this tree's and not that of another attempt: it was
// seen in the tree, or is in a process group or session of one that was, or has the marks
// in its environment. Any other, such as a daemon with an environment of its own that was
// not seen before its parent ended, is left.
func (t *Tree) claims(p table.Process) bool {
	return has(t.known, p) || t.group && p.Pgid == t.leader || t.own[p.Pgid] || t.own[p.Sid] ||
		len(t.marks) > 0 && !p.Dead && table.HasInEnvironment(p.Pid, t.marks)
}

// remember notes a member, and its process group and session if they are not the
// program's.
func (t *Tree) remember(p table.Process) {
	t.known[p.Pid] = p.Start
	if group, _ := home(); p.Pgid != group {
		t.own[p.Pgid] = true
	}
	if isForeign(p) {
		t.own[p.Sid] = true
	}
}

// marksOf returns the entries that distinguish an attempt's environment.
func marksOf(env []string) (marks []string) {
	for _, entry := range env {
		for _, name := range []string{"RETRY_RUN_ID=", "RETRY_ATTEMPT=", "RETRY_COPY=", "TRACEPARENT="} {
			if strings.HasPrefix(entry, name) {
				marks = append(marks, entry)
			}
		}
	}
	return marks
}

func byParent(list []table.Process) map[int][]table.Process {
	m := map[int][]table.Process{}
	for _, p := range list {
		m[p.Ppid] = append(m[p.Ppid], p)
	}
	return m
}

// descend visits the descendants of pid, parents first, without those of a process for
// which visit returns false.
func descend(byParent map[int][]table.Process, pid int, visit func(table.Process) bool) {
	for queue := []int{pid}; len(queue) > 0; queue = queue[1:] {
		for _, p := range byParent[queue[0]] {
			if visit(p) {
				queue = append(queue, p.Pid)
			}
		}
	}
}

// members returns the living processes of the tree, false without a process table
// (/proc).
func (t *Tree) members() ([]table.Process, bool) {
	list, err := table.List()
	t.listed = err == nil
	if err != nil {
		return nil, false
	}
	if t.known == nil {
		t.known, t.own = map[int]uint64{}, map[int]bool{}
	}
	for _, p := range t.below(list, !t.IsShared()) {
		t.remember(p)
	}
	var alive []table.Process
	for _, p := range list {
		ours := has(t.known, p) || !t.reaped && (p.Pid == t.leader || t.group && p.Pgid == t.leader)
		if ours && !p.Dead {
			t.remember(p)
			alive = append(alive, p)
		}
	}
	return alive, true
}

// kill sends sig, then CONT: a stopped process handles no signal.
func kill(pid int, sig syscall.Signal) error {
	err := syscall.Kill(pid, sig)
	if err == nil && sig != syscall.SIGKILL {
		_ = syscall.Kill(pid, syscall.SIGCONT)
	}
	return err
}

// signal sends sig to each member, or those for which to returns true, and returns the
// number of members that this program may signal.
func (t *Tree) signal(sig syscall.Signal, to func(table.Process) bool) (left int) {
	covered := false
	if t.group && !t.reaped && to == nil {
		covered = kill(-t.leader, sig) == nil
	}
	alive, listed := t.members()
	if !listed {
		return t.signalBlindly(sig, covered)
	}
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
	t.reportRefused(refused)
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
func underAnother(alive []table.Process) map[int]bool {
	found := map[int]bool{}
	under := byParent(alive)
	for _, p := range alive {
		if len(under[p.Pid]) > 0 && table.IsAnother(p.Pid) {
			descend(under, p.Pid, func(p table.Process) bool {
				found[p.Pid] = true
				return true
			})
		}
	}
	return found
}

// strays returns the orphans if there is no process table and the command is in the
// program's process group: the children of the program in that group that were not there
// before.
func (t *Tree) strays() (pids []int) {
	if t.group || t.root != os.Getpid() || !t.HasEnded() {
		return nil
	}
	owners := reap.Owned()
	for _, pid := range reap.ProbeChildren(t.leader) {
		if _, was := t.before[pid]; was || slices.Contains(owners, pid) {
			continue
		}
		if reap.HasEnded(pid) {
			reap.Orphan(pid)
			continue
		}
		if group, err := unix.Getpgid(pid); err == nil && group == unix.Getpgrp() {
			pids = append(pids, pid)
		}
	}
	return pids
}

// signalBlindly is signal without a process table: it reaches the group or the leader,
// and the orphans.
func (t *Tree) signalBlindly(sig syscall.Signal, covered bool) int {
	for _, pid := range t.strays() {
		if !t.asked[pid] || sig == syscall.SIGKILL {
			t.asked[pid] = true
			_ = kill(pid, sig)
		}
	}
	if covered {
		t.asked[t.leader] = true
	}
	if !t.reaped && (!t.asked[t.leader] || sig == syscall.SIGKILL) {
		t.asked[t.leader] = true
		if kill(t.leader, sig) == syscall.EPERM {
			t.refusing[t.leader] = true
			t.reportRefused(1)
		}
	}
	if t.alive() && !t.refusing[t.leader] {
		return 1
	}
	return 0
}

func (t *Tree) reportRefused(n int) {
	what := "a process"
	if n > 1 {
		what = fmt.Sprint(n, " processes")
	}
	if n > 0 {
		t.report("could not signal " + what + " of the command: operation not permitted")
	}
}

// alone reports whether every living child of this program is the tree's. Then the kernel
// can say whether one is left; a listing may miss a process whose parent ended meanwhile.
func (t *Tree) alone() bool {
	if t.root != os.Getpid() || len(t.before) > 0 || !t.listed || !reap.Adopting() || t.IsShared() {
		return false
	}
	return !slices.ContainsFunc(reap.Owned(), func(pid int) bool { return pid != t.leader })
}

// alive reports whether a process of the tree lives.
func (t *Tree) alive() bool {
	if t.root == os.Getpid() && !reap.LivingChildren() {
		return false
	}
	if t.alone() {
		return true
	}
	for range 2 { // see alone
		alive, listed := t.members()
		switch {
		case !listed:
			return !t.HasEnded() || !t.reaped && t.group && reap.LivingGroup(t.leader) || len(t.strays()) > 0
		case len(alive) > 0:
			return true
		}
	}
	return false
}

// End sends sig to the tree, and kills what still lives after grace or when now is closed.
// It returns when the leader has ended, and all others that this program may signal. They
// are reaped then.
func (t *Tree) End(sig syscall.Signal, grace time.Duration, now <-chan struct{}) {
	defer reap.Orphans()
	if t.HasEnded() && !t.alive() {
		return
	}
	t.asked, t.refusing = map[int]bool{}, map[int]bool{}
	if sig != syscall.SIGKILL && t.ask(sig, grace, now) {
		return
	}
	for p := (polling{begun: time.Now()}); ; {
		found := len(t.asked)
		left := t.signal(syscall.SIGKILL, nil)
		if left == 0 && len(t.refusing) > 0 && t.HasEnded() {
			return
		}
		if t.alone() {
			reap.KillOrphans()
		}
		if len(t.asked) > found && p.looks > 0 {
			continue // without a pause, since it starts new ones
		}
		time.Sleep(p.pause())
		if !t.alive() {
			return
		}
	}
}

// ask sends sig, and reports whether the tree has ended in time.
func (t *Tree) ask(sig syscall.Signal, grace time.Duration, now <-chan struct{}) bool {
	begun := table.Now()
	limit := time.After(grace)
	t.signal(sig, nil)
	for p := (polling{begun: time.Now()}); t.alive(); {
		reap.Orphans() // whole generations may pass until then
		if p.thorough() && p.looks > 0 {
			// Those that the first pass missed get the signal. Those that started
			// later do not: they may be the command's own cleaning up.
			t.signal(sig, func(p table.Process) bool {
				covered := t.group && p.Pgid == t.leader
				return !t.asked[p.Pid] && !covered && p.Start < begun
			})
		}
		select {
		case <-time.After(p.pause()):
			continue
		case <-limit:
		case <-now:
		}
		return false
	}
	return true
}
