package proctest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestMain(m *testing.M) { os.Exit(Run(m)) }

// limit bounds what is only reached when something has failed.
const limit = 30 * time.Second

// role is the variable by which a test starts this binary as another process.
const role = "PROCTEST_ROLE"

// TestInside is what the tests below start: it looks at what a process that it
// starts inherits, and stays where it is asked to.
func TestInside(t *testing.T) {
	file := os.Getenv(role)
	if file == "" {
		t.Skip("is run by the other tests")
	}
	const show = `grep -E "^Sig(Blk|Ign)" /proc/self/status; if (: </dev/tty) 2>/dev/null; then echo a terminal; fi; [ ! -e /proc/self/fd/9 ] || echo a file`
	inherited, err := exec.Command("/bin/sh", "-c", show).Output()
	if want := "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n"; err != nil || string(inherited) != want {
		t.Errorf("what the tests start has %q, %v; want %q", inherited, err, want)
	}
	if value, set := os.LookupEnv(inside); set {
		t.Errorf("what the tests start would see %s=%s", inside, value)
	}
	if _, err := os.Stat(file + ".stay"); err == nil {
		if err := os.WriteFile(file, []byte("up"), 0o600); err != nil {
			t.Fatal(err)
		}
		time.Sleep(limit)
		t.Error("it was not ended")
	}
}

// inner is a run of TestInside by this binary, words before it.
func inner(t *testing.T, file string, words ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	argv := append(words, self, "-test.run=^TestInside$", "-test.v")
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), role+"="+file, "GORACE=atexit_sleep_ms=10")
	cmd.WaitDelay = limit
	return cmd
}

func passes(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestInside") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestSignalsAtTheirDefault(t *testing.T) {
	for _, trap := range []string{"HUP", "INT QUIT", "TSTP TTIN TTOU", "CHLD WINCH PIPE TERM"} {
		passes(t, inner(t, "none", "/bin/sh", "-c", `trap "" `+trap+`; exec "$@"`, "sh"))
	}
	if env, err := exec.LookPath("env"); err == nil && exec.Command(env, "--block-signal=TERM", "true").Run() == nil {
		passes(t, inner(t, "none", env, "--block-signal"))
	}
}

func TestNoFile(t *testing.T) {
	passes(t, inner(t, "none", "/bin/sh", "-c", `exec 9</dev/null; exec "$@"`, "sh"))
}

func TestNoTerminal(t *testing.T) {
	master, slave, err := Terminal(80)
	if err != nil {
		t.Skip(err)
	}
	defer func() { _ = master.Close() }()
	cmd := inner(t, "none")
	cmd.Stdin, cmd.SysProcAttr = slave, &syscall.SysProcAttr{Setsid: true, Setctty: true}
	passes(t, cmd)
	_ = slave.Close()
}

// What asks the tests to end reaches them, and KILL takes them along.
func TestEndReachesTheTests(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGKILL} {
		file := filepath.Join(t.TempDir(), "up")
		if err := os.WriteFile(file+".stay", nil, 0o600); err != nil {
			t.Fatal(err)
		}
		// The pipe is at its end when both have gone.
		out, in, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd := inner(t, file, "/bin/sh", "-c", `trap "" HUP; exec "$@"`, "sh")
		cmd.Stdout = in
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		_ = in.Close()
		begun := time.Now()
		for _, err := os.Stat(file); err != nil && time.Since(begun) < limit; _, err = os.Stat(file) {
			time.Sleep(2 * time.Millisecond)
		}
		if err := cmd.Process.Signal(sig); err != nil {
			t.Error(err)
		}
		_ = cmd.Wait()
		if err := out.SetReadDeadline(time.Now().Add(limit)); err != nil {
			t.Fatal(err)
		}
		for buffer := make([]byte, 512); err == nil; {
			_, err = out.Read(buffer)
		}
		if os.IsTimeout(err) {
			t.Errorf("%v: the tests are still running", sig)
		}
		_ = out.Close()
	}
}
