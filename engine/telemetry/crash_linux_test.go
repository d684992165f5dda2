package telemetry

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/retrysh/retry/testdata/session"
)

// crashing is the variable that has the test binary add a run to the file that it
// names, to be killed meanwhile.
const crashing = "RETRY_TELEMETRY_CRASH"

func init() { // strace counts the calls of each thread
	if os.Getenv(crashing) != "" {
		runtime.LockOSThread()
	}
}

func TestMain(m *testing.M) {
	if file := os.Getenv(crashing); file != "" {
		if err := addToFile(context.Background(), file, recorded("killed")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(session.Run(m))
}

// A run is killed at each of its system calls, with two runs beside the file: these
// are counted once, and it is counted at most once.
func TestKilledAtEverySystemCall(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed")
	}
	for call := range strings.FieldsSeq("openat flock fchmod pwrite64 write renameat ftruncate unlinkat close") {
		t.Run(call, func(t *testing.T) {
			t.Parallel()
			killAtEach(t, strace, call)
		})
	}
}

func killAtEach(t *testing.T, strace, call string) {
	ctx := context.Background()
	for killed, whole := 0, false; !whole; killed++ {
		file := filepath.Join(t.TempDir(), "a.prom")
		for _, run := range []error{
			addToFile(ctx, file, recorded("a")),
			leaveBeside(ctx, file, recorded("a").metrics),
			leaveBeside(ctx, file, recorded("a").metrics),
		} {
			if run != nil {
				t.Fatal(run)
			}
		}
		cmd := exec.Command(strace, "-qq", "-o", os.DevNull, "-e", "trace="+call,
			"-e", fmt.Sprintf("inject=%s:signal=KILL:when=%d", call, killed+1), os.Args[0])
		cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=10", crashing+"="+file)
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		switch {
		case err == nil:
			whole = true
		case errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL:
		case strings.Contains(string(out), "PTRACE"):
			t.Skipf("no process may be traced here: %s", out)
		default:
			t.Fatalf("%v: %s", err, out)
		}
		if err := addToFile(ctx, file, recorded("a")); err != nil {
			t.Fatalf("killed at %d: %v", killed+1, err)
		}
		n, others := counted(t, file)
		data, _ := os.ReadFile(file)
		own := strings.Count(string(data), `retry_runs_total{name="killed",outcome="deadline"} 1`)
		if n != 4+float64(own) || whole && own != 1 || others != nil {
			t.Errorf("killed at %d: %v runs are counted, %d of them its own, and there is %q", killed+1, n, own, others)
		}
		if whole && killed == 0 {
			t.Error("it makes no such call")
		}
	}
}
