package proc

// This file tests what the program finds out of its surroundings: the driver prints it.

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/retrysh/retry/engine/proc/stdio"
)

// What standard input is decides whether a command can read it again, or at all.
func TestStandardInput(t *testing.T) {
	t.Parallel()
	file := func(size, offset int64) func() (*os.File, func()) {
		return func() (*os.File, func()) {
			f := tempFile(t)
			if err := f.Truncate(size); err != nil {
				t.Fatal(err)
			}
			if _, err := f.Seek(offset, 0); err != nil {
				t.Fatal(err)
			}
			return f, func() {}
		}
	}
	device := func(name string) func() (*os.File, func()) {
		return func() (*os.File, func()) {
			f, err := os.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			return f, func() { _ = f.Close() }
		}
	}
	readDir := func() (*os.File, func()) {
		dir, done := device(t.TempDir())()
		if _, err := dir.Readdirnames(-1); err != nil {
			t.Fatal(err)
		}
		return dir, done
	}
	pipe := func(text string, open bool) func() (*os.File, func()) {
		return func() (*os.File, func()) {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := w.WriteString(text); err != nil {
				t.Fatal(err)
			}
			if !open {
				_ = w.Close()
			}
			return r, func() { _ = r.Close(); _ = w.Close() }
		}
	}
	const alone = "terminal false, job false, foreground false, beside others false"
	for name, c := range map[string]struct {
		open func() (f *os.File, done func())
		want string
	}{
		"a file":                {file(8, 0), "waiting true, ended false, used up false, null false"},
		"one that is half read": {file(8, 7), "waiting true, ended false, used up false, null false"},
		"one that is used up":   {file(8, 8), "waiting true, ended false, used up true, null false"},
		"its only byte":         {file(1, 1), "waiting true, ended false, used up true, null false"},
		"one that was cut":      {file(8, 9), "waiting true, ended false, used up true, null false"},
		"an empty file":         {file(0, 0), "waiting true, ended false, used up false, null false"},
		"the null device":       {device(os.DevNull), "waiting true, ended false, used up false, null true"},
		"another device":        {device("/dev/zero"), "waiting true, ended false, used up false, null false"},
		"a directory":           {readDir, "waiting true, ended false, used up false, null false"},
		"a pipe":                {pipe("", true), "waiting false, ended false, used up false, null false"},
		"one with text":         {pipe("x", true), "waiting true, ended false, used up false, null false"},
		"one that has ended":    {pipe("", false), "waiting false, ended true, used up false, null false"},
		"its last text":         {pipe("x", false), "waiting true, ended false, used up false, null false"},
	} {
		t.Run(name, func(t *testing.T) {
			f, done := c.open()
			defer done()
			d := order(t, orders{Look: true})
			d.Stdin = f
			d.start()
			d.wait()
			if got := strings.TrimSpace(d.Stdout.String()); got != c.want+", "+alone {
				t.Errorf("%s %s; want %s", got, d.Stderr.String(), c.want)
			}
		})
	}
}

// A run that would not have the files that it needs is refused, and one that has is not.
func TestEnoughFiles(t *testing.T) {
	t.Parallel()
	var own unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &own); err != nil {
		t.Fatal(err)
	}
	for limit, want := range map[uint64]string{
		100: "<nil>\nthe limit of open files is 100, at least 101 are needed since SOME are open already (ulimit -n)\n",
		255: "<nil>\nthe limit of open files is 255, at least 256 are needed since SOME are open already (ulimit -n)\n",
		256: "<nil>\n<nil>\n",
	} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			if own.Max <= limit+1 {
				t.Skipf("needs a limit of more than %d open files", limit+1)
			}
			d := order(t, orders{Files: limit})
			d.ExtraFiles = []*os.File{os.Stdin}
			d.start()
			d.wait()
			if d.Stdout.String() != want {
				t.Errorf("%q, %s; want %q", d.Stdout.String(), d.Stderr.String(), want)
			}
		})
	}
	if err := EnoughFiles(Config{}, 0, 0); err != nil {
		t.Error(err)
	}
}

// A pipe that is handed down has a number in the process that was started, and goes no
// further.
func TestHandDown(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	defer write.Close()
	attr := &os.ProcAttr{Files: []*os.File{nil, nil, nil}}
	if number := HandDown(attr, write); number != 3 || len(attr.Files) != 4 || attr.Files[3] != write {
		t.Errorf("number %d of %v", number, attr.Files)
	}
	fd, err := unix.Dup(int(write.Fd())) // without FD_CLOEXEC
	if err != nil {
		t.Fatal(err)
	}
	down := HandedDown(uintptr(fd))
	defer down.Close()
	if flags, err := unix.FcntlInt(down.Fd(), unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC == 0 {
		t.Errorf("its flags are %x, %v", flags, err)
	}
}

// Each stream that is read, held, kept or replayed takes files.
func TestFilesOfStreams(t *testing.T) {
	for _, c := range []struct {
		cfg         Config
		reads, want int
	}{
		{Config{}, 0, 0},
		{Config{}, 1, 4}, // a pipe, and the pipe that wakes
		{Config{}, 2, 6},
		{Config{Stdin: stdio.Null}, 0, 1},
		{Config{Stdin: stdio.Replay}, 0, 5},
		{Config{Stdin: stdio.Replay}, 2, 9},
		{Config{Stdout: stdio.Hold}, 0, 5},
		{Config{Stdout: stdio.Hold}, 2, 7},
		{Config{Stdout: stdio.Hold, Stderr: stdio.Hold}, 1, 8},
		{Config{Stdout: stdio.OnFailure}, 0, 6},
		{Config{Stdout: stdio.Hold, Stderr: stdio.OnFailure}, 2, 9},
	} {
		if got := filesOfStreams(c.cfg, c.reads); got != c.want {
			t.Errorf("%+v with %d that are read: %d, want %d", c.cfg, c.reads, got, c.want)
		}
	}
}

// The foreground of a terminal is its leader's until the shell gives it to another job, and
// there are others beside the program if they may write there while it runs.
func TestForeground(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{
		`exec "$D"`:                      "terminal true, job false, foreground true, beside others false",
		`"$D"; :`:                        "terminal true, job false, foreground true, beside others false",
		`set -m; "$D" & wait`:            "terminal true, job true, foreground false, beside others false",
		`setsid -w "$D"`:                 "terminal false, job false, foreground false, beside others false",
		`sleep 600 & "$D"; kill $!`:      "terminal true, job false, foreground true, beside others true",
		`"$D" | cat`:                     "terminal true, job false, foreground true, beside others true",
		`(sleep 600 & exec "$D"); :`:     "terminal true, job false, foreground true, beside others false",
		`set -m; sleep 600 & "$D"; exit`: "terminal true, job true, foreground true, beside others false",
		// A shell waits for the leader only.
		`sleep 600 & exec "$D"`: "terminal true, job false, foreground true, beside others false",
	} {
		if got := lookFrom(t, script); !strings.Contains(got, want) || strings.Contains(got, "are left") {
			t.Errorf("%s: %q; want %s", script, got, want)
		}
	}
}

// lookFrom is what a shell that leads the session of a terminal shows there, in which "$D" looks
// at its surroundings.
func lookFrom(t *testing.T, script string) string {
	t.Helper()
	term := openTerminal(t)
	defer term.close()
	d := order(t, orders{Look: true})
	d.Env = append(d.Env, "D="+d.Path, "F="+t.TempDir()+"/file")
	d.Path, d.Args = "/bin/bash", []string{"bash", "-c", script}
	d.in(term)
	term.see("beside others ")
	d.wait()
	killSession(d.Process.Pid)
	return term.text()
}

// If /dev/tty is not there, any of the standard streams shows the terminal.
func TestForegroundWithoutTTY(t *testing.T) {
	t.Parallel()
	const hidden = "mount -t tmpfs none /dev && "
	if err := exec.Command("unshare", "--mount", "sh", "-c", hidden+":").Run(); err != nil {
		t.Skipf("no mount namespace is available: %v", err)
	}
	for script, want := range map[string]string{
		`"$D" 2>$F | cat`:              "foreground true",
		`exec "$D" </etc/passwd 2>$F`:  "foreground true",
		`"$D" </etc/passwd | cat`:      "foreground true",
		`"$D" </etc/passwd 2>$F | cat`: "foreground false",
	} {
		if got := lookFrom(t, "unshare --mount sh -c '"+hidden+script+"'"); !strings.Contains(got, want) {
			t.Errorf("%s: %q; want %s", script, got, want)
		}
	}
}

// One run at a time draws on a terminal, and each knows whether others write there.
func TestScreen(t *testing.T) {
	term, apart := openTerminal(t), openTerminal(t)
	one, two := OpenScreen(int(term.slave.Fd())), OpenScreen(int(term.slave.Fd()))
	other, none := OpenScreen(int(apart.slave.Fd())), OpenScreen(-1)
	if !one.Claim() || two.Claim() || !one.Claim() || !other.Claim() || !none.Claim() {
		t.Error("one draws at a time on a terminal, and without one anybody")
	}
	one.Release()
	if !two.Claim() || one.Claim() {
		t.Error("the right to draw was given back")
	}
	if one.Crowded() || other.Crowded() || none.Crowded() || !two.Crowded() || !one.Crowded() || other.Crowded() {
		t.Error("two write on one terminal, and one on the other")
	}
	_ = unix.Close(one.own())
	if !two.Crowded() {
		t.Error("another has written")
	}
}
