package cli

// This file is the tty helper of the scripts:
//
//	tty [-columns N] [-type TEXT=KEYS]... -- CMD [ARG...]
//
// It runs CMD as the leader of a session on a pseudo-terminal, in the
// foreground, types KEYS (with Go's escapes, "\x03" for Ctrl-C) once TEXT has
// been shown, and prints what the terminal got, escape as ^[ and carriage
// return as ^M. It exits as a shell would show CMD.

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

type typing struct{ text, keys string }

func ttyMain() {
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
	fmt.Print(strings.NewReplacer("\x1b", "^[", "\r\n", "\n", "\r", "^M").Replace(shown))
	os.Exit(code)
}

func fatal(err error) {
	fmt.Fprintln(os.Stderr, "tty:", err)
	os.Exit(99)
}

// openTerminal returns both ends of a new pseudo-terminal (pts(4)).
func openTerminal(columns int) (master, slave *os.File) {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		fatal(err)
	}
	fd := int(master.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: uint16(columns)})
	}
	if err == nil {
		slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		fatal(err)
	}
	return master, slave
}

// onTerminal runs argv and returns what the terminal was sent and the code.
func onTerminal(argv []string, columns int, typings []typing) (shown string, code int) {
	master, slave := openTerminal(columns)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
	if err := cmd.Start(); err != nil {
		fatal(err)
	}
	slave.Close()
	limit := time.AfterFunc(awaitLimit, func() {
		fmt.Fprintf(os.Stderr, "tty: %q has not ended after %v\n", argv, awaitLimit)
		_ = cmd.Process.Kill() // the kernel hangs up on the rest of the session
	})
	defer limit.Stop()
	var all strings.Builder
	seen := 0
	buffer := make([]byte, 4096)
	for {
		n, err := master.Read(buffer)
		all.Write(buffer[:n])
		for len(typings) > 0 {
			at := strings.Index(all.String()[seen:], typings[0].text)
			if at < 0 {
				break
			}
			seen += at + len(typings[0].text)
			io.WriteString(master, typings[0].keys)
			typings = typings[1:]
		}
		if err != nil { // EIO: the last process has closed the terminal
			break
		}
	}
	_ = cmd.Wait()
	status := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		return all.String(), 128 + int(status.Signal())
	}
	return all.String(), status.ExitStatus()
}
