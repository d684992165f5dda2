package queue

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/retrysh/retry/testdata/session"
)

// crashing is the variable that has the test binary change a directory, to be
// killed meanwhile: the change and the directory.
const crashing = "RETRY_QUEUE_CRASH"

func init() { // strace counts the calls of each thread
	if os.Getenv(crashing) != "" {
		runtime.LockOSThread()
	}
}

func TestMain(m *testing.M) {
	if change, dir, ok := strings.Cut(os.Getenv(crashing), " "); ok {
		if err := crashes[change].do(&Dir{dir, patience}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(session.Run(m))
}

// callsOf are the system calls that a change makes at least once.
var callsOf = map[string]string{
	"add":     "mkdirat renameat unlinkat fsync fchmod fchmodat flock openat write",
	"join":    "mkdirat renameat unlinkat fsync fchmod fchmodat flock openat write",
	"redrive": "renameat unlinkat fsync fchmod flock openat write",
	"remove":  "renameat unlinkat fsync flock openat",
}

// Who changes a directory is killed at each of its system calls: a letter is there
// whole or not at all, and what is left is cleared away by who looks next.
func TestKilledAtEverySystemCall(t *testing.T) {
	if testing.Short() {
		t.Skip("some hundred processes under strace")
	}
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed")
	}
	for name, c := range crashes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, call := range strings.Fields("mkdirat renameat unlinkat fsync fchmod fchmodat flock openat write") {
				killed := killAtEach(t, strace, name, &c, call)
				if killed == 0 && slices.Contains(strings.Fields(callsOf[name]), call) {
					t.Errorf("it makes no %s", call)
				}
			}
		})
	}
}

// killAtEach kills a change at the first, second, ... of its system calls of one
// kind, until it comes to its end, and returns how often.
func killAtEach(t *testing.T, strace, name string, c *crash, call string) (killed int) {
	for whole := false; !whole; {
		d := openDir(t)
		if !c.empty {
			add(t, d, sample(), Content{Tails: Tails{[]byte("before"), nil}})
		}
		cmd := exec.Command(strace, "-qq", "-o", os.DevNull, "-e", "trace="+call,
			"-e", fmt.Sprintf("inject=%s:signal=KILL:when=%d", call, killed+1), os.Args[0])
		cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=10", crashing+"="+name+" "+d.path)
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		switch {
		case err == nil:
			whole = true
		case errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL:
			killed++
		case strings.Contains(string(out), "PTRACE"):
			t.Skipf("no process may be traced here: %s", out)
		default:
			t.Fatalf("%v: %s", err, out)
		}
		all, err := d.List()
		var l *Letter
		switch {
		case err != nil || len(all) > 1:
			t.Fatalf("after %d %ss: %d letters, %v", killed, call, len(all), err)
		case len(all) == 1 && (!all[0].Usable() || all[0].Claimed):
			t.Fatalf("after %d %ss: %+v", killed, call, all[0])
		case len(all) == 1:
			l = all[0].Letter
		}
		if err := c.after(l, whole); err != nil {
			t.Errorf("after %d %ss: %v", killed, call, err)
		}
		if rest := names(t, d); strings.Contains(" "+rest, " .2") {
			t.Errorf("after %d %ss there is %s", killed, call, rest)
		}
	}
	return killed
}
