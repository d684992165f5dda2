package stdio

// This file tests what a command gets in place of a terminal.

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/retrysh/retry/engine/attempt"
)

// userTerminal is the terminal of a user, with what it shows.
func userTerminal(t *testing.T) (slave File, shows *os.File) {
	t.Helper()
	if _, err := os.Stat("/dev/pts/ptmx"); err != nil {
		t.Skipf("no pseudo-terminal is available: %v", err)
	}
	master, slave, err := OpenPty()
	if err != nil {
		t.Fatal(err)
	}
	shows = os.NewFile(uintptr(master), "terminal")
	t.Cleanup(func() { closeFile(slave); shows.Close() })
	return slave, shows
}

func modesOf(t *testing.T, f File) *unix.Termios {
	t.Helper()
	modes, err := unix.IoctlGetTermios(int(f), getTermios)
	if err != nil {
		t.Fatal(err)
	}
	return modes
}

func setSize(t *testing.T, f File, rows, columns uint16) {
	t.Helper()
	if err := unix.IoctlSetWinsize(int(f), unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: columns}); err != nil {
		t.Fatal(err)
	}
}

// newTerminalPump is the pump of a terminal for a command, whose end is write.
func newTerminalPump(t *testing.T, user File) (p *Pump, write File) {
	t.Helper()
	read, write, err := newTerminal(user)
	if err != nil {
		t.Fatal(err)
	}
	unblock(read)
	p = newPump(t, read, user, nil)
	p.pieces, p.terminal = piecesFor(user), true
	return p, write
}

// A command whose output leads to a terminal gets one with its modes and size, but the
// user's alone processes the output: nothing is changed twice.
func TestTerminalForACommand(t *testing.T) {
	user, shows := userTerminal(t)
	setSize(t, user, 24, 80)
	modes := modesOf(t, user)
	modes.Lflag &^= unix.ECHO
	if err := unix.IoctlSetTermios(int(user), setTermios, modes); err != nil {
		t.Fatal(err)
	}
	p, write := newTerminalPump(t, user)
	got := modesOf(t, write)
	if got.Oflag&unix.OPOST != 0 || got.Lflag&unix.ECHO != 0 || got.Lflag&unix.ICANON == 0 ||
		got.Iflag != modes.Iflag || modesOf(t, user).Oflag&unix.OPOST == 0 {
		t.Errorf("modes %+v for a terminal of %+v", got, modes)
	}
	if size, err := unix.IoctlGetWinsize(int(write), unix.TIOCGWINSZ); err != nil || size.Row != 24 || size.Col != 80 {
		t.Errorf("its size is %+v, %v", size, err)
	}
	s := &Streams{Pumps: []*Pump{p}}
	go p.run()

	if s.Resize() {
		t.Error("the size has not changed")
	}
	setSize(t, user, 30, 100)
	if !s.Resize() || s.Resize() {
		t.Error("the size has changed once")
	}
	if size, err := unix.IoctlGetWinsize(int(write), unix.TIOCGWINSZ); err != nil || size.Row != 30 || size.Col != 100 {
		t.Errorf("its size is %+v, %v", size, err)
	}

	if _, err := write.Write([]byte("a\nb\x1b[1m\n")); err != nil {
		t.Fatal(err)
	}
	const want = "a\r\nb\x1b[1m\r\n"
	text := make([]byte, len(want))
	if _, err := io.ReadFull(shows, text); err != nil || string(text) != want {
		t.Errorf("the terminal shows %q, %v; want %q", text, err, want)
	}
	// A program out of the foreground that reads keys does not change the user's terminal.
	now := modesOf(t, write)
	now.Lflag &^= unix.ICANON
	if err := unix.IoctlSetTermios(int(write), setTermios, now); err != nil {
		t.Fatal(err)
	}
	if _, err := write.Write([]byte("c\n")); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(shows, text[:3]); err != nil || string(text[:3]) != "c\r\n" ||
		modesOf(t, user).Lflag&unix.ICANON == 0 {
		t.Errorf("%q, %v", text[:3], err)
	}
	closeFile(write)
	p.over.call()
	select {
	case <-p.Done:
	case <-time.After(5 * time.Minute):
		t.Fatal("the pump has not ended")
	}
	if s.Resize() || p.src != noFile || len(p.troubles) > 0 {
		t.Errorf("after its end: source %d", p.src)
	}
}

// A pump of a terminal that an orphan holds open ends with all that the command has written.
func TestTerminalWithAnOrphan(t *testing.T) {
	t.Parallel()
	user, shows := userTerminal(t)
	p, write := newTerminalPump(t, user)
	defer closeFile(write)
	if _, err := write.Write([]byte("last words")); err != nil {
		t.Fatal(err)
	}
	p.over.call()
	go p.run()
	select {
	case <-p.Done:
	case <-time.After(time.Minute):
		t.Fatal("the pump has not ended")
	}
	text := make([]byte, 10)
	if _, err := io.ReadFull(shows, text); err != nil || string(text) != "last words" {
		t.Errorf("the terminal shows %q, %v", text, err)
	}
}

func init() { plays["keys"] = (*scene).playKeys }

// playKeys is a command that reads keys from its output, as less does, then lines from its
// input, and that ends while it has the terminal's modes.
func (c *scene) playKeys() {
	var along bytes.Buffer
	before := descriptorsBefore()
	s, err := Open(nil, Plan{Spec: &attempt.Spec{Stdout: &along, Alike: true}, OutTo: 1})
	if err != nil {
		panic(err)
	}
	fd, err := unix.Dup(int(s.Files[1]))
	if err != nil {
		panic(err)
	}
	command := File(fd)
	s.Start()
	say("pumps %d, no terminal %v", len(s.Pumps), s.NoTerminal)
	// raw sets the command's modes, and waits until the user's terminal has them.
	raw := func(on bool) {
		modes, err := unix.IoctlGetTermios(fd, getTermios)
		if err != nil {
			panic(err)
		}
		modes.Lflag |= unix.ICANON | unix.ECHO
		if on {
			modes.Lflag &^= unix.ICANON | unix.ECHO
		}
		if err := unix.IoctlSetTermios(fd, setTermios, modes); err != nil {
			panic(err)
		}
		for EditsLines(0) == on {
			time.Sleep(time.Millisecond)
		}
		passed := s.Pumps[0].passed.Load()
		_, _ = command.Write([]byte("."))
		for s.Pumps[0].passed.Load() == passed { // the pump is behind the change then
			time.Sleep(time.Millisecond)
		}
	}
	read := func(f File, n int) string {
		keys := make([]byte, n)
		got := 0
		for got < n {
			_ = poll(-1, pollFd(f, unix.POLLIN))
			n, err := f.Read(keys[got:])
			if err != nil && err != errAgain {
				panic(err)
			}
			got += n
		}
		return string(keys)
	}
	raw(true)
	say("keys")
	say("the command reads %q", read(command, 2))
	say("more")
	say("the command reads %q", read(command, 1))
	raw(false)
	say("line")
	say("standard input is %q", read(0, 5))
	raw(true)
	closeFile(command)
	s.Finish()
	<-s.Pumps[0].Done
	s.Release()
	say("lines are edited %t, source %d, read along %q, left %d", EditsLines(0), s.Pumps[0].src, along.String(),
		descriptors()-before)
}

// What is typed reaches a command that reads keys from its output, and the user's terminal
// has its modes back when the command sets its own back, or ends.
func TestKeys(t *testing.T) {
	t.Parallel()
	slave, shows := userTerminal(t)
	read, report, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), sceneVariable+`={"Play":"keys"}`)
	user, err := os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", slave), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer user.Close()
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = user, user, user, []*os.File{report}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	report.Close()
	typed := map[string]string{"keys": "ab", "more": "c", "line": "word\n"}
	var said strings.Builder
	for lines := bufio.NewScanner(read); lines.Scan(); {
		if keys, asked := typed[lines.Text()]; !asked {
			fmt.Fprintln(&said, lines.Text())
		} else if _, err := shows.WriteString(keys); err != nil {
			t.Fatal(err)
		}
	}
	err = cmd.Wait()
	const want = `pumps 1, no terminal <nil>
the command reads "ab"
the command reads "c"
standard input is "word\n"
lines are edited true, source -1, read along "...", left 0
`
	if err != nil || said.String() != want {
		t.Errorf("%v, %s\nwant %s", err, said.String(), want)
	}
}

// What the modes of a terminal say, and that what is none has no modes.
func TestModesOfATerminal(t *testing.T) {
	user, _ := userTerminal(t)
	null, err := open(os.DevNull, unix.O_RDWR)
	if err != nil {
		t.Fatal(err)
	}
	defer closeFile(null)
	if !isTerminal(user) || isTerminal(null) || EditsLines(int(null)) || TakesLineFeeds(int(null)) ||
		!EditsLines(int(user)) || TakesLineFeeds(int(user)) {
		t.Error("a new terminal edits lines and processes output, and the null device does not")
	}
	for _, c := range []struct {
		oflag, lflag uint32 // that are off
		edits, takes bool
	}{{unix.OPOST, 0, true, true}, {unix.ONLCR, 0, true, true}, {0, unix.ICANON, false, false},
		{unix.OPOST | unix.ONLCR, unix.ICANON, false, true}} {
		modes := modesOf(t, user)
		before := *modes
		modes.Oflag &^= c.oflag
		modes.Lflag &^= c.lflag
		if err := unix.IoctlSetTermios(int(user), setTermios, modes); err != nil {
			t.Fatal(err)
		}
		if EditsLines(int(user)) != c.edits || TakesLineFeeds(int(user)) != c.takes {
			t.Errorf("%+v: edits lines %t, takes line feeds %t", c, EditsLines(int(user)), TakesLineFeeds(int(user)))
		}
		if err := unix.IoctlSetTermios(int(user), setTermios, &before); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := newTerminal(null); err == nil {
		t.Error("a terminal like the null device")
	}
	if copySize(null, user) || copySize(user, null) {
		t.Error("the null device has a size")
	}
	for f, want := range map[File][2]bool{user: {true, false}, null: {false, false}, noFile: {false, false}} {
		if waits, pipe := readerOf(f); waits != want[0] || pipe != want[1] {
			t.Errorf("%d: waits for a reader %t, a pipe %t", f, waits, pipe)
		}
	}
}

// The journal is the device and the inode that JOURNAL_STREAM names.
func TestIsJournal(t *testing.T) {
	read, write, err := newPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer closeFile(read)
	defer closeFile(write)
	var stat unix.Stat_t
	if err := unix.Fstat(int(write), &stat); err != nil {
		t.Fatal(err)
	}
	own := fmt.Sprintf("%d:%d", stat.Dev, stat.Ino)
	for stream, want := range map[string]bool{own: true, "": false, own + "1": false,
		"0:" + fmt.Sprint(stat.Ino): false} {
		t.Setenv("JOURNAL_STREAM", stream)
		if IsJournal(int(write)) != want || IsJournal(-1) {
			t.Errorf("%q: %t", stream, IsJournal(int(write)))
		}
	}
}

// A file without a name is where output and input are kept, in TMPDIR or in memory.
func TestSpools(t *testing.T) {
	dir := t.TempDir()
	for name, open := range map[string]func() (int, error){
		"without a name": func() (int, error) { return openUnnamed(dir) },
		"removed":        func() (int, error) { return openRemoved(dir) }, "in memory": openMemory,
	} {
		fd, err := open()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		f := File(fd)
		text := make([]byte, 8)
		if _, err := f.Write([]byte("kept")); err != nil || sizeOf(f) != 4 {
			t.Errorf("%s: %v, size %d", name, err, sizeOf(f))
		}
		if n, err := f.ReadAt(text, 1); string(text[:n]) != "ept" || err != nil {
			t.Errorf("%s: %q, %v", name, text[:n], err)
		}
		if n, err := f.ReadAt(text, 4); n != 0 || err != io.EOF {
			t.Errorf("%s, at its end: %d, %v", name, n, err)
		}
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC == 0 ||
			fd < 3 {
			t.Errorf("%s: descriptor %d with flags %x, %v", name, fd, flags, err)
		}
		closeFile(f)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
	if _, err := openRemoved(dir + "/none"); err == nil {
		t.Error("a file in no directory")
	}
	t.Setenv("TMPDIR", dir+"/none")
	if _, err := openSpool(); err == nil || !strings.Contains(err.Error(), "set TMPDIR to another directory") {
		t.Errorf("%v", err)
	}
	if sizeOf(noFile) != 0 || pending(noFile) != 0 {
		t.Error("there is no file")
	}
}

// A held output is copied to its place, in the kernel or not, and with what has been
// written of it counted.
func TestCopyOut(t *testing.T) {
	dir := t.TempDir()
	text := strings.Repeat("0123456789abcdef", 20_000)
	file, err := openSpool()
	if err != nil {
		t.Fatal(err)
	}
	defer closeFile(file)
	if _, err := file.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	for _, flags := range []int{os.O_WRONLY, os.O_WRONLY | os.O_APPEND} {
		to, err := os.OpenFile(dir+"/to", os.O_CREATE|os.O_TRUNC|flags, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if err := copyOut(File(to.Fd()), file, func() bool { return false }); err != nil {
			t.Error(err)
		}
		to.Close()
		if got, err := os.ReadFile(dir + "/to"); err != nil || string(got) != text {
			t.Errorf("flags %x: %d bytes, %v", flags, len(got), err)
		}
	}
	read, write, err := newPipe()
	if err != nil {
		t.Fatal(err)
	}
	unblock(write)
	all := make(chan string, 1)
	go func() {
		b, _ := io.ReadAll(os.NewFile(uintptr(read), "pipe"))
		all <- string(b)
	}()
	if err := copyOut(write, file, func() bool { return true }); err != nil {
		t.Error(err)
	}
	closeFile(write)
	if got := <-all; got != text {
		t.Errorf("%d bytes through a pipe", len(got))
	}
	full, err := open("/dev/full", unix.O_WRONLY)
	if err != nil {
		t.Skip("no /dev/full")
	}
	defer closeFile(full)
	if err := copyOut(full, file, func() bool { return false }); err != unix.ENOSPC {
		t.Errorf("to a full disk: %v", err)
	}
}

// A pipe of a command holds more than another, unless the user has too many.
func TestEnlargePipe(t *testing.T) {
	read, write, err := newPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer closeFile(read)
	defer closeFile(write)
	enlargePipe(read)
	size, err := unix.FcntlInt(uintptr(read), unix.F_GETPIPE_SZ, 0)
	if err != nil || size != pipeSize && os.Geteuid() == 0 {
		t.Errorf("it holds %d, %v", size, err)
	}
}
