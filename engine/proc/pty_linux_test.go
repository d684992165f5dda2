package proc

// This file holds tests that need a terminal.

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/retrysh/retry/engine/proc/process"
	"github.com/retrysh/retry/engine/proc/signals"
	"github.com/retrysh/retry/engine/proc/stdio"
	"github.com/retrysh/retry/testdata/late"
)

// terminal is a pseudo-terminal with a job-control shell, or a driver, in it.
type terminal struct {
	t      *testing.T
	master *os.File
	slave  *os.File
	mu     sync.Mutex
	out    bytes.Buffer
}

func openTerminal(t *testing.T) *terminal {
	t.Helper()
	master, slave, err := stdio.OpenPty()
	if err != nil {
		t.Skipf("no pseudo-terminal is available: %v", err)
	}
	term := &terminal{t: t, master: os.NewFile(uintptr(master), "master"), slave: os.NewFile(uintptr(slave), "slave")}
	t.Cleanup(term.close)
	go term.read()
	return term
}

// close is for a test that opens many.
func (term *terminal) close() {
	_ = term.master.Close()
	_ = term.slave.Close()
}

func (term *terminal) read() {
	buf := make([]byte, 4096)
	for {
		n, err := term.master.Read(buf)
		term.mu.Lock()
		term.out.Write(buf[:n])
		term.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (term *terminal) text() string {
	term.mu.Lock()
	defer term.mu.Unlock()
	return term.out.String()
}

func (term *terminal) see(what string) {
	term.t.Helper()
	defer func() {
		if term.t.Failed() {
			term.t.Logf("the terminal shows %q", term.text())
		}
	}()
	eventually(term.t, fmt.Sprintf("%q on the terminal", what),
		func() bool { return strings.Contains(term.text(), what) })
}

func (term *terminal) press(keys string) {
	term.t.Helper()
	if _, err := term.master.WriteString(keys); err != nil {
		term.t.Fatal(err)
	}
}

const (
	ctrlC         = "\x03"
	ctrlZ         = "\x1a"
	ctrlBackslash = "\x1c"
)

// in starts the driver as the leader of the terminal's session.
func (d *driven) in(term *terminal) *driven {
	d.t.Helper()
	d.on(term).start()
	return d
}

// on makes the driver one that will lead the terminal's session.
func (d *driven) on(term *terminal) *driven {
	d.Stdin, d.Cmd.Stdout, d.Cmd.Stderr = term.slave, term.slave, term.slave
	d.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	return d
}

func TestCtrlCReachesTheCommandOnce(t *testing.T) {
	for i := range 5 {
		dir := t.TempDir()
		term := openTerminal(t)
		d := order(t, orders{Argv: sh(counting(dir, "INT")), Attempts: 3, Pause: 10 * time.Minute}).in(term)
		d.await(dir + "/up")
		term.press(ctrlC)
		eventually(t, "the signal", func() bool { return got(t, dir) != "" })
		time.Sleep(10 * time.Millisecond) // for a second delivery to show
		touch(t, dir+"/end")
		d.wait()
		if g := got(t, dir); g != "INT" {
			t.Errorf("%d: the command got %q", i, g)
		}
		// A program that is slow to see it takes it for one in the wait.
		if res := d.only(); res.ExitCode != 3 || d.end() != "signal: interrupt" {
			t.Errorf("%d: %+v, %s", i, res, d.end())
		}
		term.close()
	}
}

func TestCtrlCThatKillsIsACancel(t *testing.T) {
	for i := range 20 {
		for key, end := range map[string]string{ctrlC: "signal: interrupt", ctrlBackslash: "signal: quit"} {
			dir := t.TempDir()
			term := openTerminal(t)
			d := order(t, orders{Argv: sh("touch " + word(dir) + "/up; exec sleep 600"), Attempts: 3}).in(term)
			d.await(dir + "/up")
			term.press(key)
			d.wait()
			if res := d.only(); res.Cancelled == "" || d.end() != end {
				t.Fatalf("%d: %+v, %s", i, res, d.end())
			}
			term.close()
			if strings.Contains(term.text(), "goroutine") {
				t.Fatal(term.text())
			}
		}
	}
}

func TestCommandReadsTheTerminal(t *testing.T) {
	term := openTerminal(t)
	d := order(t, orders{Argv: sh("test -t 0 && test -t 1 && test -t 2 && echo ready && read x && echo got $x")}).in(term)
	term.see("ready")
	term.press("word\n")
	term.see("got word")
	d.wait()
	if d.end() != "exit status 0" {
		t.Error(d.end())
	}
}

func TestTermInATerminalReachesTheCommandOnce(t *testing.T) {
	dir := t.TempDir()
	term := openTerminal(t)
	d := order(t, orders{Argv: sh(counting(dir, "TERM")), Attempts: 3}).in(term)
	d.await(dir + "/up")
	d.kill(syscall.SIGTERM)
	eventually(t, "the signal", func() bool { return got(t, dir) != "" })
	touch(t, dir+"/end")
	d.wait()
	if g := got(t, dir); g != "TERM" || d.end() != "exit status 3" {
		t.Errorf("the command got %q; %s", g, d.end())
	}
}

func TestTimeoutInATerminal(t *testing.T) {
	term := openTerminal(t)
	d := order(t, orders{Argv: sh("setsid sleep 600 & sleep 600"), Timeout: 200 * time.Millisecond,
		KillAfter: time.Second}).in(term)
	d.wait()
	if res := d.only(); !res.TimedOut || d.end() != "exit status 124" {
		t.Errorf("%+v, %s", res, d.end())
	}
}

// A leader that ends long before its tree is reaped with it: until then the goroutine that
// ends the tree may signal it.
func TestLeaderThatEndsBeforeItsTree(t *testing.T) {
	late.Retry(t, 200*time.Millisecond, func(limit time.Duration) (slow bool) {
		dir, term := t.TempDir(), openTerminal(t)
		stubborn := `cd ` + word(dir) + `; sh -c 'trap "" TERM; touch up; while :; do sleep 1; done' & until [ -e up ` +
			`]; do sleep 0.01; done; echo $$ >pid; exec sleep 60`
		d := order(t, orders{Argv: sh(stubborn), Timeout: limit, KillAfter: 10 * limit}).on(term)
		begun := time.Now()
		if slow = !d.startsWithin(limit, dir+"/pid"); !slow {
			pid := readPid(t, dir+"/pid")
			state := ""
			eventually(t, "the leader has ended",
				func() bool { state = stateOf(pid); return state == "Z" || state == "" })
			if slow = time.Since(begun) >= 11*limit; state != "Z" && !slow {
				t.Error("the leader has been reaped, its tree lives")
			}
		}
		d.wait()
		if res := d.only(); !res.TimedOut || d.end() != "exit status 124" ||
			strings.Contains(term.text(), "DATA RACE") {
			t.Errorf("%+v, %s: %s", res, d.end(), term.text())
		}
		return slow
	})
}

// A terminal that the command gave to a process group which is gone is the program's again when
// the command has ended.
func TestTerminalIsTakenBack(t *testing.T) {
	t.Parallel()
	term := openTerminal(t)
	d := order(t, orders{
		Argv:     []string{"env", driverEnv + `={"GiveAway":true}`, os.Args[0]},
		Attempts: 2, Pause: 10 * time.Minute, Report: t.TempDir() + "/report",
	}).in(term)
	eventually(t, "an attempt", func() bool {
		_, err := os.Stat(d.report)
		return err == nil && len(d.outcomes()) == 1
	})
	if res := d.only(); res.ExitCode != 3 {
		t.Errorf("%+v: %s", res, term.text())
	}
	if group := foregroundOf(t, term); group != d.Process.Pid {
		t.Errorf("the foreground is group %d, and the program is %d", group, d.Process.Pid)
	}
	d.kill(syscall.SIGTERM)
	d.wait()
}

// foregroundOf is the process group that has a terminal.
func foregroundOf(t *testing.T, term *terminal) (group int) {
	t.Helper()
	conn, err := term.master.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	asked := conn.Control(func(fd uintptr) { group, err = unix.IoctlGetInt(int(fd), unix.TIOCGPGRP) })
	if err = errors.Join(asked, err); err != nil {
		t.Fatal(err)
	}
	return group
}

// shellIn starts an interactive shell in the terminal that can run the driver as "$D".
func shellIn(term *terminal, o orders) *driven {
	d := order(term.t, o)
	d.Env = append(d.Env, "D="+d.Path, "PS1=$ ", "HISTFILE=/dev/null")
	d.Path, d.Args = "/bin/bash", []string{"bash", "--norc", "--noprofile", "-i"}
	return d.in(term)
}

func TestCtrlZStopsBothAndFgResumesBoth(t *testing.T) {
	dir := t.TempDir()
	term := openTerminal(t)
	// no sleep: a shell whose vfork was stopped does not show as stopped
	script := "echo $$ >" + word(dir) + "/pid; while ! [ -e " + word(dir) + "/end ]; do :; done"
	d := shellIn(term, orders{Argv: sh(script)})
	for i := range 3 {
		if i == 0 {
			term.press("\"$D\"\n")
		} else {
			term.press("fg\n")
		}
		pid := readPid(t, dir+"/pid")
		eventually(t, "the command runs", func() bool { s := stateOf(pid); return s == "S" || s == "R" })
		term.press(ctrlZ)
		term.see(strings.Repeat("Stopped", 1))
		defer func(i int) {
			if t.Failed() {
				t.Logf("round %d: %s %s %q", i, stateOf(pid), stateOf(parentOf(pid)), term.text())
			}
		}(i)
		eventually(t, "all stopped", func() bool { return stateOf(pid) == "T" && stateOf(parentOf(pid)) == "T" })
		term.press("echo shell-$((" + strconv.Itoa(i) + "+10))-back\n")
		term.see("shell-" + strconv.Itoa(i+10) + "-back")
	}
	touch(t, dir+"/end")
	term.press("fg\n")
	term.press("echo code=$?\n")
	term.see("code=0")
	term.press("exit\n")
	d.wait()
}

func TestACommandThatStopsItselfGivesTheShellBack(t *testing.T) {
	for _, sig := range []string{"TSTP", "STOP"} {
		dir := t.TempDir()
		term := openTerminal(t)
		d := shellIn(term, orders{Argv: sh("echo $$ >" + word(dir) + "/pid; kill -" + sig + " $$; touch " + word(dir) +
			"/on; exit 5")})
		term.press("\"$D\"\n")
		pid := readPid(t, dir+"/pid")
		eventually(t, "the program stops too", func() bool { return stateOf(parentOf(pid)) == "T" })
		term.press("fg; echo code=$?\n")
		d.await(dir + "/on")
		term.see("code=5")
		term.press("exit\n")
		d.wait()
	}
}

func TestContinueOfTheProgramAloneReachesTheCommand(t *testing.T) {
	dir := t.TempDir()
	term := openTerminal(t)
	// no sleep: only the command itself is continued
	script := "echo $$ >" + word(dir) + "/pid; while ! [ -e " + word(dir) + "/end ]; do :; done"
	d := shellIn(term, orders{Argv: sh(script)})
	term.press("\"$D\"\n")
	pid := readPid(t, dir+"/pid")
	program := parentOf(pid)
	eventually(t, "the program handles a continuation",
		func() bool { return signals.Handles(program, syscall.SIGCONT) })
	term.press(ctrlZ)
	eventually(t, "all stopped", func() bool { return stateOf(pid) == "T" && stateOf(program) == "T" })
	if err := syscall.Kill(program, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	eventually(t, "both go on", func() bool { return stateOf(pid) != "T" && stateOf(program) != "T" })
	touch(t, dir+"/end")
	eventually(t, "the end", func() bool { return !lives(program) })
	term.press("exit\n")
	d.wait()
}

func parentOf(pid int) int {
	p, _ := process.Stat(pid)
	return p.Ppid
}
