//go:build unix

package cli

// This file is the helper of the scripts that sends signals:
//
//	prod [FILE=SIGNAL[,SIGNAL]...]... -- CMD [ARG...]
//
// runs CMD as the leader of a session without a terminal, with every signal at
// its default action, and sends SIGNALs to it as soon as FILE has content, one
// FILE after the other. A signal such as -TERM goes to its whole process group.
// A FILE such as +500us is a time after the start instead.
// Then it prints how CMD ended, "exit 3" or "signal SIGTERM", and exits with 0. It
// exits with 99 if CMD does not end.

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func prodMain() {
	args := os.Args[1:]
	var pokes []string
	for len(args) > 0 && args[0] != "--" {
		pokes = append(pokes, args[0])
		args = args[1:]
	}
	signal.Reset()
	cmd := exec.Command(args[1], args[2:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "prod:", err)
		os.Exit(99)
	}
	time.AfterFunc(awaitLimit, func() {
		fmt.Fprintf(os.Stderr, "prod: %q has not ended after %v\n", args[1:], awaitLimit)
		_ = cmd.Process.Kill()
		os.Exit(99)
	})
	for _, poke := range pokes {
		file, signals, _ := strings.Cut(poke, "=")
		if after, err := time.ParseDuration(strings.TrimPrefix(file, "+")); err == nil {
			time.Sleep(after)
		} else {
			awaitContent(file)
		}
		for _, name := range strings.Split(signals, ",") {
			send(cmd.Process.Pid, name)
		}
	}
	var failed *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &failed) {
		fmt.Fprintln(os.Stderr, "prod:", err)
		os.Exit(99)
	}
	how := cmd.ProcessState.Sys().(syscall.WaitStatus)
	switch {
	case how.Signaled() && how.CoreDump():
		fmt.Println("core", unix.SignalName(how.Signal()))
	case how.Signaled():
		fmt.Println("signal", unix.SignalName(how.Signal()))
	default:
		fmt.Println("exit", how.ExitStatus())
	}
}

// send signals pid, or its group if name begins with a dash. What ends
// nothing is not caught in a program's first moment and would be lost.
func send(pid int, name string) {
	bare, group := strings.CutPrefix(name, "-")
	number := unix.SignalNum("SIG" + bare)
	switch number {
	case unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT, unix.SIGKILL, unix.SIGABRT:
	default:
		awaitCatching(pid)
	}
	if group {
		pid = -pid
	}
	if err := syscall.Kill(pid, number); err != nil {
		fmt.Fprintf(os.Stderr, "prod: %s: %v\n", name, err)
	}
}

// awaitCatching waits until pid catches TSTP, which Go leaves alone until it is
// asked for, the last of the signals that a script sends. If there is no
// /proc, there is nothing to look at.
func awaitCatching(pid int) {
	for end := time.Now().Add(awaitLimit); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			time.Sleep(time.Second)
			return
		}
		_, rest, _ := strings.Cut(string(status), "SigCgt:\t")
		line, _, _ := strings.Cut(rest, "\n")
		mask, err := strconv.ParseUint(line, 16, 64)
		if err == nil && mask&(1<<(unix.SIGTSTP-1)) != 0 {
			return
		}
	}
}

func init() { commands["catching"] = catchingMain }

// catchingMain waits until the program of this pid catches all that it passes on, as prod
// does before it signals.
func catchingMain() {
	pid, err := strconv.Atoi(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "catching:", err)
		os.Exit(99)
	}
	awaitCatching(pid)
}

// goneMain fails if one of the pids in the files named lives. A zombie is dead.
//
//	gone FILE...
func goneMain() {
	for _, file := range os.Args[1:] {
		text, err := os.ReadFile(file)
		pids := strings.Fields(string(text))
		if err != nil || len(pids) == 0 {
			fmt.Fprintf(os.Stderr, "gone: no pid in %s: %v\n", file, err)
			os.Exit(99)
		}
		for _, pid := range pids {
			stat, err := os.ReadFile("/proc/" + pid + "/stat")
			if err == nil && !strings.Contains(string(stat), ") Z ") && !strings.Contains(string(stat), ") X ") {
				fmt.Fprintf(os.Stderr, "gone: process %s lives: %s", pid, stat)
				os.Exit(1)
			}
		}
	}
}
