//go:build unix

package cli

// This file runs the test binary again in a session of its own, so that neither the
// terminal, nor the dispositions, nor the open files of its parent decide what the scripts
// see.

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"testing"
)

// endingSignals are the signals that ask a test run to end: a terminal sends the first
// two and the last, go test the third at its time limit.
var endingSignals = []os.Signal{syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGTERM}

// otherSignals are ignored by some who start programs, and left alone by the runtime,
// so that a child would inherit that.
var otherSignals = []os.Signal{syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU, syscall.SIGCHLD, syscall.SIGCONT, syscall.SIGWINCH}

// insideSession marks the environment of the tests that run in the session. Set by
// hand it keeps them where they are, under a debugger say.
const insideSession = "SCRIPTS_INSIDE_SESSION"

// runInSession runs the tests of m and returns their exit code. It runs the test binary again as
// the leader of a new session, with every signal at its default action and none blocked:
// that one runs the tests, and this one passes on what asks it to end. No process that the
// tests start inherits another descriptor than the standard ones from this one's parent.
func runInSession(m *testing.M) int {
	closeOnExec()
	if _, set := os.LookupEnv(insideSession); set {
		_ = os.Unsetenv(insideSession) // what the tests start decides for itself
		return m.Run()
	}
	code, err := runAgain()
	if err != nil {
		fmt.Fprintln(os.Stderr, "session:", err)
	}
	return code
}

// closeOnExec keeps the descriptors behind the standard ones from what this
// process starts: flock(1), for one, leaves its own open in its command.
func closeOnExec() {
	files, _ := os.ReadDir("/dev/fd")
	for _, file := range files {
		if fd, err := strconv.Atoi(file.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}

// runAgain runs the test binary as the leader of a session and returns its code.
func runAgain() (int, error) {
	runtime.LockOSThread() // the mask and the parent-death signal are a thread's
	asked := make(chan os.Signal, 8)
	// A signal that is handled is at its default action after an exec (execve(2)).
	signal.Notify(make(chan os.Signal, 1), otherSignals...)
	signal.Notify(asked, endingSignals...)
	unmask()
	self, err := os.Executable()
	if err != nil {
		return 1, err
	}
	cmd := &exec.Cmd{
		Path: self, Args: os.Args, Env: append(os.Environ(), insideSession+"=1"), SysProcAttr: sessionLeader(),
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
	}
	if err := cmd.Start(); err != nil {
		return 1, err
	}
	go func() {
		for sig := range asked {
			_ = syscall.Kill(-cmd.Process.Pid, sig.(syscall.Signal))
		}
	}()
	_ = cmd.Wait() // how it ended says everything
	if how := cmd.ProcessState.Sys().(syscall.WaitStatus); how.Signaled() {
		return 128 + int(how.Signal()), nil
	}
	return cmd.ProcessState.ExitCode(), nil
}
