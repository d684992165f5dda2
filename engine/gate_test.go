package engine

// This file is the guards of the tests: a real gate over a store that answers as a test says.

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/retrysh/retry/engine/admission"
	"github.com/retrysh/retry/engine/guard"
)

// shop is a store that admits so many copies and all else but one request, and answers
// slowly.
type shop struct {
	copies int
	takes  time.Duration // for a copy
	refuse string        // as in "admit 1"

	busy    sync.Mutex // locked during a request
	calls   []string   // requests but for copies and reports, with their numbers
	asked   []copyAsked
	reports []guard.Outcome
	open    int // passes without a report
}

// copyAsked is a request for a copy.
type copyAsked struct {
	attempt  int
	timedOut bool
}

// admission has every step of a gate ask the shop.
func (s *shop) admission() *admission.Config {
	return &admission.Config{
		Guards: guard.Guards{
			Breaker: guard.Breaker{Row: 9, Open: 1000, Probes: 1}, Slots: guard.Slots{N: 100},
			Tokens: guard.Tokens{Capacity: 100, Cost: 1, TimeoutCost: 1},
		},
		Primary: admission.Named{Store: s, Name: "shop"},
		Random:  func() uint64 { return 1 << 20 },
	}
}

func (s *shop) Do(ctx context.Context, _ string, _ *guard.Guards, r *guard.Request) (answer guard.Answer,
	_ guard.Lock, err error) {
	if r.Op == guard.Renew { // by another goroutine
		return answer, nil, nil
	}
	if !s.busy.TryLock() {
		panic("the store is asked twice at once")
	}
	defer s.busy.Unlock()
	switch r.Op {
	case guard.Permit:
		answer = s.call(fmt.Sprint("permit ", r.Attempt))
		answer.Taken.Cost = 1
	case guard.Admit:
		answer = s.call(fmt.Sprint("admit ", r.Attempt))
	case guard.Withdraw:
		s.call("withdraw")
	case guard.Finish:
		s.call("finish")
	case guard.AdmitCopy:
		s.asked = append(s.asked, copyAsked{int(r.Attempt), r.TimedOut})
		if answer.To, err = guard.Open, s.wait(ctx); err != nil {
			return answer, nil, err
		}
		if s.copies--; s.copies < 0 {
			answer.Refusal.Guard = guard.KindBudget
		}
	case guard.Report:
		s.reports = append(s.reports, r.Outcome)
		s.open--
	}
	if r.Slot && answer.Refusal.Guard == guard.None {
		answer.Pass.Slot = true
		s.open++
	}
	return answer, nil, nil
}

// call refuses a request or admits it.
func (s *shop) call(what string) (answer guard.Answer) {
	s.calls = append(s.calls, what)
	if what == s.refuse {
		answer.Refusal.Guard = guard.KindBreaker
	}
	return answer
}

func (s *shop) wait(ctx context.Context) error {
	select {
	case <-time.After(s.takes):
	case <-ctx.Done():
	}
	return ctx.Err()
}

func (s *shop) Look(context.Context, string) (*guard.Snapshot, error) {
	panic("a run looks at no state")
}
