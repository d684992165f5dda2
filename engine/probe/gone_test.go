package probe

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/testdata/loopback"
)

func untilGone(p *Probe) *Probe {
	p.Gone = true
	return p
}

// A try that waits for a target to be gone succeeds when it is not ready.
func TestUntilGone(t *testing.T) {
	t.Parallel()
	l := listen(t, "tcp", "127.0.0.1:0")
	p := untilGone(newProbe(t, "tcp://"+l.Addr().String()))
	want(t, p.Run(t.Context(), attempt.Spec{}), 1, "still ready")
	refusing := newProbe(t, "tcp://"+loopback.Refusing(t))
	want(t, untilGone(refusing).Run(t.Context(), attempt.Spec{}), 0, "connection refused")
	want(t, untilGone(newProbe(t, "file://"+urlPath(filepath.Join(t.TempDir(), "none")))).Run(t.Context(),
		attempt.Spec{}), 0, "no such file")
	// One that does not answer in the time of a try may be there.
	silent := untilGone(newProbe(t, "http://"+l.Addr().String()))
	if got := wantLate(t, silent, "no answer within %v", within); !got.TimedOut {
		t.Errorf("got %+v", got)
	}
}

// slow answers after a time, whether its context has ended or not.
type slow struct {
	after time.Duration
	err   error
}

func (s slow) run(context.Context, *Probe) error {
	time.Sleep(s.after)
	return s.err
}

// Whatever a try finds at the very moment that its time ends, or later, it is never
// that the target is gone.
func TestUntilGoneAtTheLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			check       slow
			limit, wait time.Duration // of the try, of the wait; 0 is none
			code        int
			note        string
		}{
			{slow{time.Second, nil}, time.Second, 0, 1, "still ready"},
			{slow{time.Second, nil}, 0, time.Second, 1, "still ready"},
			{slow{2 * time.Second, nil}, 0, time.Second, 1, "still ready"},
			{slow{3 * time.Second, nil}, 0, 0, 1, "still ready"},
			{slow{time.Second, plain("status 503")}, time.Second, 0, 124, "no answer within 1s"},
			{slow{time.Second, plain("status 503")}, 0, time.Second, 124, "no answer in time"},
			{slow{time.Second - 1, plain("status 503")}, 0, time.Second, 0, "status 503"},
			{slow{time.Second - 1, os.ErrDeadlineExceeded}, 0, time.Second, 124, "no answer in time"},
			{slow{1, &net.DNSError{Err: "no answer", IsTimeout: true}}, 0, 0, 1,
				"name does not resolve: no answer from the name server"},
			{slow{1, &net.DNSError{Err: "server misbehaving"}}, 0, 0, 1,
				"name does not resolve: the name server failed"},
		} {
			p := untilGone(New(&Target{check: c.check}, nil))
			ctx, cancel := t.Context(), func() {}
			if c.wait > 0 {
				ctx, cancel = context.WithTimeout(ctx, c.wait)
			}
			want(t, p.Run(ctx, attempt.Spec{Timeout: c.limit}), c.code, c.note)
			cancel()
		}
	})
}

// A try that was cut short has found out nothing.
func TestUntilGoneIsNotKnown(t *testing.T) {
	t.Parallel()
	l := listen(t, "tcp", "127.0.0.1:0") // the kernel accepts, and nothing is sent
	silent := untilGone(newProbe(t, "http://"+l.Addr().String()))
	if got := silent.Run(t.Context(),
		attempt.Spec{Deadline: time.Now().Add(20 * time.Millisecond)}); !got.DeadlinePassed || got.ExitCode != 124 {
		t.Errorf("at the deadline %+v", got)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if got := silent.Run(ctx, attempt.Spec{}); !got.DeadlinePassed || got.ExitCode != 124 {
		t.Errorf("at the end of the wait %+v", got)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if got := silent.Run(cancelled, attempt.Spec{}); got.ExitCode != 1 {
		t.Errorf("after a signal %+v", got)
	}
}
