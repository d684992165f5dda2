package probe

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/retrysh/retry/engine/attempt"
)

// A try that waits for a target to be gone succeeds when it is not ready.
func TestUntilGone(t *testing.T) {
	t.Parallel()
	l := listen(t, "tcp", "127.0.0.1:0")
	p := newProbe(t, "tcp://"+l.Addr().String()).UntilGone()
	want(t, p.Run(t.Context(), attempt.Spec{}), 1, "still ready")
	want(t, newProbe(t, "tcp://"+deafPort(t)).UntilGone().Run(t.Context(), attempt.Spec{}), 0, "")
	want(t, newProbe(t, "file://"+urlPath(filepath.Join(t.TempDir(), "none"))).UntilGone().Run(t.Context(), attempt.Spec{}), 0, "")
	// One that does not answer in the time of a try is not ready.
	silent := newProbe(t, "http://"+l.Addr().String()).UntilGone()
	got := silent.Run(t.Context(), attempt.Spec{Timeout: 50 * time.Millisecond})
	if want(t, got, 0, ""); got.TimedOut {
		t.Errorf("got %+v", got)
	}
}

// A try that was cut short has found out nothing.
func TestUntilGoneIsNotKnown(t *testing.T) {
	t.Parallel()
	l := listen(t, "tcp", "127.0.0.1:0") // the kernel accepts, nobody speaks
	silent := newProbe(t, "http://"+l.Addr().String()).UntilGone()
	want(t, silent.Run(t.Context(), attempt.Spec{Deadline: time.Now().Add(20 * time.Millisecond)}), 124, "no answer in time")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	want(t, silent.Run(ctx, attempt.Spec{}), 1, "interrupted")
	ctx, cancel = context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	want(t, silent.Run(ctx, attempt.Spec{}), 124, "no answer in time")
}
