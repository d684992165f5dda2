//go:build unix

package proc

// This file holds tests of dying by a signal, of --exec and of PID 1.

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/retrysh/retry/engine/proc/process"
	"github.com/retrysh/retry/engine/proc/stdio"
	"github.com/retrysh/retry/testdata/tries"
)

func TestExecReplacesTheProgram(t *testing.T) {
	d := order(t, orders{Argv: sh("echo $$ $PPID; ls -l /proc/$$/fd | grep -c ' -> '; exit 7"), Exec: true})
	d.start()
	d.wait()
	lines := strings.Fields(d.Stdout.String())
	if len(lines) < 2 || lines[0] != strconv.Itoa(d.Process.Pid) || lines[1] != strconv.Itoa(os.Getpid()) ||
		d.end() != "exit status 7" {
		t.Errorf("%q, %s", d.Stdout.String(), d.end())
	}
	for name, end := range map[string]string{"/no/such": "exit status 127", "/etc/passwd": "exit status 126"} {
		d := run(t, orders{Argv: []string{name}, Exec: true})
		if d.end() != end || !strings.Contains(d.Stderr.String(), name) {
			t.Errorf("%s: %s, %q", name, d.end(), d.Stderr.String())
		}
	}
}

// TestNoTermIsLostAroundExec: at whatever moment TERM comes, what is there by
// then ends. Before Listen and after the exec that is the default action; in
// between the program has to see to it.
func TestNoTermIsLostAroundExec(t *testing.T) {
	t.Parallel()
	for i := range tries.Of(60) {
		d := order(t, orders{Argv: []string{"sleep", "600"}, Exec: true})
		d.start()
		time.Sleep(time.Duration(rand.Int64N(int64(8 * time.Millisecond))))
		d.kill(syscall.SIGTERM)
		d.wait()
		if d.end() != "signal: terminated" {
			t.Fatalf("try %d: %s", i, d.end())
		}
	}
}

// TestNoTermIsLostAtTheStart: at whatever moment TERM comes, it ends the program
// or reaches the command, also before anything hands signals out.
func TestNoTermIsLostAtTheStart(t *testing.T) {
	t.Parallel()
	for i := range tries.Of(60) {
		d := order(t, orders{Argv: []string{"sleep", "600"}, Attempts: 2})
		d.start()
		time.Sleep(time.Duration(rand.Int64N(int64(10 * time.Millisecond))))
		d.kill(syscall.SIGTERM)
		d.wait()
		if d.end() != "signal: terminated" {
			t.Fatalf("try %d: %s", i, d.end())
		}
	}
}

// TestRandomSignals sends a signal at a random moment of a short run and finds
// no orphan, no hang and no wrong code.
func TestRandomSignals(t *testing.T) {
	t.Parallel()
	signals := []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT}
	mark := fmt.Sprintf("%d.%06d", 600, os.Getpid()%1000000) // seconds of sleep, to be found by
	modes := []orders{
		{}, {Capture: "both"}, {Stdout: stdio.Hold, Stdin: stdio.Replay},
		{Timeout: 10 * time.Millisecond, KillAfter: 5 * time.Millisecond},
	}
	for i := range tries.Of(40) {
		o := modes[i%len(modes)]
		o.Argv = sh("sleep " + mark + " & setsid sleep " + mark + " & sleep 0.005; wait")
		o.Attempts = 2
		d := order(t, o)
		d.start()
		time.Sleep(time.Duration(rand.Int64N(int64(25 * time.Millisecond))))
		sig := signals[rand.IntN(len(signals))]
		d.kill(sig)
		d.wait()
		how := d.ProcessState.Sys().(syscall.WaitStatus)
		early := sig == syscall.SIGQUIT && strings.Contains(d.Stderr.String(), "SIGQUIT") // before Listen
		if !early && (!how.Signaled() || how.Signal() != sig && o.Timeout == 0) &&
			!(o.Timeout > 0 && how.ExitStatus() == 124) {
			t.Fatalf("try %d, %v: %s; %q", i, sig, d.end(), d.Stderr.String())
		}
		if !how.Signaled() && d.Stderr.Len() > 0 && !early {
			t.Fatalf("try %d, %v: %q", i, sig, d.Stderr.String())
		}
	}
	eventually(t, "no orphan", func() bool {
		return !sleeping(t, mark)
	})
}

// sleeping reports whether a process sleeps for that many seconds.
func sleeping(t *testing.T, seconds string) bool {
	t.Helper()
	list, err := process.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range list {
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.Pid))
		if os.IsNotExist(err) && runtime.GOOS != "linux" {
			line, _ = exec.Command("ps", "-o", "command=", "-p", strconv.Itoa(p.Pid)).Output()
		}
		if strings.Contains(string(line), seconds) && strings.Contains(string(line), "sleep") {
			return true
		}
	}
	return false
}

func TestPidOne(t *testing.T) {
	if exec.Command("unshare", "--pid", "--fork", "--mount-proc", "true").Run() != nil {
		t.Skip("no PID namespace is available")
	}
	in := func(d *driven) *driven {
		d.Path, d.Args = "/usr/bin/env",
			append([]string{"env", "unshare", "--pid", "--fork", "--kill-child", "--mount-proc"}, d.Args...)
		return d
	}
	for script, end := range map[string]string{
		"exit 3": "exit status 3", "kill -9 $$": "exit status 137", "kill -TERM $$": "exit status 143",
	} {
		d := in(order(t, orders{Argv: sh("[ $PPID = 1 ] || exit 99; " + script)}))
		d.start()
		d.wait()
		if d.end() != end {
			t.Errorf("%s: %s, %q", script, d.end(), d.Stderr.String())
		}
	}
	for name, o := range map[string]orders{
		"during an attempt": {Argv: sh("touch \"$F\"; exec sleep 600"), Attempts: 3},
		"during a wait":     {Argv: sh("touch \"$F\"; exit 1"), Attempts: 3, Pause: 10 * time.Minute},
	} {
		file := t.TempDir() + "/up"
		d := in(order(t, o))
		d.Env = append(d.Env, "F="+file)
		d.start()
		d.await(file)
		time.Sleep(30 * time.Millisecond) // let the attempt end in the second case
		child := childOf(d.Process.Pid)
		if err := syscall.Kill(child, syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		d.wait()
		if d.end() != "exit status 143" {
			t.Errorf("%s: %s, %q", name, d.end(), d.Stderr.String())
		}
	}
}

func childOf(pid int) int {
	list, _ := process.List()
	for _, p := range list {
		if p.Ppid == pid {
			return p.Pid
		}
	}
	return 0
}

func TestDieLeavesNoCore(t *testing.T) {
	dir := t.TempDir()
	d := order(t, orders{Argv: sh("ulimit -c 0; kill -QUIT $$")})
	self := d.Path
	d.Path, d.Args = "/bin/sh", []string{"sh", "-c", `cd "$W"; ulimit -c unlimited 2>/dev/null; exec "$D"`}
	d.Env = append(d.Env, "D="+self, "W="+dir)
	d.start()
	d.wait()
	how := d.ProcessState.Sys().(syscall.WaitStatus)
	if how.Signal() != syscall.SIGQUIT || how.CoreDump() || d.Stderr.Len() > 0 {
		t.Errorf("%v, %q", d.ProcessState, d.Stderr.String())
	}
	if files, _ := os.ReadDir(dir); len(files) > 0 {
		t.Errorf("%v", files)
	}
}
