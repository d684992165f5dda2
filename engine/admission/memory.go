package admission

// This file is a store that one process keeps for itself: for rehearsals, so that
// what is pretended opens no breaker for others, and for simulations.

import (
	"context"
	"sync"

	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/guard"
)

// Memory is a store of one key.
type Memory struct {
	// Clock is where the time comes from.
	Clock engine.Clock

	mu    sync.Mutex
	state guard.State
	held  int64 // slots
}

// Do answers a request. A slot is a lock that no other process can hold.
func (m *Memory) Do(_ context.Context, _ string, g *guard.Guards, r *guard.Request) (guard.Answer, Lock, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	request := *r
	request.Held = m.held
	answer := guard.Do(g, &m.state, &request, m.Clock.Now().UnixMilli())
	if !answer.Pass.Slot {
		return answer, nil, nil
	}
	m.held++
	return answer, slot{m}, nil
}

// Held is how many slots are held.
func (m *Memory) Held() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.held
}

// slot is one that a Memory has lent.
type slot struct{ from *Memory }

// noDescriptor is that of a lock which no file stands for.
const noDescriptor = ^uintptr(0)

// Descriptor is none.
func (slot) Descriptor() uintptr { return noDescriptor }

// Unlock gives the slot back.
func (s slot) Unlock() {
	s.from.mu.Lock()
	defer s.from.mu.Unlock()
	s.from.held--
}
