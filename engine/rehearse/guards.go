package rehearse

// This file keeps the state that guards are asked of in a rehearsal: the run's
// own, so that what is pretended opens no breaker for others.

import (
	"context"
	"sync"

	"github.com/retrysh/retry/engine/guard"
)

// Guards is a store in memory, for one run.
type Guards struct {
	// Now returns the time in milliseconds since the Unix epoch.
	Now func() int64

	mu    sync.Mutex
	state guard.State
}

// Do answers one request. There is one key, and slots are leases.
func (s *Guards) Do(_ context.Context, _ string, g *guard.Guards, r *guard.Request) (guard.Answer, interface {
	Descriptor() uintptr
	Unlock()
}, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	request := *r
	request.Held = -1
	return guard.Do(g, &s.state, &request, s.Now()), nil, nil
}
