package process

// This file tests trees of processes: the test program runs again as a program that starts
// commands, since it adopts and reaps all of its children.

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/retrysh/retry/engine/proc/stdio"
	"github.com/retrysh/retry/exitcodes"
	"github.com/retrysh/retry/testdata/session"
)

const sceneVariable = "TEST_OF_TREES_SCENE"

func TestMain(m *testing.M) {
	if name := os.Getenv(sceneVariable); name != "" {
		scenes[name].play()
		os.Exit(0)
	}
	os.Exit(session.Run(m))
}

// await waits until it is so.
func await(is func() bool) {
	for limit := time.Now().Add(5 * time.Minute); !is(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(limit) {
			fmt.Println("waited in vain")
			os.Exit(1)
		}
	}
}

// started starts a script as a leader, and waits until it has made the file "up". A script
// that forks afterwards may do so when it is asked to end: its child is not asked then.
func started(t *Tree, script string, env ...string) {
	_ = os.Remove("up")
	files := [3]stdio.File{stdio.File(0), stdio.File(1), stdio.File(2)}
	if err := t.Start([]string{"sh", "-c", script}, append(os.Environ(), env...), files, nil); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	if strings.Contains(script, "up") {
		await(func() bool { _, err := os.Stat("up"); return err == nil })
	}
}

func newTree(group bool, env ...string) *Tree {
	return New(group, false, env, func(line string) { fmt.Println("warning:", line) })
}

func ended(t *Tree) { await(t.HasEnded) }

// descriptors counts those that are open, those of the runtime's poller included, which the
// first timer opens.
func descriptors() (n int) {
	time.Sleep(time.Nanosecond)
	for fd := range uintptr(100) {
		if _, err := unix.FcntlInt(fd, unix.F_GETFD, 0); err == nil {
			n++
		}
	}
	return n
}

// kill9 kills a child, and waits until it is dead. Nobody reaps it.
func kill9(pid int) {
	_ = syscall.Kill(pid, syscall.SIGKILL)
	await(func() bool { p, _ := Stat(pid); return p.Dead && p.Ppid == os.Getpid() })
}

// pidIn is the pid that a script has written to a file.
func pidIn(file string) (pid int) {
	await(func() bool {
		text, _ := os.ReadFile(file)
		pid, _ = strconv.Atoi(strings.TrimSpace(string(text)))
		return pid > 0 && strings.HasSuffix(string(text), "\n")
	})
	return pid
}

// prepared are the scenes for which another program prepares, with its command line.
var prepared = map[string][]string{
	"without a table of processes": {
		"unshare", "--mount", "sh", "-c", `mount -t tmpfs none /proc && exec "$@"`, "sh",
	},
	"another user's processes":             {"setpriv", "--bounding-set=-kill"},
	"a directory that may not be searched": {"setpriv", "--bounding-set=-dac_override,-dac_read_search"},
}

// within is what a scene does after that and not every user may do.
var within = map[string][]string{
	"another user's processes": {"setpriv", "--reuid", "65534", "--clear-groups"},
}

var scenes = map[string]struct {
	play func()
	want string // "" is no scene for a test
}{
	"how leaders end": {func() {
		for _, script := range []string{"exit 0", "exit 7", "kill -9 $$", "kill -TERM $$"} {
			t := newTree(false)
			started(t, script)
			ended(t)
			code, sig := t.EndedBy()
			fmt.Println(code, int(sig), t.Reap(), t.Reap().Err == nil, t.HasEnded(),
				errors.Is(t.Signal(syscall.SIGTERM), os.ErrProcessDone))
			t.Close()
		}
	}, "0 0 {0 signal 0 <nil>} true true true\n7 0 {7 signal 0 <nil>} true true true\n0 9 {0 killed <nil>} true " +
		"true true\n0 15 {0 terminated <nil>} true true true\n"},
	"a tree that ends when it is asked": {func() {
		t := newTree(true)
		started(t, "sleep 1000 & echo $! >pid; touch up; wait")
		child := pidIn("pid")
		begun := time.Now()
		t.End(syscall.SIGTERM, time.Hour, nil)
		fmt.Println(t.HasEnded(), Alive(child), time.Since(begun) < time.Minute, t.Reap().Signal)
	}, "true false true terminated\n"},
	"one that cleans up": {func() {
		t := newTree(false)
		// What it starts for that is not asked to end.
		started(t, "trap 'sh -c \"trap \\\"echo asked\\\" TERM; touch cleaning; sleep 0.05; echo cleaned\"; exit 3' TERM; "+
			"touch up; while :; do sleep 0.01; done")
		t.End(syscall.SIGTERM, time.Hour, nil)
		fmt.Println(t.Reap().Code)
	}, "cleaned\n3\n"},
	"one that does not": {func() {
		t := newTree(false)
		started(t, "trap '' TERM; (trap '' TERM; echo $$ >x; while :; do sleep 0.01; done) & echo $! >pid; "+
			"touch up; wait; while :; do sleep 0.01; done")
		child := pidIn("pid")
		t.End(syscall.SIGTERM, 50*time.Millisecond, nil)
		fmt.Println(t.Reap().Signal, Alive(child))
	}, "killed false\n"},
	"killed at once": {func() {
		t, now := newTree(false), make(chan struct{})
		started(t, "trap '' TERM; touch up; while :; do sleep 0.01; done")
		close(now)
		t.End(syscall.SIGTERM, time.Hour, now)
		fmt.Println(t.Reap().Signal)
	}, "killed\n"},
	"a session of its own, after the leader": {func() {
		for _, group := range []bool{true, false} {
			_ = os.Remove("pid")
			t := newTree(group)
			started(t, "setsid sh -c 'echo $$ >pid; exec sleep 1000' & while ! [ -s pid ]; do sleep 0.01; done; "+
				"touch up")
			child := pidIn("pid")
			t.Remember()
			ended(t)
			t.Reap()
			fmt.Print(Alive(child), " ")
			t.End(syscall.SIGTERM, time.Hour, nil)
			_, known := Stat(child)
			fmt.Println(known)
			t.Close()
		}
	}, "true false\ntrue false\n"},
	"the leader's group, after the leader": {func() {
		t := newTree(true)
		started(t, "(trap 'echo asked; exit' TERM; touch up; while :; do sleep 0.01; done) &")
		ended(t)
		t.Reap()
		t.End(syscall.SIGTERM, time.Hour, nil)
	}, "asked\n"},
	"a stopped one": {func() {
		t := newTree(true)
		started(t, "echo $$ >pid; touch up; kill -STOP $$; sleep 1000")
		await(t.IsStopped)
		sig, stopped := t.StoppedBy()
		_, again := t.StoppedBy()
		p, _ := Stat(t.Pid())
		fmt.Println(sig == syscall.SIGSTOP, stopped, again, t.IsStopped(), p.Stopped)
		t.End(syscall.SIGTERM, time.Hour, nil)
		fmt.Println(t.Reap().Signal)
	}, "true true false true true\nterminated\n"},
	"what was there before": {func() {
		before := exec.Command("sh", "-c",
			"sleep 1000 & echo $! >earlier; until [ -e go ]; do sleep 0.01; done; (sleep 1000 & echo $! >later); wait")
		before.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := before.Start(); err != nil {
			panic(err)
		}
		earlier := pidIn("earlier")
		t := newTree(false)
		started(t, "sleep 1000 & echo $! >pid; touch up; wait")
		child := pidIn("pid")
		// An orphan of that session comes to this program, and is not the tree's.
		if err := os.WriteFile("go", nil, 0o600); err != nil {
			panic(err)
		}
		later := pidIn("later")
		await(func() bool { p, _ := Stat(later); return p.Ppid == os.Getpid() })
		t.End(syscall.SIGKILL, 0, nil)
		fmt.Println(Alive(before.Process.Pid), Alive(earlier), Alive(later), Alive(child))
		_ = syscall.Kill(later, syscall.SIGKILL)
		_ = syscall.Kill(earlier, syscall.SIGKILL)
		_ = syscall.Kill(before.Process.Pid, syscall.SIGKILL)
	}, "true true true false\n"},
	"orphans of another tree": {func() {
		one, two := newTree(false, "RETRY_COPY=1"), newTree(false, "RETRY_COPY=2")
		_ = os.Setenv("RETRY_COPY", "1")
		started(one, "(sleep 1000 & echo $! >pid1); touch up; exec sleep 1000")
		_ = os.Setenv("RETRY_COPY", "2")
		started(two, "(sleep 1000 & echo $! >pid2); touch up; exec sleep 1000")
		first, second := pidIn("pid1"), pidIn("pid2")
		fmt.Println(one.IsShared(), two.IsShared())
		one.End(syscall.SIGTERM, time.Hour, nil)
		fmt.Println(Alive(first), Alive(second), two.HasEnded())
		one.Reap()
		one.Close()
		two.End(syscall.SIGTERM, time.Hour, nil)
		fmt.Println(Alive(second))
	}, "true true\nfalse true false\nfalse\n"},
	"groups": {func() {
		t := newTree(true)
		started(t, "trap 'echo leader >>got' USR1; (trap 'echo child >>got; exit' USR1; touch ready; while :; "+
			"do sleep 0.01; done) & while ! [ -e ready ]; do sleep 0.01; done; touch up; while :; do sleep 0.01; done")
		t.SignalGroup(syscall.SIGUSR1)
		await(func() bool { text, _ := os.ReadFile("got"); return strings.Count(string(text), "\n") == 2 })
		_ = t.Signal(syscall.SIGUSR1)
		await(func() bool { text, _ := os.ReadFile("got"); return strings.Count(string(text), "\n") == 3 })
		text, _ := os.ReadFile("got")
		fmt.Println(strings.Count(string(text), "leader"), strings.Count(string(text), "child"))
		t.End(syscall.SIGKILL, 0, nil)
	}, "2 1\n"},
	"one that forks for ever": {func() {
		t := newTree(false)
		started(t, "touch up; f() { sleep 0.001; f & }; f; f; sleep 1000")
		t.End(syscall.SIGTERM, 20*time.Millisecond, nil)
		fmt.Println(t.Reap().Err) // nobody else has its status
		list, _ := List()
		left := 0
		for _, p := range list {
			if p.Ppid == os.Getpid() && !p.Dead {
				left++
			}
		}
		fmt.Println(left, LivingChildren())
	}, "<nil>\n0 false\n"},
	"orphans are reaped": {func() {
		t := newTree(false)
		moved := t.Moved()
		started(t, "(sh -c 'until [ -e end ]; do sleep 0.01; done' & echo $! >pid); touch up; exec sleep 1000")
		orphan := pidIn("pid")
		await(func() bool { p, _ := Stat(orphan); return p.Ppid == os.Getpid() })
		if err := os.WriteFile("end", nil, 0o600); err != nil {
			panic(err)
		}
		await(func() bool { _, known := Stat(orphan); return !known })
		fmt.Println("reaped", t.HasEnded())
		<-moved
		t.End(syscall.SIGKILL, 0, nil)
		fmt.Println(t.Reap().Signal)
	}, "reaped false\nkilled\n"},
	"orphans behind a leader that has ended": {func() {
		t := newTree(false)
		started(t, "(sleep 1000 & echo $! >pid1; sleep 1000 & echo $! >pid2); touch up; exit 7")
		ended(t)
		before := descriptors()
		list := openChildList()
		for range 2 {
			found := list.read()
			fmt.Print(slices.Contains(found, pidIn("pid1")) && slices.Contains(found, pidIn("pid2")) &&
				len(found) <= 3, " ")
		}
		list.close()
		orphan := pidIn("pid1")
		_ = syscall.Kill(orphan, syscall.SIGKILL)
		await(func() bool { Orphans(); _, known := Stat(orphan); return !known })
		if _, err := List(); err != nil {
			panic(err)
		}
		orphan = pidIn("pid2")
		kill9(orphan)
		fmt.Print(descriptors()-before, LivingChildren(), t.Reap(), " ")
		_, known := Stat(orphan)
		fmt.Println(known)
	}, "true true 0 false {7 signal 0 <nil>} false\n"},
	"all orphans that have ended": {func() {
		t := newTree(false)
		started(t, "(sleep 1000 & echo $! >pid1; sleep 1000 & echo $! >pid2); touch up; exec sleep 1000")
		for _, file := range []string{"pid1", "pid2"} {
			kill9(pidIn(file))
		}
		Orphans()
		_, first := Stat(pidIn("pid1"))
		_, second := Stat(pidIn("pid2"))
		fmt.Println(first, second, wait4(t.leader).Err)
		t.End(syscall.SIGKILL, 0, nil)
	}, "false false it has not ended\n"},
	"orphans are killed, leaders are not": {func() {
		t := newTree(false)
		started(t, "(sleep 1000 & echo $! >pid1; sleep 1000 & echo $! >pid2); touch up; exec sleep 1000")
		kill9(pidIn("pid1"))
		before := descriptors()
		killOrphans()
		_, first := Stat(pidIn("pid1"))
		await(func() bool { p, known := Stat(pidIn("pid2")); return !known || p.Dead })
		fmt.Println(first, descriptors()-before, t.HasEnded())
		t.End(syscall.SIGKILL, 0, nil)
	}, "false 0 false\n"},
	"orphans are reaped while a tree ends": {func() {
		t := newTree(false)
		started(t, "(sleep 1000 & echo $! >pid); o=$(cat pid); trap 'kill -9 $o; while [ -e /proc/$o ]; do sleep "+
			"0.01; done; exit 3' TERM; touch up; while :; do sleep 0.01; done")
		t.End(syscall.SIGTERM, time.Hour, nil)
		fmt.Println(t.Reap().Code)
	}, "3\n"},
	"a tree beside another": {func() {
		one := newTree(false)
		started(one, "touch up; exec sleep 1000")
		two := newTree(false)
		fmt.Println(len(two.earlier))
		one.End(syscall.SIGKILL, 0, nil)
	}, "0\n"},
	"a leader whose pid is another's now": {func() {
		other := exec.Command("sh", "-c", "setsid sh -c 'echo $$ >pid; exec sleep 1000' & wait")
		if err := other.Start(); err != nil {
			panic(err)
		}
		pid := pidIn("pid")
		t := newTree(true)
		t.leader, t.reaped = pid, true
		t.SignalGroup(syscall.SIGKILL)
		t.asked, t.refusing = map[int]bool{}, map[int]bool{}
		fmt.Println(t.Signal(syscall.SIGKILL), t.signal(syscall.SIGKILL, nil), t.IsStopped(), t.HasEnded())
		time.Sleep(time.Millisecond) // for a signal to arrive
		fmt.Println(Alive(t.leader))
		_ = syscall.Kill(t.leader, syscall.SIGKILL)
	}, "os: process already finished 0 false true\ntrue\n"},
	"one that the first signal does not reach": {func() {
		t := newTree(false)
		// The program in between is to pass the signal on, and ends without that.
		started(t, "exec \"$S\"", sceneVariable+"=another of this program that passes nothing on", "S="+os.Args[0])
		child := pidIn("child")
		await(func() bool { p, _ := Stat(child); return p.Start > 0 && p.Start < ticks() })
		t.End(syscall.SIGTERM, time.Hour, nil)
	}, "asked\n"},
	"another of this program that passes nothing on": {func() {
		child := exec.Command("sh", "-c", "trap 'echo asked; exit' TERM; echo $$ >child; while :; do sleep 0.01; done")
		child.Stdout = os.Stdout
		if err := child.Start(); err != nil {
			panic(err)
		}
		time.Sleep(time.Hour)
	}, ""},
	"without a table of processes": {func() {
		_, err := List()
		t := newTree(true)
		started(t, "trap 'touch got; exit' TERM; (sleep 1000 & echo $! >orphan); sleep 1000 & touch up; wait")
		orphan := pidIn("orphan")
		fmt.Println(err, len(t.Remember()), len(t.members()), t.alone())
		pidLimit = orphan + 1
		grouped, alike := newTree(true), newTree(false)
		_, leader := alike.earlier[t.leader]
		_, adopted := alike.earlier[orphan]
		fmt.Println(len(grouped.earlier), len(alike.earlier), leader, adopted)
		grouped.Close()
		alike.Close()
		t.SignalSharedGroup(syscall.SIGTERM)
		await(func() bool { _, err := os.Stat("got"); return err == nil })
		t.End(syscall.SIGTERM, time.Hour, nil)
		fmt.Println(t.Reap().Err, Alive(orphan))
	}, "no such file or directory 0 1 false\n0 2 true true\n<nil> false\n"},
	"another user's processes": {func() {
		for _, group := range []bool{true, false} {
			said := map[string]bool{}
			t := New(group, false, nil, func(line string) { said[line] = true })
			input, open, err := os.Pipe()
			if err != nil {
				panic(err)
			}
			last := map[bool]string{true: "1", false: "2"}[group]
			script := "exec 3<&0; for i in 1 2; do setpriv --reuid 65534 --clear-groups cat <&3 & " +
				"echo $! >pid$N$i; [ $i = $N ] && break; done; wait"
			err = t.Start([]string{"sh", "-c", script}, append(os.Environ(), "N="+last),
				[3]stdio.File{stdio.File(input.Fd()), stdio.File(1), stdio.File(2)}, nil)
			if err != nil {
				panic(err)
			}
			for _, each := range []string{"1", last} {
				await(func() bool { return kill(pidIn("pid"+last+each), 0) == syscall.EPERM })
			}
			t.End(syscall.SIGTERM, 20*time.Millisecond, nil)
			fmt.Println(slices.Collect(maps.Keys(said)), t.Reap().Signal != 0, Alive(pidIn("pid"+last+last)))
			_ = open.Close()
			await(func() bool { Orphans(); return !LivingChildren() })
			t.Close()
		}
	}, "[could not signal a process of the command: operation not permitted] true true\n" +
		"[could not signal 2 processes of the command: operation not permitted] true true\n"},
	"a directory that may not be searched": {func() {
		for _, dir := range []string{"closed", "open"} {
			if err := os.Mkdir(dir, 0o700); err != nil {
				panic(err)
			}
			if err := os.WriteFile(dir+"/script", nil, 0o700); err != nil {
				panic(err)
			}
		}
		_ = os.Chmod("closed", 0)
		for _, path := range []string{"closed", "closed:open", "closed:/no/such"} {
			_ = os.Setenv("PATH", path)
			err := Each([]string{"script"}, func(path string, _ []string) error {
				fmt.Print(path, " ")
				return nil
			})
			fmt.Println(exitcodes.Of(err), err)
		}
		_ = os.Chmod("closed", 0o700)
	}, "126 \"script\": not found in PATH, where \"closed\" may not be searched\nopen/script 0 <nil>\n" +
		"126 \"script\": not found in PATH, where \"closed\" may not be searched\n"},
	"no child, and one again": {func() {
		first := newTree(false)
		started(first, "exit 0")
		ended(first)
		first.Reap()
		first.Close()
		fmt.Print(LivingChildren(), childless.Load(), " ")
		second := newTree(false)
		started(second, "touch up; exec sleep 1000")
		fmt.Println(LivingChildren(), second.IsStopped(), len(second.earlier))
		second.End(syscall.SIGKILL, 0, nil)
		second.Reap()
		fmt.Println(LivingChildren(), second.IsStopped())
	}, "false true true false 0\nfalse false\n"},
	"a wait for the leader": {func() {
		t := newTree(false)
		started(t, "touch up; exec sleep 1000")
		before := descriptors()
		fmt.Print(t.AwaitUntil(time.Millisecond), " ")
		await(func() bool { // a signal may end it early
			begun := time.Now()
			return !t.AwaitUntil(5*time.Millisecond) && time.Since(begun) >= 5*time.Millisecond
		})
		_ = t.Signal(syscall.SIGKILL)
		await(func() bool { return t.AwaitUntil(time.Minute) })
		fmt.Println(descriptors()-before, t.Reap().Signal)
	}, "false 0 killed\n"},
	"a descriptor for the command": {func() {
		file, err := os.Create("inherited")
		if err != nil {
			panic(err)
		}
		fd := file.Fd()
		for _, inherit := range [][]uintptr{{fd}, nil} {
			t := newTree(false)
			files := [3]stdio.File{stdio.File(fd), stdio.File(1), stdio.File(2)}
			script := fmt.Sprintf("[ /proc/self/fd/0 -ef inherited ] || exit 2; [ -e /proc/self/fd/%d ]", fd)
			if err := t.Start([]string{"sh", "-c", script}, os.Environ(), files, inherit); err != nil {
				panic(err)
			}
			ended(t)
			fmt.Print(t.Reap().Code, " ")
			t.Close()
		}
	}, "0 1 "},
	"a probe": {func() {
		beside := exec.Command("sleep", "1000")
		if err := beside.Start(); err != nil {
			panic(err)
		}
		t := New(true, true, nil, nil)
		started(t, "setsid sh -c 'echo $$ >pid; exec sleep 1000' & (sleep 1000 & echo $! >orphan); while ! [ -s "+
			"pid ]; do sleep 0.01; done; touch up; wait")
		child, orphan := pidIn("pid"), pidIn("orphan")
		its, _ := Stat(orphan)
		fmt.Println(adopts, its.Ppid == os.Getpid(), t.alone(), t.IsShared(), t.alive())
		t.End(syscall.SIGTERM, time.Hour, nil)
		fmt.Println(Alive(child), Alive(orphan), Alive(beside.Process.Pid), t.HasEnded(), t.alive())
		_ = beside.Process.Kill()
		await(func() bool { return hasEnded(beside.Process.Pid) })
		Orphans() // it is none
		fmt.Println(beside.Wait())
	}, "false false false false true\nfalse false true true false\nsignal: killed\n"},
	"the program's group": {func() {
		t := newTree(false)
		script := "trap 'echo x >>got; exit' USR1; touch $0; while :; do sleep 0.01; done"
		started(t, "setsid sh -c \"$S\" other & sh -c \"$S\" child & while ! [ -e other ] || ! [ -e child ]; do "+
			"sleep 0.01; done; S=; trap 'echo x >>got' USR1; touch up; while :; do sleep 0.01; done", "S="+script)
		t.SignalSharedGroup(syscall.SIGUSR1)
		got := func() int { text, _ := os.ReadFile("got"); return strings.Count(string(text), "x") }
		await(func() bool { return got() == 2 })
		t.End(syscall.SIGKILL, 0, nil)
		fmt.Println(got())
	}, "2\n"},
	"each gets the signal once": {func() {
		for _, group := range []bool{true, false} {
			_ = os.Remove("got")
			t := newTree(group)
			script := "n=0; trap 'n=$((n+1))' TERM; touch $0; while [ $n = 0 ]; do sleep 0.01; done; sleep " +
				"0.05; echo $n >>got"
			started(t, "rm -f other child; setsid sh -c \"$S\" other & sh -c \"$S\" child & while ! [ -e other "+
				"] || ! [ -e child ]; do sleep 0.01; done; exec sh -c \"$S\" up", "S="+script)
			t.End(syscall.SIGTERM, time.Hour, nil)
			text, _ := os.ReadFile("got")
			fmt.Printf("%q ", text)
			t.Close()
		}
	}, `"1\n1\n1\n" "1\n1\n1\n" `},
	"whether a tree is alone": {func() {
		one := newTree(false)
		started(one, "touch up; exec sleep 1000")
		fmt.Print(one.alone(), " ") // it is not known whether there is a table
		one.Remember()
		fmt.Print(one.alone(), " ")
		probe := New(true, true, nil, nil)
		started(probe, "touch up; exec sleep 1000")
		fmt.Print(one.alone(), one.IsShared(), " ")
		_ = one.Signal(syscall.SIGKILL)
		ended(one)
		one.Reap()
		fmt.Print(one.alone(), " ")
		probe.End(syscall.SIGKILL, 0, nil)
		probe.Reap()
		fmt.Print(one.alone(), " ")
		one.Close()
		probe.Close()
		two := newTree(false)
		three := newTree(false)
		two.Remember()
		fmt.Println(two.alone(), two.IsShared(), three.IsShared())
	}, "false true false false false true false true true\n"},
	"children by their pids": {func() {
		t := newTree(false, "RETRY_COPY=1")
		started(t, "(sleep 1000 & echo $! >orphan; setsid sh -c 'echo $$ >other; exec sleep 1000' & sleep 1000 "+
			"& echo $! >zombie); touch up; exec sleep 1000")
		orphan, zombie := pidIn("orphan"), pidIn("zombie")
		pidIn("other") // which is in a group of its own then
		await(func() bool { p, _ := Stat(zombie); return p.Ppid == os.Getpid() })
		_ = syscall.Kill(zombie, syscall.SIGKILL)
		await(func() bool { p, _ := Stat(zombie); return p.Dead })
		pids := func() (pids []int) {
			for _, p := range t.membersWithoutTable() {
				pids = append(pids, p.Pid)
			}
			return pids
		}
		fmt.Print(slices.Equal(pids(), []int{t.leader}), " ")
		_ = t.Signal(syscall.SIGKILL)
		ended(t)
		fmt.Print(slices.Equal(pids(), []int{orphan}), " ")
		_, known := Stat(zombie)
		fmt.Print(known, " ")
		t.earlier = map[int]uint64{orphan: 0}
		fmt.Println(len(pids()))
		t.earlier = nil
		t.End(syscall.SIGKILL, 0, nil)
	}, "true true false 0\n"},
	"groups by their leaders": {func() {
		t := newTree(true)
		started(t, "sleep 1000 & echo $! >pid; touch up; wait")
		child := pidIn("pid")
		whole := []Entry{{Pid: t.leader, Pgid: t.leader}}
		fmt.Print(slices.Equal(t.membersWithoutTable(), whole), " ")
		_ = t.Signal(syscall.SIGKILL)
		ended(t)
		fmt.Print(slices.Equal(t.membersWithoutTable(), whole), " ")
		_ = syscall.Kill(child, syscall.SIGKILL)
		await(func() bool { return len(t.membersWithoutTable()) == 0 })
		fmt.Println(t.Reap().Signal, len(t.membersWithoutTable()))
	}, "true true killed 0\n"},
	"another of this program": {func() {
		own, none := os.Getpid(), 1<<22+1 // beyond all pids
		below := underAnother([]Entry{{Pid: own, Ppid: 1}, {Pid: none, Ppid: own}, {Pid: none + 1, Ppid: none},
			{Pid: none + 2, Ppid: 1}, {Pid: none + 3, Ppid: none + 2}})
		fmt.Println(len(below), below[none], below[none+1], isAnother(own), isAnother(none))
	}, "2 true true true false\n"},
	"what cannot be started": {func() {
		t := newTree(false)
		files := [3]stdio.File{stdio.File(0), stdio.File(1), stdio.File(2)}
		fmt.Println(t.Start([]string{"/no/such"}, nil, files, nil))
		fmt.Println(LivingChildren())
	}, "\"/no/such\": not found\nfalse\n"},
}

func TestTrees(t *testing.T) {
	for name, c := range scenes {
		if c.want == "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
			defer cancel()
			by := prepared[name]
			if by != nil {
				tried := slices.Concat(by, within[name], []string{"true"})
				if err := exec.CommandContext(ctx, tried[0], tried[1:]...).Run(); err != nil {
					t.Skipf("%q is not possible here: %v", tried, err)
				}
			}
			line := append(slices.Clone(by), os.Args[0])
			cmd := exec.CommandContext(ctx, line[0], line[1:]...)
			cmd.Env = append(os.Environ(), sceneVariable+"="+name)
			cmd.Dir, cmd.WaitDelay = t.TempDir(), time.Minute     // for what is left and writes
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // some signal it
			out, err := cmd.Output()                              // without what shells say of their commands' ends
			if err != nil || string(out) != c.want {
				t.Errorf("it prints %q, %v; want %q", out, err, c.want)
			}
		})
	}
}

// A file is found as execvp finds it, and what cannot be executed is told with its code.
func TestEach(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"script": "#!/bin/sh\n", "bare": "echo\n", "dos": "#!/no/such/sh\r\n", "lost": "#!/no/such/sh -e\n",
		"closed/script": "#!/bin/sh\n", "plain": "x", "long": "#!" + strings.Repeat("/x", 200) + "\n",
	} {
		if err := os.MkdirAll(dir+"/closed", 0o700); err != nil {
			t.Fatal(err)
		}
		mode := os.FileMode(0o700)
		if name == "plain" {
			mode = 0o600
		}
		if err := os.WriteFile(dir+"/"+name, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	for _, c := range []struct {
		path, name string
		gives      error // what start returns at first
		tried      string
		err        string
	}{
		{dir, "script", nil, dir + "/script", ""},
		{"/no/such:" + dir, "script", nil, dir + "/script", ""},
		{dir + ":/no/such", "script", nil, dir + "/script", ""},
		{"", "script", nil, "./script", ""},
		{"/no/such:", "script", nil, "./script", ""},
		{"", "nope-there-is-none", nil, "", `"nope-there-is-none": not found in PATH`},
		{dir, "nope", nil, "", `"nope": not found in PATH`},
		{dir, "", nil, "", `"": not found: the command's name is empty`},
		{dir, dir + "/script", nil, dir + "/script", ""},
		{dir, "./nope", syscall.ENOENT, "./nope", `"./nope": not found`},
		{dir, "bare", syscall.ENOEXEC, dir + "/bare /bin/sh", ""},
		{dir, "lost", syscall.ENOENT, dir + "/lost", `"` + dir + `/lost": its interpreter "/no/such/sh" was not found`},
		{dir, "dos", syscall.ENOENT, dir + "/dos",
			`"` + dir + `/dos": its interpreter "/no/such/sh" was not found; its lines end with CR LF; write: ` +
				`sed -i 's/\r$//' ` + dir + `/dos`},
		{dir, dir, syscall.EACCES, dir, `"` + dir + `": is a directory`},
		{dir, "script", syscall.EACCES, dir + "/script", `"` + dir + `/script": cannot be executed: permission denied`},
		{dir + ":" + dir + "/closed", "script", syscall.EACCES, dir + "/script " + dir + "/closed/script", ""},
		{dir + ":" + dir + "/closed", "script", syscall.ENOENT, dir + "/script " + dir + "/closed/script", ""},
		{dir + ":" + dir + "/closed", "script", syscall.ENOTDIR, dir + "/script " + dir + "/closed/script", ""},
		{dir + ":" + dir + "/closed", "script", syscall.EAGAIN, dir + "/script",
			`"script": the system has no process to start it in: resource temporarily unavailable`},
		{dir, "script", syscall.E2BIG, dir + "/script",
			`"` + dir + `/script": cannot be executed: argument list too long`},
	} {
		t.Setenv("PATH", c.path)
		var tried []string
		gives := c.gives
		err := Each([]string{c.name, "word"}, func(path string, argv []string) error {
			tried = append(tried, path)
			if argv[len(argv)-1] != "word" || path == "/bin/sh" && (argv[0] != path || len(argv) != 3) {
				t.Errorf("%s: %q", path, argv)
			}
			now := gives
			gives = nil
			return now
		})
		said := ""
		if err != nil {
			said = err.Error()
		}
		if strings.Join(tried, " ") != c.tried || said != c.err {
			t.Errorf("%q in %q: tried %q, %q; want %q, %q", c.name, c.path, tried, said, c.tried, c.err)
		}
	}
	for name, want := range map[string]string{"script": "/bin/sh", "lost": "/no/such/sh", "bare": "", "none": "",
		"long": strings.Repeat("/x", (256-len("#!"))/2)} { // as far as the kernel reads
		if got := Interpreter(dir + "/" + name); got != want {
			t.Errorf("%s is for %q, want %q", name, got, want)
		}
	}
}

// The state of a process, and which entries of an environment are an attempt's.
func TestEntries(t *testing.T) {
	line := func(state string, threads int) []byte {
		return []byte(fmt.Sprintf("4 (a) %s 2 3 5 34816 -1 4194304 1 2 3 4 5 6 7 8 20 0 %d 0 77 1 2 3\n", state,
			threads))
	}
	for _, c := range []struct {
		state         string
		threads       int
		dead, stopped bool
	}{{"S", 1, false, false}, {"Z", 1, true, false}, {"Z", 0, true, false}, {"Z", 2, false, false},
		{"X", 1, true, false}, {"T", 1, false, true}, {"t", 1, false, false}} {
		if p, ok := parseStat(line(c.state, c.threads)); !ok || p.Dead != c.dead || p.Stopped != c.stopped {
			t.Errorf("%s with %d threads: %+v", c.state, c.threads, p)
		}
	}
	for _, bad := range []string{"0 (a) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20",
		"4 (a) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18"} {
		if p, ok := parseStat([]byte(bad)); ok {
			t.Errorf("%q: %+v", bad, p)
		}
	}
	if got := fmt.Sprint(marksOf([]string{"A=1", "RETRY_RUN_ID=r", "RETRY_ATTEMPT=2", "RETRY_COPY=0", "TRACEPARENT=t",
		"RETRY_ATTEMPTS=5", "RETRY_RUN_ID"})); got != "[RETRY_RUN_ID=r RETRY_ATTEMPT=2 RETRY_COPY=0 "+
		"TRACEPARENT=t RETRY_RUN_ID]" {
		t.Error(got)
	}
	under := byParent([]Entry{{Pid: 2, Ppid: 1}, {Pid: 3, Ppid: 2}, {Pid: 4, Ppid: 3}, {Pid: 5, Ppid: 2},
		{Pid: 6, Ppid: 9}})
	var seen []int
	descend(under, 1, func(p Entry) bool {
		seen = append(seen, p.Pid)
		return p.Pid != 3
	})
	if got := fmt.Sprint(seen); got != "[2 3 5]" {
		t.Error(got)
	}
	session, err := unix.Getsid(0)
	if err != nil || session < 2 || isForeign(Entry{Sid: session}) || isForeign(Entry{}) ||
		!isForeign(Entry{Sid: 1}) || !isForeign(Entry{Sid: session + 1}) {
		t.Errorf("this session is %d, %v: others are foreign, and none is not", session, err)
	}
	if !has(map[int]uint64{4: 7}, Entry{Pid: 4, Start: 7}) || has(map[int]uint64{4: 7}, Entry{Pid: 4, Start: 8}) ||
		has(nil, Entry{Pid: 4}) {
		t.Error("a process is known by its pid and start")
	}
}

// The longer a tree takes to end, the less often it is looked at.
func TestPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for since, want := range map[time.Duration]time.Duration{0: 500 * time.Microsecond,
			100 * time.Millisecond: 10 * time.Millisecond, time.Second: 40 * time.Millisecond,
			time.Hour: 40 * time.Millisecond} {
			if got := pause(time.Now().Add(-since)); got != want {
				t.Errorf("%v after the begin it pauses for %v, want %v", since, got, want)
			}
		}
	})
}
