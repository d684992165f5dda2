package admission

// This file shares with other runs which values of rotated names have failed.

import (
	"context"
	"hash/fnv"

	"github.com/retrysh/retry/engine/guard"
)

// FailedLately reports which of the values, each written NAME=VALUE, have failed for the runs
// with this key in the last 30 s. If the store cannot be used it warns and returns nil: the
// order of values is no reason to refuse a run.
func (g *Gate) FailedLately(ctx context.Context, values []string) []bool {
	if g.store.Store == nil || g.valuesLost || !g.probed && g.Health != nil && g.Health.LeaveAlone(g.store.Name) {
		return nil
	}
	limits, cancel := limited(ctx, g.Timeout)
	defer cancel()
	known, err := g.store.Look(limits, g.Key)
	if err != nil && ctx.Err() == nil {
		g.valuesLost = true
		g.lost(g.store, err, guard.ValuesFailed)
	}
	if err != nil || known == nil {
		return nil
	}
	return known.FailedLately(hashes(values))
}

// Failed records that an attempt has failed with the values.
func (g *Gate) Failed(values []string) {
	if g.store.Store != nil && !g.valuesLost {
		g.valuesLost = !g.report(g.store, g.Timeout, &guard.Request{Op: guard.ValuesFailed, Values: hashes(values)})
	}
}

// hashes are the numbers by which a store knows the values.
func hashes(values []string) []int64 {
	numbers := make([]int64, len(values))
	for i, value := range values {
		h := fnv.New64a()
		_, _ = h.Write([]byte(value))
		numbers[i] = int64(h.Sum64() >> 11) // up to guard.MaxID
	}
	return numbers
}
