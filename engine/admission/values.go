package admission

// This file shares with other runs which values of rotated names have failed.

import (
	"context"
	"fmt"
	"hash/fnv"

	"github.com/retrysh/retry/engine/guard"
)

// looker is a store that other runs use as well.
type looker interface {
	Store
	Look(ctx context.Context, key string) (*guard.Snapshot, error)
}

// FailedLately reports which values have failed for the runs with this key in the last
// 30 s. If the store cannot be used it warns and returns nil: the order of values is no
// reason to refuse a run.
func (g *Gate) FailedLately(ctx context.Context, values []string) []bool {
	s, shared := g.store.Store.(looker)
	if !shared || g.valuesLost || !g.probed && g.c.Health != nil && g.c.Health.LeaveAlone(g.store.Name) {
		return nil
	}
	limits, cancel := limited(ctx, g.c.Timeout)
	defer cancel()
	known, err := s.Look(limits, g.c.Key)
	if err != nil && ctx.Err() == nil {
		g.loseValues(err)
	}
	if err != nil || known == nil {
		return nil
	}
	return known.FailedLately(hashes(values))
}

// Failed records that an attempt has failed with the values.
func (g *Gate) Failed(values []string) {
	s, shared := g.store.Store.(looker)
	if !shared || g.valuesLost {
		return
	}
	ctx, cancel := limited(context.Background(), g.c.Timeout)
	defer cancel()
	if _, _, err := s.Do(ctx, g.c.Key, &g.c.Guards, &guard.Request{Op: guard.ValuesFailed, Values: hashes(values)}); err != nil {
		g.loseValues(err)
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

// loseValues counts a failure of the store and warns. The run shares no more values.
func (g *Gate) loseValues(err error) {
	g.valuesLost = true
	g.count(err)
	g.warn(g.store.Name, fmt.Sprintf("%v; which values failed for other runs is not known", err))
}
