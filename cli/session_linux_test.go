package cli

// This file tests the session in which the tests run; see testdata/session.

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/retrysh/retry/testdata/session"
)

// sessionFile is the variable by which a test starts this binary as another process.
const sessionFile = "SCRIPTS_SESSION_FILE"

// TestInsideSession is what the tests below start: it looks at what a process that it
// starts inherits, and stays where it is asked to.
func TestInsideSession(t *testing.T) {
	file := os.Getenv(sessionFile)
	if file == "" {
		t.Skip("is run by the other tests")
	}
	const show = `grep -E "^Sig(Blk|Ign)" /proc/self/status; if (: </dev/tty) 2>/dev/null; then echo a ` +
		`terminal; fi; [ ! -e /proc/self/fd/9 ] || echo a file`
	inherited, err := exec.Command("/bin/sh", "-c", show).Output()
	if want := "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n"; err != nil || string(inherited) != want {
		t.Errorf("what the tests start has %q, %v; want %q", inherited, err, want)
	}
	if value, set := os.LookupEnv(session.Variable); set {
		t.Errorf("what the tests start would see %s=%s", session.Variable, value)
	}
	if _, err := os.Stat(file + ".stay"); err == nil {
		// Neither the session nor the environment of what stays says whose it is.
		stays := exec.Command("setsid", "env", "-i", "/bin/sh", "-c", `echo up >"$0"; exec sleep 600`, file)
		stays.Stdout = os.Stdout
		t.Error(stays.Run(), "it was not ended")
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
	cmd.Env = append(os.Environ(), sessionFile+"="+file, "GORACE=atexit_sleep_ms=10",
		"TMPDIR="+t.TempDir()) // a killed run leaves its commands there
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

// What asks the tests to end reaches them, and nothing that they have started outlives
// them, nor the process that was started, nor its parent.
func TestSessionIsEnded(t *testing.T) {
	const itself, below = `trap "" HUP; exec "$@"`, `"$@"; :`
	for name, c := range map[string]struct {
		script string
		sig    syscall.Signal
	}{
		"INT":                {itself, syscall.SIGINT},
		"TERM":               {itself, syscall.SIGTERM},
		"KILL":               {itself, syscall.SIGKILL},
		"KILL of its parent": {below, syscall.SIGKILL},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "up")
			if err := os.WriteFile(file+".stay", nil, 0o600); err != nil {
				t.Fatal(err)
			}
			// The pipe is at its end when all have gone.
			out, in, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = out.Close() }()
			cmd := innerTest(t, file, "/bin/sh", "-c", c.script, "sh")
			cmd.Stdout = in
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			_ = in.Close()
			if !awaitFile(file) {
				t.Error("the tests have not begun")
			}
			if err := cmd.Process.Signal(c.sig); err != nil {
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
				t.Error("a process of the tests is still there")
			}
		})
	}
}

// A run that passes ends what it leaves as well, and one that times out.
func TestSessionLeavesNothing(t *testing.T) {
	file := filepath.Join(t.TempDir(), "up")
	if err := os.WriteFile(file+".stay", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := innerTest(t, file)
	cmd.Args = append(cmd.Args, "-test.timeout=1s")
	cmd.WaitDelay = 0 // it waits for the end of the output, which what stays holds
	limit := time.AfterFunc(awaitLimit, func() {
		t.Error("a process of the tests is still there")
		_ = cmd.Process.Kill()
	})
	out, err := cmd.CombinedOutput()
	limit.Stop()
	if err == nil || !strings.Contains(string(out), "panic: test timed out after 1s") {
		t.Errorf("%v\n%s", err, out)
	}
}
