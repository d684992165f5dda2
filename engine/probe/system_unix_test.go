//go:build unix

package probe

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/retrysh/retry/engine/attempt"
)

// runCommand is an Exec over os/exec.
func runCommand(ctx context.Context, argv []string, output io.Writer) attempt.Result {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = output, output
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return attempt.Result{ExitCode: max(exit.ExitCode(), 1)}
	}
	if err != nil {
		return attempt.Result{ExitCode: 127, StartErr: err}
	}
	return attempt.Result{}
}

func TestShell(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		command string
		code    int
		note    string
	}{
		{"true", 0, ""},
		{"echo out; test $((1 + 1)) = 2", 0, ""},
		{"exit 7", 1, "command exited 7"},
		{"echo one; echo two >&2; exit 1", 1, "two"},
	} {
		p := newProbe(t, "exec:"+c.command)
		p.exec = runCommand
		want(t, p.Run(t.Context(), attempt.Spec{}), c.code, c.note)
	}
}

func TestCommandIsLate(t *testing.T) {
	t.Parallel()
	p := newProbe(t, "exec:exec sleep 600")
	p.exec = runCommand
	wantLate(t, p, "command not done within %v", within)
	// What it said last is why.
	p.exec = func(ctx context.Context, _ []string, output io.Writer) attempt.Result {
		_, _ = io.WriteString(output, "still migrating")
		<-ctx.Done()
		return attempt.Result{ExitCode: 124, TimedOut: true}
	}
	wantLate(t, p, "still migrating: command not done within %v", within)
	p = newProbe(t, "exec:echo still migrating; exec sleep 600")
	said := make(chan struct{})
	p.exec = func(ctx context.Context, argv []string, output io.Writer) attempt.Result {
		return runCommand(ctx, argv, writerFunc(func(b []byte) (int, error) {
			defer close(said)
			return output.Write(b)
		}))
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-said; cancel() }()
	want(t, p.Run(ctx, attempt.Spec{}), 1, "interrupted")
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// What the program itself failed at goes up as it is.
func TestExecFails(t *testing.T) {
	t.Parallel()
	p := newProbe(t, "exec:true")
	failure := errors.New("no process can be started")
	p.exec = func(context.Context, []string, io.Writer) attempt.Result {
		return attempt.Result{ExitCode: 125, Err: failure, Cancelled: "SIGTERM"}
	}
	got := p.Run(t.Context(), attempt.Spec{})
	if !errors.Is(got.Err, failure) || got.Cancelled != "SIGTERM" || got.ExitCode != 1 {
		t.Errorf("got %+v", got)
	}
}

func TestFileNotes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	want(t, once(t, "file://"+file+"/below"), 1, "no such file: a part of its path is not a directory")
	want(t, once(t, "unix://"+file), 1, "connection refused")
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	want(t, once(t, "file://"+pipe), 0, "") // looked at, not opened
}

// A datagram socket exists, but accepts no connection.
func TestDatagramSocket(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_DGRAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(fd) })
	if err := syscall.Bind(fd, &syscall.SockaddrUnix{Name: path}); err != nil {
		t.Fatal(err)
	}
	want(t, once(t, "unix://"+path), 1, "not a stream socket")
}
