package cli

// This file holds the part of the session of the tests that is Linux's, and its tests.

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// sessionLeader makes the tests lead a session, and end when the process that waits
// for them is killed (prctl(2), PR_SET_PDEATHSIG).
func sessionLeader() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// unmask blocks no signal of the calling thread; a child inherits its mask.
func unmask() { _ = unix.PthreadSigmask(unix.SIG_SETMASK, &unix.Sigset_t{}, nil) }

// sessionFile is the variable by which a test starts this binary as another process.
const sessionFile = "SCRIPTS_SESSION_FILE"

// TestInsideSession is what the tests below start: it looks at what a process that it
// starts inherits, and stays where it is asked to.
func TestInsideSession(t *testing.T) {
	file := os.Getenv(sessionFile)
	if file == "" {
		t.Skip("is run by the other tests")
	}
	const show = `grep -E "^Sig(Blk|Ign)" /proc/self/status; if (: </dev/tty) 2>/dev/null; then echo a terminal; fi; [ ! -e /proc/self/fd/9 ] || echo a file`
	inherited, err := exec.Command("/bin/sh", "-c", show).Output()
	if want := "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n"; err != nil || string(inherited) != want {
		t.Errorf("what the tests start has %q, %v; want %q", inherited, err, want)
	}
	if value, set := os.LookupEnv(insideSession); set {
		t.Errorf("what the tests start would see %s=%s", insideSession, value)
	}
	if _, err := os.Stat(file + ".stay"); err == nil {
		if err := os.WriteFile(file, []byte("up"), 0o600); err != nil {
			t.Fatal(err)
		}
		time.Sleep(awaitLimit)
		t.Error("it was not ended")
	}
}

// innerTest is a run of TestInsideSession by this binary, words before it.
func innerTest(t *testing.T, file string, words ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	argv := append(words, self, "-test.run=^TestInsideSession$", "-test.v")
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), sessionFile+"="+file, "GORACE=atexit_sleep_ms=10")
	cmd.WaitDelay = awaitLimit
	return cmd
}

func passesInside(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestInsideSession") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestSessionHasDefaultSignals(t *testing.T) {
	for _, trap := range []string{"HUP", "INT QUIT", "TSTP TTIN TTOU", "CHLD WINCH PIPE TERM"} {
		passesInside(t, innerTest(t, "none", "/bin/sh", "-c", `trap "" `+trap+`; exec "$@"`, "sh"))
	}
	if env, err := exec.LookPath("env"); err == nil && exec.Command(env, "--block-signal=TERM", "true").Run() == nil {
		passesInside(t, innerTest(t, "none", env, "--block-signal"))
	}
}

func TestSessionHasNoFile(t *testing.T) {
	passesInside(t, innerTest(t, "none", "/bin/sh", "-c", `exec 9</dev/null; exec "$@"`, "sh"))
}

func TestSessionHasNoTerminal(t *testing.T) {
	master, slave, err := openTerminal(80)
	if err != nil {
		t.Skip(err)
	}
	defer func() { _ = master.Close() }()
	cmd := innerTest(t, "none")
	cmd.Stdin, cmd.SysProcAttr = slave, &syscall.SysProcAttr{Setsid: true, Setctty: true}
	passesInside(t, cmd)
	_ = slave.Close()
}

// What asks the tests to end reaches them, and KILL takes them along.
func TestSessionIsEnded(t *testing.T) {
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
		cmd := innerTest(t, file, "/bin/sh", "-c", `trap "" HUP; exec "$@"`, "sh")
		cmd.Stdout = in
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		_ = in.Close()
		begun := time.Now()
		for _, err := os.Stat(file); err != nil && time.Since(begun) < awaitLimit; _, err = os.Stat(file) {
			time.Sleep(2 * time.Millisecond)
		}
		if err := cmd.Process.Signal(sig); err != nil {
			t.Error(err)
		}
		_ = cmd.Wait()
		if err := out.SetReadDeadline(time.Now().Add(awaitLimit)); err != nil {
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
