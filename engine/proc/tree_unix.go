//go:build unix

package proc

// This file ends what an attempt has started: the whole tree, also after its
// leader has ended, also what moved to another process group or session.

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// pace says when to look again at a tree that was asked to end: soon at first,
// since most commands obey at once, and never more than a tenth later than need
// be, while a stubborn one stays cheap. Listing all processes is for every
// fourth look where a cheaper question can be asked in between.
type pace struct {
	begun time.Time
	looks int
}

const (
	firstLook = 500 * time.Microsecond
	lastLook  = 40 * time.Millisecond
)

func (p *pace) pause() time.Duration {
	p.looks++
	return min(max(firstLook, time.Since(p.begun)/10), lastLook)
}

func (p *pace) thorough() bool { return p.looks%4 == 0 }

// tree is the processes of one attempt. It belongs to the goroutine that owns the
// attempt or, while it is being ended, to the one that ends it.
type tree struct {
	// root is the process whose descendants belong to the tree: this program
	// for an attempt (orphans come back to it), the leader for a probe.
	root int
	// leader is the command itself; group says that it leads a process group
	// of its own.
	leader int
	group  bool
	// before are the processes that earlier attempts, or whoever ran in this
	// process before, have left: not this attempt's. Neither are their
	// sessions, nor what they start.
	before   map[int]uint64
	sessions map[int]bool
	child    *child   // the leader, as the reaper knows it
	marks    []string // entries of the environment that only this tree has
	report   *reporter

	listed bool           // there is a process table
	reaped bool           // the leader's pid may be somebody else's now
	known  map[int]uint64 // members seen so far, with their start
	own    map[int]bool   // their process groups and sessions, but for the program's

	homeGroup, homeSession int          // the program's
	asked                  map[int]bool // members that got the first signal
	refusing               map[int]bool // members that this program may not signal
}

// lead makes a child the tree's leader.
func (t *tree) lead(c *child) { t.child, t.leader = c, c.pid }

// newTree notes what is there before an attempt; group says that its command
// will lead a process group.
func newTree(report *reporter, group bool) *tree {
	t := &tree{root: os.Getpid(), group: group, report: report}
	if !livingChildren() {
		return t
	}
	t.before, t.sessions = map[int]uint64{}, map[int]bool{}
	list, err := processes()
	if err != nil {
		if !group {
			for _, pid := range probeChildren(0) {
				t.before[pid] = 0
			}
		}
		return t
	}
	own, _ := sessionOf(list, t.root)
	for _, p := range t.descendants(list) {
		t.before[p.pid] = p.start
		if p.sid != own {
			t.sessions[p.sid] = true
		}
	}
	return t
}

func sessionOf(list []process, pid int) (int, bool) {
	for _, p := range list {
		if p.pid == pid {
			return p.sid, true
		}
	}
	return 0, false
}

// descendants returns what descends from the root, leaving out what was there
// before and what belongs to somebody else who waits for it.
func (t *tree) descendants(list []process) []process {
	others := map[int]bool{}
	for _, pid := range children.owners() {
		others[pid] = pid != t.leader
	}
	shared := t.child != nil && children.shared(t.child)
	var found []process
	descend(byParent(list), t.root, func(p process) bool {
		if start, was := t.before[p.pid]; was && start == p.start || t.sessions[p.sid] || others[p.pid] {
			return false
		}
		if shared && p.ppid == t.root && p.pid != t.leader && !t.claims(p) {
			return false
		}
		found = append(found, p)
		return true
	})
	return found
}

// claims reports whether an orphan is this tree's and not that of another attempt
// beside it: it was seen in the tree before, or is in a process group or session
// of one that was, or has in its environment what only this tree was given. What
// none of this tells, such as a daemon with an environment of its own that nobody
// has seen before its parent ended, is nobody's, and left alone.
func (t *tree) claims(p process) bool {
	if start, known := t.known[p.pid]; known && start == p.start {
		return true
	}
	if t.group && p.pgid == t.leader || t.own[p.pgid] || t.own[p.sid] {
		return true
	}
	return len(t.marks) > 0 && hasInEnvironment(p.pid, t.marks)
}

// remember notes a member, and the process group and session that it is in, where
// these are not the program's.
func (t *tree) remember(p process) {
	t.known[p.pid] = p.start
	if p.pgid != t.homeGroup {
		t.own[p.pgid] = true
	}
	if p.sid != t.homeSession && p.sid != 0 {
		t.own[p.sid] = true
	}
}

// marksOf picks what tells an attempt's environment from those of others.
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

func byParent(list []process) map[int][]process {
	m := map[int][]process{}
	for _, p := range list {
		m[p.ppid] = append(m[p.ppid], p)
	}
	return m
}

// descend visits what descends from pid, parents first; what descends from one
// that visit turns down is left out.
func descend(byParent map[int][]process, pid int, visit func(process) bool) {
	queue := []int{pid}
	for len(queue) > 0 {
		parent := queue[0]
		queue = queue[1:]
		for _, p := range byParent[parent] {
			if visit(p) {
				queue = append(queue, p.pid)
			}
		}
	}
}

// members returns the living processes of the tree. Without a process table
// (no /proc) it returns none and false.
func (t *tree) members() ([]process, bool) {
	list, err := processes()
	t.listed = err == nil
	if err != nil {
		return nil, false
	}
	if t.known == nil {
		t.known, t.own = map[int]uint64{}, map[int]bool{}
		t.homeGroup = unix.Getpgrp()
		t.homeSession, _ = unix.Getsid(0)
	}
	for _, p := range t.descendants(list) {
		t.remember(p)
	}
	var alive []process
	for _, p := range list {
		start, known := t.known[p.pid]
		ours := known && start == p.start
		ours = ours || p.pid == t.leader && !t.reaped
		ours = ours || t.group && !t.reaped && p.pgid == t.leader
		if ours && !p.dead {
			t.remember(p)
			alive = append(alive, p)
		}
	}
	return alive, true
}

// signal sends sig to each member once, then CONT so that one that is stopped
// can act on it, and returns how many are left to act.
func (t *tree) signal(sig syscall.Signal, to func(process) bool) (left int) {
	covered := false
	if t.group && !t.reaped && to == nil {
		covered = syscall.Kill(-t.leader, sig) == nil
		if covered && sig != syscall.SIGKILL {
			_ = syscall.Kill(-t.leader, syscall.SIGCONT)
		}
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
		if to != nil && !to(p) || covered && p.pgid == t.leader && sig != syscall.SIGKILL || spared[p.pid] {
			continue
		}
		t.asked[p.pid] = true
		err := syscall.Kill(p.pid, sig)
		if err == syscall.EPERM {
			refused++
			t.refusing[p.pid] = true
		} else if err == nil && sig != syscall.SIGKILL {
			_ = syscall.Kill(p.pid, syscall.SIGCONT)
		}
	}
	t.reportRefused(refused)
	for _, p := range alive {
		if !t.refusing[p.pid] {
			left++
		}
	}
	return left
}

// underAnother returns those of alive that descend from another retry among
// them. It passes the signal on and ends its own tree; who gets a signal twice
// takes the second for impatience (terraform lets go of its lock then).
func underAnother(alive []process) map[int]bool {
	found := map[int]bool{}
	under := byParent(alive)
	for _, p := range alive {
		if len(under[p.pid]) > 0 && isAnother(p.pid) {
			descend(under, p.pid, func(p process) bool {
				found[p.pid] = true
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
func (t *tree) strays() (pids []int) {
	if t.group || t.root != os.Getpid() || !t.reaped && !ended(t.leader) {
		return nil
	}
	owners := children.owners()
	for _, pid := range probeChildren(t.leader) {
		if _, was := t.before[pid]; was || slices.Contains(owners, pid) {
			continue
		}
		if ended(pid) {
			children.reapOrphan(pid)
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
func (t *tree) signalBlindly(sig syscall.Signal, covered bool) int {
	for _, pid := range t.strays() {
		if !t.asked[pid] || sig == syscall.SIGKILL {
			t.asked[pid] = true
			if syscall.Kill(pid, sig) == nil && sig != syscall.SIGKILL {
				_ = syscall.Kill(pid, syscall.SIGCONT)
			}
		}
	}
	if covered {
		t.asked[t.leader] = true
	}
	if !t.reaped && (!t.asked[t.leader] || sig == syscall.SIGKILL) {
		t.asked[t.leader] = true
		switch syscall.Kill(t.leader, sig) {
		case nil:
			if sig != syscall.SIGKILL {
				_ = syscall.Kill(t.leader, syscall.SIGCONT)
			}
		case syscall.EPERM:
			t.refusing[t.leader] = true
			t.reportRefused(1)
		}
	}
	if t.alive() && !t.refusing[t.leader] {
		return 1
	}
	return 0
}

func (t *tree) reportRefused(n int) {
	switch n {
	case 0:
	case 1:
		t.report.say("refused", "could not signal a process of the command: operation not permitted")
	default:
		t.report.say("refused", fmt.Sprintf("could not signal %d processes of the command: operation not permitted", n))
	}
}

// alone reports whether every living child of this program is the tree's, so
// that the kernel can say at once whether any is left. A listing cannot: it may
// miss a process whose parent ended meanwhile.
func (t *tree) alone() bool {
	if t.root != os.Getpid() || len(t.before) > 0 || !t.listed || !children.adopting() || children.shared(t.child) {
		return false
	}
	for _, pid := range children.owners() {
		if pid != t.leader {
			return false
		}
	}
	return true
}

// alive reports whether anything of the tree lives.
func (t *tree) alive() bool {
	if t.root == os.Getpid() && !livingChildren() {
		return false
	}
	if t.alone() {
		return true
	}
	for range 2 { // see alone
		alive, listed := t.members()
		if !listed {
			return !t.reaped && (!ended(t.leader) || t.group && livingGroup(t.leader)) || len(t.strays()) > 0
		}
		if len(alive) > 0 {
			return true
		}
	}
	return false
}

// end asks the tree to end with sig, and kills what still lives after grace,
// or as soon as now is closed; with a grace of 0 that is right after sig. It returns when nothing is left but what this
// program may not signal; the leader it waits for in any case.
func (t *tree) end(sig syscall.Signal, grace time.Duration, now <-chan struct{}) {
	defer children.reapOrphans() // what was ended is not to be found any more
	if (t.reaped || ended(t.leader)) && !t.alive() {
		return
	}
	t.asked, t.refusing = map[int]bool{}, map[int]bool{}
	if sig != syscall.SIGKILL && t.ask(sig, grace, now) {
		return
	}
	for p := (pace{begun: time.Now()}); ; {
		found := len(t.asked)
		left := t.signal(syscall.SIGKILL, nil)
		if left == 0 && len(t.refusing) > 0 && (t.reaped || ended(t.leader)) {
			return
		}
		if t.alone() {
			children.killOrphans()
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
func (t *tree) ask(sig syscall.Signal, grace time.Duration, now <-chan struct{}) bool {
	begun := nowInTicks()
	limit := time.NewTimer(grace)
	defer limit.Stop()
	t.signal(sig, nil)
	for p := (pace{begun: time.Now()}); t.alive(); {
		children.reapOrphans() // whole generations may pass until then
		if p.thorough() && p.looks > 0 {
			// What was missed in the first pass gets its signal. What was started
			// after that is left alone: it may be the command's own tidying up.
			t.signal(sig, func(p process) bool {
				covered := t.group && p.pgid == t.leader
				return !t.asked[p.pid] && !covered && p.start < begun
			})
		}
		look := time.NewTimer(p.pause())
		select {
		case <-limit.C:
			look.Stop()
			return false
		case <-now:
			look.Stop()
			return false
		case <-look.C:
		}
	}
	return true
}
