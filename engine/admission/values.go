package admission

// This file shares which values of rotated names have failed.

import (
	"context"
	"fmt"

	"github.com/retrysh/retry/engine"
)

// Values is a store that also knows which values of rotated names have failed.
type Values interface {
	FailedLately(ctx context.Context, key string, values []string) ([]bool, error)
	ValuesFailed(ctx context.Context, key string, values []string) error
}

var _ engine.Values = (*Gate)(nil)

// FailedLately says which values have failed for the runs with this key in the
// last 30 s. Where the store cannot be used, nobody knows, and a warning says so:
// an order of values is nothing to refuse a run for.
func (g *Gate) FailedLately(ctx context.Context, values []string) []bool {
	s, knows := g.store.Store.(Values)
	if !knows || g.valuesLost || !g.probed && g.c.Health != nil && g.c.Health.LeaveAlone(g.store.Name) {
		return nil
	}
	limits, cancel := limited(ctx, g.c.Timeout)
	defer cancel()
	failed, err := s.FailedLately(limits, g.c.Key, values)
	if err != nil && ctx.Err() == nil {
		g.unknown(err)
	}
	return failed
}

// Failed tells that an attempt has failed with the values.
func (g *Gate) Failed(values []string) {
	s, knows := g.store.Store.(Values)
	if !knows || g.valuesLost {
		return
	}
	ctx, cancel := limited(context.Background(), g.c.Timeout)
	defer cancel()
	if err := s.ValuesFailed(ctx, g.c.Key, values); err != nil {
		g.unknown(err)
	}
}

// unknown counts a failure of the store and warns. The rest of the run goes on
// without.
func (g *Gate) unknown(err error) {
	g.valuesLost = true
	g.count(err)
	g.warn(g.store.Name, fmt.Sprintf("%v; which values failed for other runs is not known", err))
}
