package cli

// This file is the tty helper of the scripts:
//
//	tty [-columns N] [-type TEXT=KEYS]... -- CMD [ARG...]
//
// It runs CMD as the leader of a session on a pseudo-terminal, in the
// foreground, types KEYS (with Go's escapes, "\x03" for Ctrl-C) once TEXT has
// been shown, and prints what the terminal got, escape as ^[, carriage return as ^M,
// and a line feed without one as ^J. It exits as a shell would show CMD.

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/retrysh/retry/engine/proc/stdio"
)

type typing struct{ text, keys string }

func ttyMain() {
	if len(os.Args) > 1 && os.Args[1] == sessionArg {
		leadSession(os.Args[2:])
	}
	columns, typings := 80, []typing(nil)
	args := os.Args[1:]
	for len(args) > 2 && args[0] != "--" {
		switch args[0] {
		case "-columns":
			columns, _ = strconv.Atoi(args[1])
		case "-type":
			text, keys, _ := strings.Cut(args[1], "=")
			unquoted, err := strconv.Unquote(`"` + keys + `"`)
			if err != nil {
				fatal(err)
			}
			typings = append(typings, typing{text, unquoted})
		}
		args = args[2:]
	}
	shown, code := onTerminal(args[1:], columns, typings)
	fmt.Print(strings.NewReplacer("\x1b", "^[", "\r\n", "\n", "\r", "^M", "\n", "^J\n").Replace(shown))
	os.Exit(code)
}

func fatal(err error) {
	fmt.Fprintln(os.Stderr, "tty:", err)
	os.Exit(99)
}

// openTerminal returns both ends of a new pseudo-terminal with 24 lines of the given columns.
func openTerminal(columns int) (master, slave *os.File, err error) {
	one, other, err := stdio.OpenPty()
	if err != nil {
		return nil, nil, err
	}
	master, slave = os.NewFile(uintptr(one), "master"), os.NewFile(uintptr(other), "slave")
	return master, slave, unix.IoctlSetWinsize(int(one), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: uint16(columns)})
}

// onTerminal runs argv and returns what the terminal was sent and the code.
func onTerminal(argv []string, columns int, typings []typing) (shown string, code int) {
	master, slave, err := openTerminal(columns)
	if err != nil {
		fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		fatal(err)
	}
	read, unread, err := os.Pipe()
	if err != nil {
		fatal(err)
	}
	cmd := &exec.Cmd{Path: self, Args: append([]string{"tty", sessionArg}, argv...)}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.ExtraFiles = []*os.File{read}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
	if err := cmd.Start(); err != nil {
		fatal(err)
	}
	slave.Close()
	read.Close()
	var all strings.Builder
	var reading sync.Mutex // all
	limit := time.AfterFunc(awaitLimit, func() {
		reading.Lock()
		fmt.Fprintf(os.Stderr, "tty: %q has not ended after %v: %q\n", argv, awaitLimit, all.String())
		_ = cmd.Process.Kill() // the kernel hangs up on the rest of the session
		os.Exit(99)
	})
	defer limit.Stop()
	seen := 0
	buffer := make([]byte, 4096)
	for {
		n, err := master.Read(buffer)
		reading.Lock()
		all.Write(buffer[:n])
		reading.Unlock()
		for len(typings) > 0 {
			at := strings.Index(all.String()[seen:], typings[0].text)
			if at < 0 {
				break
			}
			seen += at + len(typings[0].text)
			io.WriteString(master, typings[0].keys)
			typings = typings[1:]
		}
		if shown, status, ended := strings.Cut(all.String(), sessionEnd); ended && strings.HasSuffix(status, "\n") {
			unread.Close()
			_ = cmd.Wait()
			code, err := strconv.Atoi(strings.TrimSpace(status))
			if err != nil {
				fatal(err)
			}
			return shown, code
		}
		if err != nil { // EIO: the session has been killed
			return all.String(), 99
		}
	}
}

// sessionArg makes the helper the leader of the terminal's session, sessionEnd
// is what it shows after the command's end, before the code.
const (
	sessionArg = "lead-session"
	sessionEnd = "\x00end of session\x00"
)

// leadSession runs argv and stays until all output has been read. When a leader
// ends, the kernel throws away what the terminal has not shown yet, which would
// be the last words of a command that leads.
func leadSession(argv []string) {
	syscall.CloseOnExec(3)
	swallow := make(chan os.Signal, 1)
	signal.Notify(swallow, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTSTP, syscall.SIGHUP, syscall.SIGCONT)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	if cmd.ProcessState == nil {
		fatal(err)
	}
	status := cmd.ProcessState.Sys().(syscall.WaitStatus)
	code := status.ExitStatus()
	if status.Signaled() {
		code = 128 + int(status.Signal())
	}
	fmt.Printf("%s%d\n", sessionEnd, code)
	_, _ = os.NewFile(3, "read").Read(make([]byte, 1))
	os.Exit(0)
}
