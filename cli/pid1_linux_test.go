package cli

// This file signals the whole program at random moments, as a container engine
// does it: around an exec, and as PID 1.

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/retrysh/retry/testdata/tries"
)

// program returns a path by which this test binary is the program.
func program(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "retry")
	if err := os.Symlink(self, path); err != nil {
		t.Skip(err)
	}
	return path
}

// begin starts a command that is killed with the test.
func begin(t *testing.T, words ...string) *exec.Cmd {
	t.Helper()
	cmd := command(t, words...)
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
	cmd.Stderr = new(bytes.Buffer)
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return cmd
}

// end waits for the end of a command and reports whether it came by itself.
func end(cmd *exec.Cmd) bool {
	timer := time.AfterFunc(awaitLimit, func() { _ = cmd.Process.Kill() })
	_ = cmd.Wait()
	return timer.Stop()
}

func comm(pid int) string {
	name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	return strings.TrimSpace(string(name))
}

// A TERM that comes up to 5 ms before or after the exec ends what is there by
// then.
func TestNoTermIsLostAroundExec(t *testing.T) {
	retry := program(t)
	start := func() (*exec.Cmd, time.Time) {
		begun := time.Now()
		return begin(t, retry, "-q", "--wait-for", "file:///dev/null", "--exec", "--", "sleep", "30"), begun
	}
	typical := 20 * time.Millisecond // from the start to the exec; learnt as it goes
	before := 0
	races := tries.Of(40)
	for n := range races {
		cmd, begun := start()
		time.Sleep(typical + time.Duration(rand.Int64N(int64(10*time.Millisecond))) - 5*time.Millisecond - time.Since(begun))
		early := comm(cmd.Process.Pid) != "sleep"
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		intime := end(cmd)
		if how := cmd.ProcessState.Sys().(syscall.WaitStatus); !intime || how.Signal() != syscall.SIGTERM {
			t.Fatalf("try %d, sent before the exec: %v: %v, %s", n, early, cmd.ProcessState, cmd.Stderr)
		}
		// Half of the signals are to come before the exec.
		if early {
			before++
			typical += 200 * time.Microsecond
		} else {
			typical -= 200 * time.Microsecond
		}
	}
	t.Logf("%d of %d before the exec, which came after %v or so", before, races, typical)
}

// onlyChild returns the one child of a process, and waits until it is there.
func onlyChild(t *testing.T, pid int) int {
	t.Helper()
	for limit := time.Now().Add(awaitLimit); time.Now().Before(limit); time.Sleep(time.Millisecond) {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
		if errors.Is(err, os.ErrNotExist) {
			t.Skip(err)
		}
		if child, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
			return child
		}
	}
	t.Fatalf("no child after %v", awaitLimit)
	return 0
}

// A TERM to PID 1 is never lost, whether it comes while a target is waited for,
// during an attempt, or between two; nothing follows it.
func TestNoTermIsLostAsPidOne(t *testing.T) {
	if ok, _ := condition("namespaces"); !ok {
		t.Skip("no PID namespace is available")
	}
	retry := program(t)
	dir := t.TempDir()
	for n := range tries.Of(30) {
		file := filepath.Join(dir, strconv.Itoa(n))
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := begin(t, "unshare", "--pid", "--fork", "--mount-proc", "--kill-child", retry, "-q", "-n", "0",
			"--base", "3ms", "--cap", "3ms", "--jitter", "none",
			"--wait-for", `exec:echo >>"`+file+`"; [ $(wc -l <"`+file+`") -gt 2 ]`, "--", "sh", "-c", "sleep 0.003; exit 1")
		one := onlyChild(t, cmd.Process.Pid)
		for info, err := os.Stat(file); err == nil && info.Size() == 0; info, err = os.Stat(file) {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Duration(rand.Int64N(int64(40 * time.Millisecond))))
		if err := syscall.Kill(one, syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		intime := end(cmd)
		// An attempt that ends by itself as the signal comes keeps its code.
		if code := cmd.ProcessState.ExitCode(); !intime || code != 143 && code != 1 {
			t.Fatalf("try %d: %v, %s", n, cmd.ProcessState, cmd.Stderr)
		}
	}
}
