//go:build unix

// Package tree finds the processes that an attempt has started, and ends them all, also
// after the leader has ended: stopped ones, those in another process group or session,
// orphans, and those that start new ones as fast as they are killed. Where several
// attempts run at once it ends the processes of its own attempt only.
//
// Its caller decides when. On Windows a job does this (package spawn).
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

// polling says when to look again at a tree that was asked to end: soon at first,
// since most commands obey at once, and never more than a tenth later than need
// be, while a stubborn one stays cheap. Listing all processes is for every
// fourth look where a cheaper question can be asked in between.
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
	// root is the process whose descendants belong to the tree: this program
	// for an attempt (orphans come back to it), the leader for a probe.
	root int
	// leader is the command itself; group says that it leads a process group
	// of its own.
	leader int
	group  bool
	// before are the processes that earlier attempts, or the program that this
	// process ran before, have left: not this attempt's. Neither are their
	// sessions, nor what they start.
	before   map[int]uint64
	sessions map[int]bool
	child    *reap.Child // the leader
	marks    []string    // entries of the environment that only this tree has
	report   func(line string)

	listed   bool           // there is a process table
	reaped   bool           // the leader's pid may be another process's now
	known    map[int]uint64 // members seen so far, with their start
	own      map[int]bool   // their process groups and sessions, but for the program's
	asked    map[int]bool   // members that got the first signal
	refusing map[int]bool   // members that this program may not signal

	shared atomic.Bool
}

// home returns the program's own process group and session.
var home = sync.OnceValues(func() (group, session int) {
	session, _ = unix.Getsid(0)
	return unix.Getpgrp(), session
})

// isForeign reports whether p is in a session that is not the program's; on macOS that
// is not known.
func isForeign(p table.Process) bool {
	_, session := home()
	return p.Sid != session && p.Sid != 0
}

// New notes what is there before an attempt; group says that its command will lead
// a process group. What distinguishes its environment from others is taken from env.
// report takes a line for the user, and does not block.
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

// beside are the trees that there are now; those that were there together are
// shared.
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

// Close says that the tree is not asked for any more.
func (t *Tree) Close() {
	beside.mu.Lock()
	defer beside.mu.Unlock()
	beside.trees = slices.DeleteFunc(beside.trees, func(other *Tree) bool { return other == t })
}

// IsShared reports whether others were there with the tree, so that an orphan may
// be another's.
func (t *Tree) IsShared() bool { return t.shared.Load() }

// Lead makes a child the tree's leader.
func (t *Tree) Lead(c *reap.Child) { t.child, t.leader = c, c.Pid() }

// Below is the tree of a child that leads a process group, and of nothing that
// has lost its parent: the program is no subreaper for it.
func Below(c *reap.Child, report func(line string)) *Tree {
	t := &Tree{root: c.Pid(), group: true, report: report}
	t.Lead(c)
	return t
}

// Moved returns what has a token, from now on, when the leader's state may have changed.
func (t *Tree) Moved() <-chan struct{} {
	reap.Listen()
	return t.child.Moved()
}

// HasEnded reports whether the leader has ended, which may not have been noticed yet.
func (t *Tree) HasEnded() bool { return t.reaped || reap.HasEnded(t.leader) }

// AwaitUntil waits for the leader, for limit at most (reap.AwaitUntil).
func (t *Tree) AwaitUntil(limit time.Duration) (reap.Ending, bool) {
	return reap.AwaitUntil(t.leader, limit)
}

// Reap takes the status of the leader, whose pid is given away with it.
func (t *Tree) Reap() reap.Ending {
	t.reaped = true
	return reap.Reap(t.child)
}

// Remember looks for what belongs to the tree, which is easier while its leader still
// holds the process group.
func (t *Tree) Remember() { _, _ = t.members() }

// below returns what descends from the root, leaving out what was there before and
// what belongs, or, unless all is asked for, may belong to another attempt.
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

// has reports whether a process is among some that are known by their start.
func has(some map[int]uint64, p table.Process) bool {
	start, there := some[p.Pid]
	return there && start == p.Start
}

// claims reports whether an orphan is this tree's and not that of another attempt
// beside it: it was seen in the tree before, or is in a process group or session
// of one that was, or has in its environment what only this tree was given. A process
// of which none of this holds, such as a daemon with an environment of its own that
// was not seen before its parent ended, is left alone.
func (t *Tree) claims(p table.Process) bool {
	return has(t.known, p) || t.group && p.Pgid == t.leader || t.own[p.Pgid] || t.own[p.Sid] ||
		len(t.marks) > 0 && !p.Dead && table.HasInEnvironment(p.Pid, t.marks)
}

// remember notes a member, and the process group and session that it is in, where
// these are not the program's.
func (t *Tree) remember(p table.Process) {
	t.known[p.Pid] = p.Start
	if group, _ := home(); p.Pgid != group {
		t.own[p.Pgid] = true
	}
	if isForeign(p) {
		t.own[p.Sid] = true
	}
}

// marksOf picks the entries that distinguish an attempt's environment.
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

// descend visits what descends from pid, parents first; what descends from one
// that visit turns down is left out.
func descend(byParent map[int][]table.Process, pid int, visit func(table.Process) bool) {
	queue := []int{pid}
	for len(queue) > 0 {
		parent := queue[0]
		queue = queue[1:]
		for _, p := range byParent[parent] {
			if visit(p) {
				queue = append(queue, p.Pid)
			}
		}
	}
}

// members returns the living processes of the tree. Without a process table
// (no /proc) it returns none and false.
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

// kill sends sig, then CONT so that a process that is stopped can act on it.
func kill(pid int, sig syscall.Signal) error {
	err := syscall.Kill(pid, sig)
	if err == nil && sig != syscall.SIGKILL {
		_ = syscall.Kill(pid, syscall.SIGCONT)
	}
	return err
}

// signal sends sig to each member once, and returns how many are left to act.
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

// underAnother returns those of alive that descend from another retry among
// them. It passes the signal on and ends its own tree; who gets a signal twice
// takes the second for impatience (terraform lets go of its lock then).
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

// strays returns the tree's orphans where there is no process table and the
// command shares the program's process group: those children of the program in
// that group that were not there before. What has a living parent becomes one
// when that has ended.
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

// signalBlindly is signal where only the group is known, or, without one, the
// leader and then the orphans.
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

// alone reports whether every living child of this program is the tree's, so
// that the kernel can say at once whether any is left. A listing cannot: it may
// miss a process whose parent ended meanwhile.
func (t *Tree) alone() bool {
	if t.root != os.Getpid() || len(t.before) > 0 || !t.listed || !reap.Adopting() || t.IsShared() {
		return false
	}
	return !slices.ContainsFunc(reap.Owned(), func(pid int) bool { return pid != t.leader })
}

// alive reports whether anything of the tree lives.
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

// End asks the tree to end with sig, and kills what still lives after grace,
// or as soon as now is closed; with a grace of 0 that is right after sig. It
// returns when nothing is left but what this program may not signal; the leader it
// waits for in any case. What it has ended is reaped by then.
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
			continue // it starts new ones as fast as they are killed: no rest
		}
		time.Sleep(p.pause())
		if !t.alive() {
			return
		}
	}
}

// ask gives the tree its chance to end by itself and reports whether it did.
func (t *Tree) ask(sig syscall.Signal, grace time.Duration, now <-chan struct{}) bool {
	begun := table.Now()
	limit := time.After(grace)
	t.signal(sig, nil)
	for p := (polling{begun: time.Now()}); t.alive(); {
		reap.Orphans() // whole generations may pass until then
		if p.thorough() && p.looks > 0 {
			// What was missed in the first pass gets its signal. What was started
			// after that is left alone: it may be the command's own tidying up.
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
