//go:build unix

package proctest

// This file runs the test binary again in a session of its own.

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
)

// ends are the signals that ask a test run to end: a terminal sends the first
// two and the last, go test the third at its time limit.
var ends = []os.Signal{syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGTERM}

// others are ignored by some who start programs, and left alone by the runtime,
// so that a child would inherit that.
var others = []os.Signal{syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU, syscall.SIGCHLD, syscall.SIGCONT, syscall.SIGWINCH}

// exposed reports whether the process has a controlling terminal, or was
// started with a signal ignored or blocked.
func exposed() bool {
	if terminal, err := os.Open("/dev/tty"); err == nil {
		_ = terminal.Close()
		return true
	}
	return signal.Ignored(syscall.SIGHUP) || signal.Ignored(syscall.SIGINT) || masked()
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

// again runs the test binary as the leader of a session and returns its code.
func again() int {
	runtime.LockOSThread() // the mask and the parent-death signal are a thread's
	asked := make(chan os.Signal, 8)
	// A signal that is handled is at its default action after an exec (execve(2)).
	signal.Notify(make(chan os.Signal, 1), others...)
	signal.Notify(asked, ends...)
	unmask()
	self, err := os.Executable()
	if err != nil {
		fmt.Fprintln(os.Stderr, "proctest:", err)
		return 1
	}
	cmd := &exec.Cmd{Path: self, Args: os.Args, Env: append(os.Environ(), inside+"=1"), SysProcAttr: leader()}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "proctest:", err)
		return 1
	}
	go func() {
		for sig := range asked {
			_ = syscall.Kill(-cmd.Process.Pid, sig.(syscall.Signal))
		}
	}()
	err = cmd.Wait()
	how, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	switch {
	case !ok:
		fmt.Fprintln(os.Stderr, "proctest:", err)
		return 1
	case how.Signaled():
		return 128 + int(how.Signal())
	}
	return how.ExitStatus()
}
