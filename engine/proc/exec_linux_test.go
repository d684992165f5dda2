package proc

// This file holds tests of what surrounds an exec.

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/proc/signals"
)

// Between giving up its handlers and the exec, a signal that asks for the end
// ends the program: by itself, or with 128+n as PID 1, which no default action
// can end.
func TestSignalJustBeforeExec(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		d := order(t, orders{Hesitate: true})
		d.start()
		eventually(t, "the handlers are given up", func() bool { return len(contents(t, d.out)) > 0 })
		_ = d.Process.Signal(sig)
		d.wait()
		if how := d.ProcessState.Sys().(syscall.WaitStatus); how.Signal() != sig || d.Stderr.Len() > 0 {
			t.Errorf("%v: %s, %q", sig, d.end(), d.Stderr.String())
		}
		if exec.Command("unshare", "--pid", "--fork", "--mount-proc", "true").Run() != nil {
			t.Log("not as PID 1: no PID namespace is available")
			continue
		}
		d = order(t, orders{Hesitate: true})
		d.Path, d.Args = "/usr/bin/env",
			append([]string{"env", "unshare", "--pid", "--fork", "--kill-child", "--mount-proc"}, d.Args...)
		d.start()
		eventually(t, "the handlers are given up", func() bool { return len(contents(t, d.out)) > 0 })
		if err := syscall.Kill(onlyChild(t, d.Process.Pid), sig); err != nil {
			t.Fatal(err)
		}
		d.wait()
		if want := fmt.Sprintf("exit status %d", 128+int(sig)); d.end() != want || d.Stderr.Len() > 0 {
			t.Errorf("PID 1, %v: %s, %q", sig, d.end(), d.Stderr.String())
		}
	}
}

func onlyChild(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		t.Skip(err)
	}
	child, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return child
}

// A probe leaves no descriptor open, however it ends, and no end of the program under way. Those of
// earlier tests may be closed meanwhile, by the garbage collector.
func TestProbesLeaveNothing(t *testing.T) {
	const own = "/proc/self/fd"
	open := func() map[string]bool { // by number and file
		files, err := os.ReadDir(own)
		if err != nil {
			t.Skip(err)
		}
		all := map[string]bool{}
		for _, f := range files {
			if file, err := os.Readlink(filepath.Join(own, f.Name())); err == nil { // else that of ReadDir
				all[f.Name()+" "+file] = true
			}
		}
		return all
	}
	late, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	for round := range 2 { // what stays open for all is opened in the first
		before := open()
		for argv, c := range map[string]struct {
			ctx  context.Context
			code int
		}{
			"true": {t.Context(), 0}, "/no/such": {t.Context(), 127}, "sleep 600": {late, 124},
		} {
			var out strings.Builder
			if res := Probe(c.ctx, strings.Fields(argv), os.Environ(), &out); res.ExitCode != c.code ||
				res.TimedOut != (c.code == 124) {
				t.Errorf("%s: %+v", argv, res)
			}
			if err := SignalTo(os.Getpid(), func() bool { return false }, "SIGTERM"); err != os.ErrProcessDone {
				t.Error(err)
			}
			if signals.Ending.Load() != 0 {
				t.Fatalf("%s: an end is under way", argv)
			}
		}
		for file := range open() {
			if round > 0 && !before[file] {
				t.Errorf("descriptor %s is open, and was not", file)
			}
		}
	}
	done := Busy()
	if signals.Ending.Load() != 1 {
		t.Error("the program is busy with its end")
	}
	if done(); signals.Ending.Load() != 0 {
		t.Error("the program is done with its end")
	}
}

// A limit that comes right after a signal to the command sends it no second one, and kills
// it after the grace.
func TestLimitRightAfterASignal(t *testing.T) {
	t.Parallel()
	r := New(Config{KillAfter: 20 * time.Millisecond}, signals.New())
	r.probe = true // it adopts no processes
	var out strings.Builder
	a := r.Start(t.Context(), attempt.Spec{
		Argv: sh(`trap 'echo got it' TERM; while :; do sleep 0.01; done`), Env: os.Environ(), Stdout: &out,
		Streams: attempt.Instead, Timeout: 200 * time.Millisecond,
	}).(*running)
	a.passed = time.Now().Add(time.Hour) // as if it were now
	if res := a.Wait(); !res.TimedOut || res.Signal != "SIGKILL" || out.Len() > 0 {
		t.Errorf("%+v, %q", res, out.String())
	}
	_ = a.Settle(true)
}

// What has reached an attempt before its command is started is decided without it.
func TestBeforeTheStart(t *testing.T) {
	t.Parallel()
	past := time.Now().Add(-time.Second)
	late := attempt.Result{DeadlinePassed: true, NotRun: true, ExitCode: 124}
	term := attempt.Result{Cancelled: "SIGTERM", Signal: "SIGTERM", ExitCode: 143}
	again := term
	again.CancelledAgain = true
	for name, c := range map[string]struct {
		signals  []syscall.Signal
		beside   bool // they came before this copy, when another one ran
		deadline time.Time
		want     attempt.Result
	}{
		"nothing":                   {want: attempt.Result{ExitCode: 127}},
		"a signal that ends":        {signals: []syscall.Signal{syscall.SIGTERM}, want: term},
		"two":                       {signals: []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP}, want: again},
		"one that ends nothing":     {signals: []syscall.Signal{syscall.SIGUSR1}, want: attempt.Result{ExitCode: 127}},
		"one before this copy":      {signals: []syscall.Signal{syscall.SIGTERM}, beside: true, want: term},
		"the deadline":              {deadline: past, want: late},
		"a signal and the deadline": {signals: []syscall.Signal{syscall.SIGTERM}, deadline: past, want: term},
	} {
		r := New(Config{}, signals.New())
		r.probe = true // it adopts no processes
		spec := attempt.Spec{Argv: []string{"/no/such"}, Deadline: c.deadline}
		dispatch := func() {
			for _, sig := range c.signals {
				r.signals.Dispatch(sig)
			}
		}
		if c.beside {
			spec.Copy = 1
			r.signals.Enter(signals.NewInbox(true), 0)
			dispatch()
		}
		a := r.enter(t.Context(), spec)
		if !c.beside {
			dispatch()
		}
		a.start()
		got := a.Wait()
		if err := a.Settle(false); err != nil || got.Duration <= 0 || (got.StartErr != nil) != (got.ExitCode == 127) {
			t.Errorf("%s: %v, %+v", name, err, got)
		}
		got.Duration, got.StartErr = 0, nil
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// A signal that the terminal sent during the start is passed to a command that had no handler
// for it yet, and to no other. (The signal is HUP: dash handles INT for itself.)
func TestSignalDuringTheStart(t *testing.T) {
	t.Parallel()
	for _, early := range []bool{false, true} {
		dir := t.TempDir()
		r := New(Config{KillAfter: time.Minute}, signals.New())
		r.probe = true // it adopts no processes
		var out strings.Builder
		a := r.enter(t.Context(), attempt.Spec{
			Argv: sh("cd " + word(dir) + "; until [ -e go ]; do sleep 0.01; done; trap 'echo HUP; exit 0' HUP; " +
				"trap 'echo TERM; exit 0' TERM; until [ -e end ]; do sleep 0.01; done; kill -TERM $$"),
			Env: os.Environ(), Stdout: &out, Timeout: limit,
		})
		a.start()
		handles := func() {
			touch(t, dir+"/go")
			eventually(t, "a handler", func() bool { return signals.Handles(a.Pid(), syscall.SIGHUP) })
		}
		want := "HUP\n"
		if early {
			want = "TERM\n"
			handles()
		}
		a.foreground, a.getsSignals = true, false // it catches none
		a.dispatchMissed(true, []syscall.Signal{syscall.SIGHUP})
		if !early {
			handles()
		}
		a.handleSignals()
		if early {
			touch(t, dir+"/end")
		}
		if res := a.Wait(); res.Cancelled != "SIGHUP" || res.ExitCode != 0 || out.String() != want {
			t.Errorf("handled early %t: %+v, %q", early, res, out.String())
		}
		_ = a.Settle(true)
	}
}

// A cancelled probe leaves nothing, however stubborn and however far from its
// process group, and is gone soon.
func TestCancelledProbe(t *testing.T) {
	for _, trap := range []string{`trap "" TERM INT HUP`, ":"} {
		testCancelledProbe(t, trap)
	}
}

func testCancelledProbe(t *testing.T, trap string) {
	dir := t.TempDir()
	script := trap + `; cd ` + word(dir) + `
		setsid sh -c 'echo $$ >a; exec sleep 600' &
		sh -c 'echo $$ >b; exec sleep 600' &
		echo $$ >c; wait`
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan time.Time, 1)
	go func() {
		Probe(ctx, sh(script), os.Environ(), io.Discard)
		ended <- time.Now()
	}()
	pids := []int{readPid(t, dir+"/a"), readPid(t, dir+"/b"), readPid(t, dir+"/c")}
	begun := time.Now()
	cancel()
	var took time.Duration
	select {
	case end := <-ended:
		took = end.Sub(begun)
	case <-time.After(limit):
		t.Error("the probe has not ended")
	}
	for _, pid := range pids {
		if lives(pid) {
			t.Errorf("process %d is left", pid)
			kill(pid)
		}
	}
	t.Logf("ended within %v", took)
}
