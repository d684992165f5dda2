//go:build unix

// Package session runs the tests of a package in a session of their own, so that neither
// the terminal, nor the dispositions, nor the open files of the parent decide what the
// tests see, and so that no process outlives them.
package session

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// endingSignals are the signals that ask a test run to end: a terminal sends the first
// two and the last, go test the third at its time limit.
var endingSignals = []os.Signal{syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGTERM}

// otherSignals are ignored by some who start programs, and left alone by the runtime,
// so that a child would inherit that.
var otherSignals = []os.Signal{
	syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU, syscall.SIGCHLD, syscall.SIGCONT, syscall.SIGWINCH,
}

// Variable tells a process of a test run its role. Set to "1" by hand it keeps the tests
// in the process that was started, under a debugger say. The tests do not see it.
const Variable = "TESTS_INSIDE_SESSION"

// The roles. The process that was started, without one, starts the supervisor and passes
// on what asks it to end.
const (
	theTests   = "1"
	supervisor = "supervisor" // starts the tests, and ends what they leave
)

// Run runs the tests of m and returns their exit code. It runs the test binary again as
// the leader of a new session, with every signal at its default action and none blocked.
// No process that the tests start inherits another descriptor than the standard ones from
// this one's parent. When the tests have ended, or the process that was started or its
// parent has been killed, whatever the tests have started is ended (on Linux).
func Run(m *testing.M) int {
	if fuzzWorker() {
		return m.Run() // its parent talks to it by descriptors
	}
	closeOnExec()
	role, set := os.LookupEnv(Variable)
	_ = os.Unsetenv(Variable) // what the tests start decides for itself
	var code int
	var err error
	switch {
	case !set:
		code, err = start()
	case role == supervisor:
		code, err = supervise()
	default:
		ownLanguage()
		return m.Run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "session:", err)
	}
	return code
}

// ownLanguage is that of POSIX, whatever the user's is: what shells print, and which
// letters a range such as a-z has, hang on it.
func ownLanguage() {
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); strings.HasPrefix(name, "LANG") || strings.HasPrefix(name, "LC_") {
			_ = os.Unsetenv(name)
		}
	}
}

func fuzzWorker() bool {
	return slices.ContainsFunc(os.Args, func(word string) bool { return strings.HasPrefix(word, "-test.fuzzworker") })
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

// start runs the test binary in the first role that this system has, and returns its
// code. It ends when its parent has: the other end of the pipe tells the supervisor.
func start() (int, error) {
	runtime.LockOSThread() // the mask is a thread's
	// A signal that is handled is at its default action after an exec (execve(2)).
	signal.Notify(make(chan os.Signal, 1), otherSignals...)
	asked := catchEnding()
	unmask()
	alive, held, err := os.Pipe()
	if err != nil {
		return 1, err
	}
	cmd, err := again(firstRole)
	if err != nil {
		return 1, err
	}
	cmd.ExtraFiles = []*os.File{alive}
	if err := cmd.Start(); err != nil {
		return 1, err
	}
	_ = alive.Close()
	go passOn(asked, cmd.Process.Pid)
	go func(parent int) {
		for os.Getppid() == parent {
			time.Sleep(time.Second / 2)
		}
		os.Exit(1)
	}(os.Getppid())
	err = cmd.Wait()
	_ = held.Close()
	return code(cmd, err)
}

func catchEnding() <-chan os.Signal {
	asked := make(chan os.Signal, 8)
	signal.Notify(asked, endingSignals...)
	return asked
}

// passOn sends what comes to the group of a process that leads a session.
func passOn(asked <-chan os.Signal, leader int) {
	for sig := range asked {
		_ = syscall.Kill(-leader, sig.(syscall.Signal))
	}
}

// again is this test binary in another role, as the leader of a session.
func again(role string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return &exec.Cmd{
		Path: self, Args: os.Args, Env: append(os.Environ(), Variable+"="+role), SysProcAttr: leader(role),
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
	}, nil
}

// code is how a command ended, as a shell shows it.
func code(cmd *exec.Cmd, err error) (int, error) {
	if cmd.ProcessState == nil {
		return 1, err
	}
	return shown(cmd.ProcessState.Sys().(syscall.WaitStatus)), nil
}

func shown(how syscall.WaitStatus) int {
	if how.Signaled() {
		return 128 + int(how.Signal())
	}
	return how.ExitStatus()
}
