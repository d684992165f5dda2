package process

// This file tests what is decided from a table of processes, without any.

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"
)

// The members of a tree are what descends from its leader, and orphans that are in a group or
// session of one or may be no other tree's.
func TestMembers(t *testing.T) {
	own, group := os.Getpid(), unix.Getpgrp()
	session, err := unix.Getsid(0)
	if err != nil {
		t.Fatal(err)
	}
	const far = 1 << 23 // beyond all pids
	in := func(pid, parent, group, session int) Entry {
		return Entry{Pid: pid, Ppid: parent, Pgid: group, Sid: session, Start: uint64(pid)}
	}
	dead := func(p Entry) Entry {
		p.Dead = true
		return p
	}
	leaders[far+9] = new(Tree)
	t.Cleanup(func() { delete(leaders, far+9) })
	first := []Entry{
		in(own, 1, group, session),
		in(far, own, far, session), in(far+1, far, far, session), in(far+2, far+1, far+2, far+2),
		in(far+3, far, group, session), dead(in(far+4, far, far, session)),
		in(far+6, own, far+6, far+6), in(far+7, far+6, far+6, far+6), // from before
		in(far+8, own, far+8, far+80),                                     // a later one of a session from before
		in(far+9, own, far+9, session), in(far+10, far+9, far+9, session), // another tree's
		in(far+11, own, group, session), // may be another tree's
	}
	second := []Entry{
		in(own, 1, group, session), in(far+11, own, group, session),
		in(far+3, own, group, session), // was seen
		in(far+12, own, far+2, far+2),  // a group that was seen
		in(far+13, own, far+13, far+2), // a session that was seen
		in(far+14, own, far, session),  // the leader's group
		in(far+15, far+14, far+15, far+15),
		{Pid: far + 1, Ppid: own, Pgid: group, Sid: session, Start: 1}, // the pid of a member, used again
	}
	for _, c := range []struct {
		shared, group, reaped bool
		want, later           string
	}{
		{true, true, false, "0 1 2 3", "3 12 13 14 15"},
		{true, true, true, "0 1 2 3", "3 12 13 14 15"},
		{true, false, true, "0 1 2 3", "3 12 13 14 15"},
		{false, true, false, "0 1 2 3 11", "11 3 12 13 14 15 1"},
	} {
		tree := New(c.group, true, nil, nil)
		tree.probe, tree.leader = false, far
		tree.earlier, tree.sessions = map[int]uint64{far + 6: far + 6}, map[int]bool{far + 80: true}
		tree.shared.Store(c.shared)
		members := func(list []Entry) string {
			var pids []string
			for _, p := range tree.membersIn(list) {
				pids = append(pids, fmt.Sprint(p.Pid-far))
			}
			return strings.Join(pids, " ")
		}
		got := members(first)
		tree.reaped = c.reaped
		if later := members(second); got != c.want || later != c.later {
			t.Errorf("%+v: %s, and later %s", c, got, later)
		}
		tree.Close()
	}
	probe := New(true, true, nil, nil)
	defer probe.Close()
	probe.leader = far
	if got := probe.below(second, true); len(got) != 0 {
		t.Errorf("a probe adopts %+v", got)
	}
	if got := probe.below(first, true); len(got) != 4 || got[0].Pid != far+1 {
		t.Errorf("below a probe are %+v", got)
	}
}

// An orphan with the marks of a tree in its environment is the tree's.
func TestMarks(t *testing.T) {
	own := strings.Split(strings.TrimSuffix(string(environment(os.Getpid())), "\x00"), "\x00")
	for _, c := range []struct {
		marks []string
		dead  bool
		want  bool
	}{
		{nil, false, false}, {own[:1], false, true}, {own, false, true}, {own[:1], true, false},
		{append(slices.Clone(own), "RETRY_COPY=none"), false, false},
	} {
		tree := &Tree{marks: c.marks}
		if got := tree.claims(Entry{Pid: os.Getpid(), Pgid: -1, Sid: -1, Dead: c.dead}); got != c.want {
			t.Errorf("%d marks, dead %t: %t", len(c.marks), c.dead, got)
		}
	}
}

// Without a table of processes those near a command are enough if there are any.
func TestProbePids(t *testing.T) {
	for _, c := range []struct {
		first    int
		children []int
		want     string
		asked    int
	}{
		{20, []int{20, 25, 29, 5, 70}, "[20 25 29]", 10},
		{20, []int{20, 30, 5, 99, 100}, "[20 30 99 5]", 99},
		{20, []int{20}, "[20]", 99},
		{20, []int{1, 19, 21}, "[21]", 10},
		{0, []int{1, 5, 10, 99}, "[1 5 10 99]", 99},
		{95, []int{95, 99}, "[95 99]", 5},
		{95, []int{95, 94, 1}, "[95 1 94]", 99},
	} {
		asked := map[int]bool{}
		got := fmt.Sprint(probePids(c.first, 10, 100, func(pid int) bool {
			if asked[pid] {
				t.Errorf("%+v: %d is asked for again", c, pid)
			}
			asked[pid] = true
			return slices.Contains(c.children, pid)
		}))
		if got != c.want || len(asked) != c.asked || asked[0] {
			t.Errorf("%+v: %s, asked for %d", c, got, len(asked))
		}
	}
}

// What forks successors is killed until there has been none for a while.
func TestKillAll(t *testing.T) {
	const generations, each, leader = 100, idleRounds - 1, 7
	looks, killed := 0, 0
	last := 0
	killAll(func() []int {
		looks++
		return []int{leader, 1000 + min(looks/each, generations)}
	}, func(pid int) bool {
		if pid != leader && pid != last {
			last = pid
			killed++
		}
		return pid != leader
	})
	if killed != generations+1 || looks != (generations+1)*each {
		t.Errorf("%d killed in %d looks", killed, looks)
	}
}

// The environment of a process that executes another program is waited for, for a while.
func TestEnvironmentDuringAnExec(t *testing.T) {
	type file struct {
		from, to time.Duration // when it has text
	}
	const never, soon = time.Hour, 10 * time.Millisecond
	for name, c := range map[string]struct {
		environ, cmdline file
		gone             time.Duration
		want             string
		least, most      time.Duration
	}{
		"at once":              {file{0, never}, file{0, never}, never, "environ", 0, 0},
		"no variables":         {file{never, never}, file{0, never}, never, "", 0, 0},
		"in an exec":           {file{soon, never}, file{soon, never}, never, "environ", soon, soon + time.Millisecond},
		"in one, no variables": {file{never, never}, file{soon, never}, never, "", soon, soon + time.Millisecond},
		"gone":                 {file{never, never}, file{never, never}, 0, "", 0, 0},
		"gone meanwhile":       {file{never, never}, file{never, never}, soon, "", soon, soon + time.Millisecond},
		"for longer than it may": {file{never, never}, file{never, never}, never, "", longestExec,
			longestExec + time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			begun := time.Now()
			got := string(environ(func(name string) ([]byte, error) {
				now := time.Since(begun)
				file := map[string]file{"environ": c.environ, "cmdline": c.cmdline}[name]
				switch {
				case now >= c.gone:
					return nil, errors.New("no such process")
				case file.from <= now && now < file.to:
					return []byte(name), nil
				}
				return nil, nil
			}))
			if took := time.Since(begun); got != c.want || took < c.least || took > c.most {
				t.Errorf("%s: %q after %v, want %q within %v to %v", name, got, took, c.want, c.least, c.most)
			}
		})
	}
	reads := ""
	text := environ(func(name string) ([]byte, error) { // executed between the two looks
		reads += name + " "
		if reads == "environ " {
			return nil, nil
		}
		return []byte("A=1"), nil
	})
	if string(text) != "A=1" || reads != "environ cmdline environ " {
		t.Errorf("%q after the reads %s", text, reads)
	}
}
