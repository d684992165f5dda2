package waitfor

// This file looks at the targets of --wait-while.

import (
	"context"
	"sync"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/event"
)

// lastWatchLook limits the look when all targets are ready, which the run waits for.
const lastWatchLook = 500 * time.Millisecond

// watcher is a Watched target during a wait.
type watcher struct {
	*Watched
	wait    *wait
	looking sync.Mutex // one look at a time
	looks   int
}

// watch looks again and again, until the target is not ready. It calls first after the first
// look.
func (g *watcher) watch(ctx context.Context, first func()) {
	defer first()
	for ctx.Err() == nil {
		g.looking.Lock()
		ready := g.look(ctx, g.wait.Policy.Timeout)
		g.looking.Unlock()
		first()
		if !ready {
			return
		}
		select {
		case <-time.After(g.Every):
		case <-ctx.Done():
			return
		}
	}
}

// lookOnce looks once more, unless a look is under way.
func (g *watcher) lookOnce(ctx context.Context) {
	if g.looking.TryLock() {
		defer g.looking.Unlock()
		g.look(ctx, lastWatchLook)
	}
}

// look looks once, and ends the wait if the target is not ready. A try that has run into its
// limit says nothing, and counts as ready.
func (g *watcher) look(ctx context.Context, limit time.Duration) (ready bool) {
	g.looks++
	result := g.Starter.Start(ctx, attempt.Spec{Number: g.looks, Timeout: limit, Deadline: g.wait.end}).Wait()
	if result.ExitCode != 0 || ctx.Err() != nil {
		return true
	}
	g.wait.isOver.Store(true)
	select {
	case g.wait.over <- event.Target{Name: g.Name, Reason: result.Note, While: true}:
	default: // another one ends it already
	}
	return false
}
