package signals

import (
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/retrysh/retry/engine/attempt"
)

// Real-time signals are counted from the first that the C library leaves, and 32 and 33 are
// its own.
func TestRealTimeSignals(t *testing.T) {
	for n, want := range map[int]attempt.Signal{31: "SIGSYS", 32: "SIG32", 33: "SIG33", 34: "SIGRTMIN",
		35: "SIGRTMIN+1", 64: "SIGRTMIN+30"} {
		name, ok := SignalOf(n)
		if isOwn := n == 32 || n == 33; name != want || ok == isOwn {
			t.Errorf("%d is %q %t, want %q", n, name, ok, want)
		}
		if number, known := NumberOf(want); known && number != n {
			t.Errorf("%s is %d, want %d", want, number, n)
		}
	}
	for _, name := range []attempt.Signal{"SIGRTMIN+31", "SIGRTMIN+x", "SIGRTMIN-1"} {
		if n, known := NumberOf(name); known {
			t.Errorf("%s is %d", name, n)
		}
	}
	if n, known := NumberOf("SIGRTMIN+30"); n != 64 || !known {
		t.Errorf("SIGRTMIN+30 is %d %t", n, known)
	}
}

// All that Go can catch is passed on, but for what has another meaning; those that stop a
// program are the last.
func TestForwarded(t *testing.T) {
	all := Forwarded()
	is := map[syscall.Signal]bool{}
	for _, sig := range all {
		if is[sig] {
			t.Errorf("%v stands twice", sig)
		}
		is[sig] = true
	}
	for n := 1; n <= 64; n++ {
		sig := syscall.Signal(n)
		other := Ends(sig) || n >= 32 && n <= 34 || sig == syscall.SIGKILL || sig == syscall.SIGSTOP ||
			sig == syscall.SIGURG || sig == syscall.SIGCHLD ||
			sig == syscall.SIGPIPE || sig == syscall.SIGSEGV || sig == syscall.SIGBUS || sig == syscall.SIGILL ||
			sig == syscall.SIGFPE || sig == syscall.SIGPROF || sig == syscall.SIGXFSZ
		if is[sig] == other {
			t.Errorf("%v is passed on: %t", sig, is[sig])
		}
	}
	if last := all[len(all)-3:]; !Stops(last[0]) || !Stops(last[1]) || !Stops(last[2]) {
		t.Errorf("the last are %v", last)
	}
}

func TestIsIgnored(t *testing.T) {
	if isIgnored(syscall.SIGUSR2) {
		t.Error("USR2 is ignored at the start")
	}
	signal.Ignore(syscall.SIGUSR2)
	if !isIgnored(syscall.SIGUSR2) {
		t.Error("USR2 is not ignored")
	}
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGUSR2) // Reset does not end that it is ignored
	signal.Stop(caught)
	if isIgnored(syscall.SIGUSR2) || isIgnored(1000) {
		t.Error("USR2 is still ignored, or 1000, which is no signal")
	}
}

// TTOU is blocked while the function runs, on its thread, and as it was afterwards.
func TestWithoutTTOU(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	blocked := func() bool {
		var now unix.Sigset_t
		if err := unix.PthreadSigmask(unix.SIG_BLOCK, nil, &now); err != nil {
			t.Fatal(err)
		}
		return now.Val[0]&(1<<(syscall.SIGTTOU-1)) != 0
	}
	before, ran := blocked(), 0
	WithoutTTOU(func() {
		ran++
		if !blocked() {
			t.Error("TTOU is not blocked")
		}
	})
	if ran != 1 || blocked() != before {
		t.Errorf("the function ran %d times, and TTOU is blocked: %t", ran, blocked())
	}
}

// A process handles what it has a trap for.
func TestHandles(t *testing.T) {
	cmd := exec.Command("sh", "-c", "trap : USR1; echo up; read x")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, 3)); err != nil {
		t.Fatal(err)
	}
	for sig, want := range map[syscall.Signal]bool{syscall.SIGUSR1: true, syscall.SIGUSR2: false,
		syscall.SIGTRAP: false, syscall.SIGWINCH: false} {
		if Handles(cmd.Process.Pid, sig) != want {
			t.Errorf("%v: %t", sig, !want)
		}
	}
	in.Close()
	_ = cmd.Wait()
	if Handles(cmd.Process.Pid, syscall.SIGUSR1) || Handles(os.Getpid(), 65) {
		t.Error("a process that is no more, or a signal that there is not")
	}
	for status, want := range map[string]uint64{"SigBlk:\t1\nSigCgt:\t00000000000000a1\nX:\t2\n": 0xa1,
		"SigCgt:\tf": 15, "SigCgt: 1\n": 0, "": 0, "SigCgt:\tx\n": 0} {
		if got := signalMask([]byte(status), "SigCgt:\t"); got != want {
			t.Errorf("%q: %x, want %x", status, got, want)
		}
	}
}
