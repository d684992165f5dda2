//go:build unix

package proc

// This file holds tests of the standard streams.

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/retrysh/retry/engine/proc/stdio"
)

func TestNoByteBeforeTheExitIsMissed(t *testing.T) {
	t.Parallel()
	rounds := 200
	if raceEnabled {
		rounds = 40
	}
	// Each attempt ends right after its last write; a daemon holds the pipe.
	ends := sh("sleep 1 & printf 'last %d' $RETRY_ATTEMPT; printf 'err %d' $RETRY_ATTEMPT >&2; exit 1")
	d := run(t, orders{Argv: ends, Attempts: 5, Capture: "both"})
	check := func(d *driven, n int) {
		t.Helper()
		all := d.outcomes()
		if len(all) != n {
			t.Fatalf("%d attempts", len(all))
		}
		for i, res := range all {
			if want := fmt.Sprintf("last %d", i+1); res.Stdout != want ||
				res.Stderr != strings.Replace(want, "last", "err", 1) || res.ExitCode != 1 {
				t.Errorf("attempt %d: %q, %q, %+v", i+1, res.Stdout, res.Stderr, res.Result)
			}
		}
	}
	check(d, 5)
	d = run(t, orders{Argv: sh("printf 'last %d' $RETRY_ATTEMPT; printf 'err %d' $RETRY_ATTEMPT >&2; exit 1"),
		Attempts: rounds, Capture: "both"})
	check(d, rounds)
}

func TestSlowReaderMissesNothing(t *testing.T) {
	d := order(t, orders{Argv: sh("sleep 600 & head -c 60000 /dev/zero | tr '\\0' x; printf END"), Capture: "out"})
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	d.Cmd.Stdout = w
	d.start()
	_ = w.Close()
	within(t, r)
	time.Sleep(500 * time.Millisecond) // far beyond what an orphan is given
	var all []byte
	buf := make([]byte, 4096)
	for {
		n, err := r.Read(buf)
		all = append(all, buf[:n]...)
		if err != nil {
			break
		}
		time.Sleep(time.Millisecond)
		if bytes.HasSuffix(all, []byte("END")) {
			break
		}
	}
	d.wait()
	if res := d.only(); len(res.Stdout) != 60003 || !strings.HasSuffix(res.Stdout, "END") || len(all) != 60003 {
		t.Errorf("matched %d bytes, passed on %d", len(res.Stdout), len(all))
	}
	killSession(d.Process.Pid)
}

func TestOrphanWithThePipeDoesNotHang(t *testing.T) {
	t.Parallel()
	for _, script := range []string{"sleep 600 & echo $! >$F; echo done",
		"(while :; do echo more; done) & echo $! >$F; echo done"} {
		pidFile := t.TempDir() + "/pid"
		d := order(t, orders{Argv: sh(script), Capture: "both"})
		d.Env = append(d.Env, "F="+pidFile)
		d.start()
		d.wait()
		kill(readPid(t, pidFile))
		res := d.only()
		if !strings.Contains(res.Stdout, "done\n") || res.ExitCode != 0 || res.Duration > limit {
			t.Errorf("%s: %v, %d bytes", script, res.Duration, len(res.Stdout))
		}
	}
}

func TestClosingItsOwnStreams(t *testing.T) {
	d := run(t, orders{Argv: sh("echo one; exec >&- 2>&-; sleep 0.2; exit 4"), Capture: "both"})
	if res := d.only(); res.Stdout != "one\n" || res.ExitCode != 4 || res.Duration < 200*time.Millisecond {
		t.Errorf("%+v", res)
	}
}

func TestHold(t *testing.T) {
	for _, capture := range []string{"", "both"} {
		d := run(t, orders{Argv: sh("echo out $RETRY_ATTEMPT; echo err $RETRY_ATTEMPT >&2; [ $RETRY_ATTEMPT = 2 ]"),
			Attempts: 3, Stdout: stdio.Hold, Capture: capture})
		if d.Stdout.String() != "out 2\n" || d.Stderr.String() != "err 1\nout 1\nerr 2\n" {
			t.Errorf("capture %q: %q, %q", capture, d.Stdout.String(), d.Stderr.String())
		}
		d = run(t, orders{Argv: sh("echo out $RETRY_ATTEMPT; echo err $RETRY_ATTEMPT >&2; [ $RETRY_ATTEMPT = 2 ]"),
			Attempts: 3, Stderr: stdio.Hold, Stdout: stdio.Hold, Capture: capture})
		if d.Stdout.String() != "out 2\n" || d.Stderr.String() != "out 1\nerr 1\nerr 2\n" {
			t.Errorf("both held, capture %q: %q, %q", capture, d.Stdout.String(), d.Stderr.String())
		}
	}
}

func TestHeldOutputGoesEverywhere(t *testing.T) {
	const size = 3 << 20
	script := fmt.Sprintf("head -c %d /dev/zero", size)
	// A pipe, a file that is appended to, and one that is not.
	d := order(t, orders{Argv: sh(script), Stdout: stdio.Hold})
	d.Cmd.Stdout = nil
	pipe, err := d.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	d.start()
	within(t, pipe.(*os.File))
	n, _ := io.Copy(io.Discard, pipe)
	d.wait()
	if n != size {
		t.Errorf("through a pipe: %d", n)
	}
	for _, flag := range []int{os.O_APPEND, 0} {
		file := t.TempDir() + "/out"
		f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|flag, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = f.WriteString("before")
		d := order(t, orders{Argv: sh(script), Stdout: stdio.Hold})
		d.Cmd.Stdout = f
		d.start()
		d.wait()
		_ = f.Close()
		if info, _ := os.Stat(file); info.Size() != size+6 {
			t.Errorf("to a file: %d", info.Size())
		}
	}
}

func TestReplay(t *testing.T) {
	text := strings.Repeat("0123456789abcde\n", 1<<18) // 4 MiB: memory, then a file
	script := "if [ $RETRY_ATTEMPT = 1 ]; then head -c 10 >/dev/null; exit 1; fi; if [ $RETRY_ATTEMPT = 2 ]; " +
		"then head -c 2000000 >/dev/null; exit 1; fi; sha256sum"
	want := fmt.Sprintf("%x  -\n", sha256.Sum256([]byte(text)))
	d := order(t, orders{Argv: sh(script), Attempts: 3, Stdin: stdio.Replay})
	d.Stdin = strings.NewReader(text)
	d.start()
	d.wait()
	if d.Stdout.String() != want || d.end() != "exit status 0" {
		t.Errorf("from a pipe: %q, want %q; %s %q", d.Stdout.String(), want, d.end(), d.Stderr.String())
	}
	f := tempFile(t)
	_, _ = f.WriteString("skipped" + text)
	_, _ = f.Seek(7, io.SeekStart)
	d = order(t, orders{Argv: sh("[ -f /dev/stdin ] || exit 9; " + script), Attempts: 3, Stdin: stdio.Replay})
	d.Stdin = f
	d.start()
	d.wait()
	if d.Stdout.String() != want {
		t.Errorf("from a file: %q, want %q; %s", d.Stdout.String(), want, d.end())
	}
}

func TestReplayOfLiveInput(t *testing.T) {
	dir := t.TempDir()
	d := order(t, orders{Argv: sh("read x; echo $x >>" + word(dir) + "/got; [ $RETRY_ATTEMPT = 2 ]"), Attempts: 2,
		Stdin: stdio.Replay})
	in, err := d.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	d.start()
	_, _ = io.WriteString(in, "word\n")
	eventually(t, "the line twice", func() bool { return got(t, dir) == "word word" })
	d.wait() // though the input is still open
	if d.end() != "exit status 0" {
		t.Error(d.end())
	}
}

// The whole input is there at the end, also what no attempt has read.
func TestAllOfTheInput(t *testing.T) {
	text := strings.Repeat("0123456789abcde\n", 1<<17) // 2 MiB
	d := order(t, orders{Argv: sh("head -c 10 >/dev/null; exit 1"), Stdin: stdio.Replay, All: time.Minute})
	d.Stdin = strings.NewReader(text)
	d.start()
	d.wait()
	if d.Stdout.String() != text {
		t.Errorf("from a pipe: %d bytes of %d; %s", d.Stdout.Len(), len(text), d.Stderr.String())
	}
	f := tempFile(t)
	_, _ = f.WriteString("skipped" + text)
	_, _ = f.Seek(7, io.SeekStart)
	d = order(t, orders{Argv: sh("head -c 10 >/dev/null; exit 1"), Stdin: stdio.Replay, All: time.Minute})
	d.Stdin = f
	d.start()
	d.wait()
	if d.Stdout.String() != text {
		t.Errorf("from a file: %d bytes of %d; %s", d.Stdout.Len(), len(text), d.Stderr.String())
	}
	d = order(t, orders{Argv: sh("exit 1"), Stdin: stdio.Replay, All: time.Millisecond})
	in, err := d.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	d.start()
	d.wait() // though the input is still open
	_ = in.Close()
	if d.Stdout.String() != "standard input has not ended\n" || d.end() != "exit status 3" {
		t.Errorf("from an open pipe: %q, %s", d.Stdout.String(), d.end())
	}
}

func TestInheritedInputIsLeftToTheCommand(t *testing.T) {
	d := order(t, orders{})
	text := d.Args[0]
	d.Path, d.Args = "/bin/sh", []string{"sh", "-c", "while read x; do \"$D\"; echo $x; done"}
	d.Env = append(d.Env, "D="+text, driverEnv+`={"Argv":["true"]}`)
	d.Stdin = strings.NewReader("1\n2\n3\n")
	d.start()
	d.wait()
	if d.Stdout.String() != "1\n2\n3\n" {
		t.Errorf("%q %q", d.Stdout.String(), d.Stderr.String())
	}
}

func TestNullInput(t *testing.T) {
	d := order(t, orders{Argv: sh("wc -c"), Stdin: stdio.Null, Attempts: 2})
	d.Stdin = strings.NewReader("text")
	d.start()
	d.wait()
	if strings.TrimSpace(d.Stdout.String()) != "0" {
		t.Error(d.Stdout.String())
	}
}

func TestReaderGone(t *testing.T) {
	for _, o := range []orders{
		{Argv: []string{"yes"}},
		{Argv: []string{"yes"}, Capture: "out"},
		{Argv: sh("trap '' PIPE; yes 2>/dev/null; exit 141")},
		{Argv: sh("trap '' PIPE; trap 'exit 0' TERM; echo; while :; do sleep 0.01; done"), Capture: "out"},
		{Argv: sh("echo held"), Stdout: stdio.Hold},
	} {
		o.Attempts = 3
		d := order(t, o)
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		d.Cmd.Stdout = w
		_ = r.Close()
		d.start()
		_ = w.Close()
		d.wait()
		if d.end() != "signal: broken pipe" || d.Stderr.Len() > 0 || len(d.outcomes()) != 1 {
			t.Errorf("%+v: %s, %d attempts, %q", o, d.end(), len(d.outcomes()), d.Stderr.String())
		}
	}
}

func TestFullDisk(t *testing.T) {
	for _, o := range []orders{
		{Argv: sh("yes | head -c 100000; sleep 600"), Capture: "out"},
		{Argv: sh("echo held"), Stdout: stdio.Hold},
	} {
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		if err != nil {
			t.Skip(err)
		}
		o.Attempts, o.KillAfter = 3, time.Second
		d := order(t, o)
		d.Cmd.Stdout = full
		d.start()
		d.wait()
		if d.end() != "exit status 125" || !strings.Contains(d.Stderr.String(), "no space left on device") ||
			len(d.outcomes()) != 1 {
			t.Errorf("%+v: %s, %q", o, d.end(), d.Stderr.String())
		}
	}
}

func TestNoPlaceForASpool(t *testing.T) {
	d := order(t, orders{Argv: sh("echo held"), Stdout: stdio.Hold})
	d.Env = append(d.Env, "TMPDIR=/no/such/dir")
	d.start()
	d.wait()
	if res := d.only(); d.end() != "exit status 125" || !strings.Contains(res.Err, `"/no/such/dir"`) {
		t.Errorf("%s, %q", d.end(), res.Err)
	}
	for range 10 { // the command must not see an end of its input
		d = order(t, orders{Argv: sh("cat >/dev/null && echo whole"), Stdin: stdio.Replay})
		d.Env = append(d.Env, "TMPDIR=/no/such/dir")
		d.Stdin = strings.NewReader(strings.Repeat("x", 3<<20))
		d.start()
		d.wait()
		if res := d.only(); d.end() != "exit status 125" || !strings.Contains(res.Err, `"/no/such/dir"`) ||
			d.Stdout.String() != "" {
			t.Errorf("%s, %q, %q", d.end(), res.Err, d.Stdout.String())
		}
	}
}

func TestOtherDescriptorsReachTheCommand(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	for _, o := range []orders{{Argv: sh("echo here >&3")},
		{Argv: sh("echo here >&3"), Capture: "both", Stdin: stdio.Replay}, {Argv: sh("echo here >&3"), Exec: true}} {
		d := order(t, o)
		d.ExtraFiles = []*os.File{w}
		d.start()
		within(t, r)
		buf := make([]byte, 10)
		n, _ := r.Read(buf)
		d.wait()
		if string(buf[:n]) != "here\n" {
			t.Errorf("%q", buf[:n])
		}
	}
}

func TestClosedStreamsAtTheStart(t *testing.T) {
	d := order(t, orders{Argv: sh("echo out; echo err >&2; cat; exit 3"), Capture: "both"})
	self := d.Path
	d.Path, d.Args = "/bin/sh", []string{"sh", "-c", `"$D" <&- >&- 2>&-; exit $?`}
	d.Env = append(d.Env, "D="+self)
	d.start()
	d.wait()
	if res := d.only(); res.Stdout != "out\n" || res.ExitCode != 3 || d.end() != "exit status 3" {
		t.Errorf("%+v, %s", res, d.end())
	}
}

func TestNonBlockingOutput(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	d := order(t, orders{Argv: sh("head -c 1000000 /dev/zero"), Capture: "out"})
	conn, err := w.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	d.Cmd.Stdout = w
	d.start()
	_ = conn.Control(func(fd uintptr) { _ = syscall.SetNonblock(int(fd), true) })
	_ = w.Close()
	within(t, r)
	time.Sleep(50 * time.Millisecond) // the pipe fills up
	n, _ := io.Copy(io.Discard, r)
	d.wait()
	if n != 1000000 || d.end() != "exit status 0" {
		t.Errorf("%d bytes, %s, %q", n, d.end(), d.Stderr.String())
	}
}
