package admission

import (
	"context"
	"sync"
	"time"

	"github.com/retrysh/retry/engine/guard"
)

// Memory is a store of one key in memory, for one process: for rehearsals, whose outcomes
// must not open a breaker of other runs, and for simulations.
type Memory struct {
	// Now is the time; nil is the system's.
	Now func() time.Time

	mu    sync.Mutex
	state guard.State
	held  int64 // slots
}

// Do answers a request. A place of the breaker lasts until its report, since what holds it
// lives as long as the Memory does.
func (m *Memory) Do(_ context.Context, _ string, g *guard.Guards, r *guard.Request) (guard.Answer, guard.Lock, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	request := *r
	request.Held = m.held
	clock := m.Now
	if clock == nil {
		clock = time.Now
	}
	now := clock().UnixMilli()
	for i := range m.state.Breaker.Probes {
		m.state.Breaker.Probes[i].Until = now + guard.LeaseFor
	}
	answer := guard.Do(g, &m.state, &request, now)
	if !answer.Pass.Slot {
		return answer, nil, nil
	}
	m.held++
	return answer, slot{m}, nil
}

// Look returns nothing: a Memory is shared with no other run.
func (*Memory) Look(context.Context, string) (*guard.Snapshot, error) { return nil, nil }

// Held is the number of slots that are held.
func (m *Memory) Held() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.held
}

// slot is a slot of a Memory.
type slot struct{ from *Memory }

func (s slot) Unlock() {
	s.from.mu.Lock()
	defer s.from.mu.Unlock()
	s.from.held--
}
