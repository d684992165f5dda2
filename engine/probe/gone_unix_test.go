//go:build unix

package probe

import (
	"context"
	"errors"
	"io"
	"net"
	"syscall"
	"testing"

	"github.com/retrysh/retry/engine/attempt"
)

// failing fails with its error.
type failing struct{ err error }

func (f failing) run(context.Context, *Probe) error { return f.err }

// What this machine lacks says nothing about the target.
func TestUntilGoneWithoutMeans(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		code int
		note string
	}{
		{&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, 0, "connection refused"},
		{&net.DNSError{Err: "no such host", IsNotFound: true}, 0, "name does not resolve"},
		{plain("status 503"), 0, "status 503"},
		{&net.OpError{Op: "dial", Err: syscall.EMFILE}, 1, "too many open files"},
		{&net.OpError{Op: "dial", Err: syscall.ENETUNREACH}, 1, noNetwork},
		{&net.OpError{Op: "dial", Err: syscall.EADDRNOTAVAIL}, 1, noLocalAddress},
	} {
		p := untilGone(New(&Target{check: failing{c.err}}, nil))
		want(t, p.Run(t.Context(), attempt.Spec{}), c.code, c.note)
	}
	target, err := Parse("exec:true")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		result attempt.Result
		code   int
		note   string
	}{
		{attempt.Result{ExitCode: 1}, 0, "command exited 1"},
		{attempt.Result{ExitCode: 126, StartErr: errors.New("no process")}, 1, "no process"},
		{attempt.Result{ExitCode: 126}, 1, "command exited 126"},
		{attempt.Result{ExitCode: 127}, 1, "command exited 127"},
		{attempt.Result{ExitCode: 137, Signal: "SIGKILL"}, 1, "command ended by SIGKILL"},
	} {
		p := untilGone(New(target, func(context.Context, []string, io.Writer) attempt.Result { return c.result }))
		want(t, p.Run(t.Context(), attempt.Spec{}), c.code, c.note)
	}
}
