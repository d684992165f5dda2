//go:build unix

package proc

// This file runs a command that only answers a question.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/exitcodes"
)

// What a probe gets between TERM and KILL: one that is out of time, and one
// that is cancelled, since the program itself is then expected to be gone
// within 50 ms (SPEC section 6).
const (
	probeGrace  = 100 * time.Millisecond
	cancelGrace = 10 * time.Millisecond
)

// Probe runs argv in a process group of its own, without input, and with both
// its outputs going to output. When ctx ends its whole tree is ended, and the
// result counts as timed out; a cancelled ctx leaves it less time for that than
// one whose deadline has passed. Any number of probes may run at once.
func Probe(ctx context.Context, argv, env []string, output io.Writer) attempt.Result {
	runtime.LockOSThread() // the command is killed when this thread ends
	defer runtime.UnlockOSThread()
	begun := time.Now()
	res := probe(ctx, argv, env, output)
	res.Duration = time.Since(begun)
	return res
}

func probe(ctx context.Context, argv, env []string, output io.Writer) attempt.Result {
	if ctx.Err() != nil {
		return attempt.Result{TimedOut: true, ExitCode: exitcodes.Timeout}
	}
	null, err := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return attempt.Result{Err: fmt.Errorf("opening %s: %w", os.DevNull, err), ExitCode: exitcodes.Failure}
	}
	defer func() { _ = unix.Close(null) }()
	s := &streams{child: [3]uintptr{uintptr(null), uintptr(null), uintptr(null)}}
	if s.over, err = newWake(); err != nil {
		return attempt.Result{Err: err, ExitCode: exitcodes.Failure}
	}
	p, err := newPipe()
	if err != nil {
		s.close()
		return attempt.Result{Err: err, ExitCode: exitcodes.Failure}
	}
	_ = unix.SetNonblock(p[0], true)
	s.child[1], s.child[2], s.closing = uintptr(p[1]), uintptr(p[1]), []int{p[1]}
	s.pumps = []*pump{{src: p[0], dst: null, also: output, over: s.over, done: make(chan struct{}), gone: func() {}, fail: func(error) {}}}
	pid, err := spawn(argv, env, s.files(), true)
	if err != nil {
		s.close()
		code := exitcodes.Of(err)
		if code == exitcodes.Failure {
			return attempt.Result{Err: err, ExitCode: code}
		}
		return attempt.Result{StartErr: err, ExitCode: code}
	}
	s.start()
	return watch(ctx, pid, s)
}

// watch waits for a probe's command, or ends it with ctx.
func watch(ctx context.Context, pid int, s *streams) attempt.Result {
	t := &tree{root: pid, leader: pid, group: true, report: &reporter{}}
	var res attempt.Result
	swept := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(swept)
		if !ended(pid) {
			res.TimedOut = true
			grace := probeGrace
			if errors.Is(ctx.Err(), context.Canceled) {
				grace = cancelGrace
			}
			t.note() // once the leader has ended, nothing leads to what left its group
			t.end(syscall.SIGTERM, grace, nil)
		}
	})
	err := awaitOwn(pid)
	if !stop() {
		<-swept
	}
	haste := asLongAsItTakes
	if res.TimedOut {
		haste = atOnce
	}
	s.drain(nil, haste, func() {})
	how := children.reap(pid)
	switch {
	case err != nil && !errors.Is(err, syscall.ECHILD):
		res.Err, res.ExitCode = err, exitcodes.Failure
	case res.TimedOut:
		res.ExitCode = exitcodes.Timeout
	case how.signal != 0:
		res.ExitCode, res.Signal = exitcodes.OfSignal(int(how.signal)), nameOf(how.signal)
	default:
		res.ExitCode = how.code
	}
	return res
}
