package admission

// This file makes requests of the store. When the store fails, the run goes on with the
// host's own store, then without guards, or it is refused.

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/guard"
)

// reply is the result of a request.
type reply struct {
	guard.Answer
	lock Lock
	from Store // that answered; nil where the run goes on without guards
	// refusal is nil where no guard refused. made says that the store has carried out
	// the request.
	refusal *event.GuardRefused
	made    bool
}

// ask makes a request of the store in use. When ctx ends the request, that is a refusal,
// not a failure of the store.
func (g *Gate) ask(ctx context.Context, r *guard.Request) reply {
	if g.store.Store == nil {
		return reply{}
	}
	patient, done := withGrace(ctx)
	answer, lock, err := g.try(patient, g.store, r)
	done()
	if g.slow = err != nil && ctx.Err() != nil; g.slow {
		return reply{refusal: g.unusable("the wait for the store was cut short")}
	}
	if err != nil {
		g.count(err)
		if g.c.Closed {
			return reply{refusal: g.unusable(fmt.Sprintf("the store %s cannot be used: %v", g.store.Name, err))}
		}
		if answer, lock, err = g.fallBack(ctx, r, err); err != nil {
			return reply{}
		}
	}
	g.emitChange(&answer)
	return reply{answer, lock, g.store.Store, g.refusal(&answer.Refusal), true}
}

// unusable is a refusal since the store does not answer.
func (g *Gate) unusable(reason string) *event.GuardRefused {
	return &event.GuardRefused{Guard: guard.KindStore.String(), Key: g.c.Key, Reason: reason}
}

// withGrace is ctx, done graceLimit later: the store may still grant the request, and
// only a run that knows of it can give it back.
func withGrace(ctx context.Context) (patient context.Context, done func()) {
	if ctx.Done() == nil {
		return ctx, func() {}
	}
	patient, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(graceLimit, cancel) })
	return patient, func() { stop(); cancel() }
}

// errLeftAlone says that a store is not asked.
var errLeftAlone = errors.New("failed three times in a row and is left alone for 30s")

// try makes a request within the time limit of the store.
func (g *Gate) try(ctx context.Context, s Named, r *guard.Request) (guard.Answer, Lock, error) {
	first := !g.probed && g.c.Health != nil && s == g.c.Primary
	if first && g.c.Health.LeaveAlone(s.Name) {
		return guard.Answer{}, nil, errLeftAlone
	}
	ctx, cancel := limited(ctx, g.c.Timeout)
	defer cancel()
	answer, lock, err := s.Do(ctx, g.c.Key, &g.c.Guards, r)
	g.emitNotes()
	if err == nil && first {
		g.probed = true
		_ = g.c.Health.Succeeded(ctx, s.Name)
	}
	return answer, lock, err
}

func (g *Gate) count(err error) {
	if g.c.Health == nil || g.store != g.c.Primary || errors.Is(err, errLeftAlone) {
		return
	}
	ctx, cancel := limited(context.Background(), g.c.Timeout)
	defer cancel()
	_ = g.c.Health.Failed(ctx, g.store.Name) // a failure that cannot be counted has no effect
}

// fallBack goes on with the host's store, or without guards, for the rest of the run.
// What was taken from the failed store is not given back to another.
func (g *Gate) fallBack(ctx context.Context, r *guard.Request, cause error) (guard.Answer, Lock, error) {
	from := g.store.Name
	request := *r
	request.Taken = guard.Taken{}
	g.taken = receipt{}
	answer, lock, err := guard.Answer{}, Lock(nil), errors.New("there is no other store")
	next := "without guards"
	if g.store == g.c.Primary && g.c.Host.Store != nil {
		if answer, lock, err = g.try(ctx, g.c.Host, &request); err == nil {
			next = "with " + g.c.Host.Name
		}
	}
	if g.store = g.c.Host; err != nil {
		g.store = Named{}
	}
	g.warn(from, fmt.Sprintf("%v; going on %s", cause, next))
	return answer, lock, err
}

// notes are messages of stores, also from renewals in other goroutines. The lock guards
// the list alone.
type notes struct {
	mu   sync.Mutex
	list []event.StoreFailed
}

// Note keeps a message of the store of a name, until the next request or report of the
// run emits it.
func (g *Gate) Note(name, line string) {
	g.notes.mu.Lock()
	defer g.notes.mu.Unlock()
	g.notes.list = append(g.notes.list, event.StoreFailed{Store: name, Reason: line})
}

func (g *Gate) emitNotes() {
	g.notes.mu.Lock()
	list := g.notes.list
	g.notes.list = nil
	g.notes.mu.Unlock()
	for i := range list {
		g.c.Emit(&list[i])
	}
}

// warn reports a failure of the store, once a run.
func (g *Gate) warn(name, reason string) {
	if !g.warned {
		g.warned = true
		g.c.Emit(&event.StoreFailed{Store: name, Reason: reason})
	}
}

// report makes a report to the store that admitted an attempt. A report that fails is
// lost, with a warning.
func (g *Gate) report(to Store, r *guard.Request) {
	ctx, cancel := limited(context.Background(), g.c.Timeout)
	defer cancel()
	answer, _, err := to.Do(ctx, g.c.Key, &g.c.Guards, r)
	g.emitNotes()
	if err != nil {
		g.lost(to, err, "what came of the attempt is not counted")
		return
	}
	g.emitChange(&answer)
}

// lost counts a failure of a store, and warns of the consequence.
func (g *Gate) lost(to Store, err error, what string) {
	if to == g.store.Store {
		g.count(err)
	}
	name := g.c.Primary.Name
	if to != g.c.Primary.Store {
		name = g.c.Host.Name
	}
	g.warn(name, fmt.Sprintf("%v; %s", err, what))
}

// emitChange reports that this run has changed the breaker.
func (g *Gate) emitChange(a *guard.Answer) {
	if a.From != a.To {
		g.c.Emit(&event.BreakerChanged{Key: g.c.Key, From: a.From.String(), To: a.To.String()})
	}
}

func (g *Gate) refusal(r *guard.Refusal) *event.GuardRefused {
	if r.Guard == guard.None {
		return nil
	}
	refusal := &event.GuardRefused{Guard: r.Guard.String(), Key: g.c.Key, Reason: r.Reason(&g.c.Guards, g.c.Key)}
	if r.RetryIn >= 0 {
		refusal.RetryIn = new(time.Duration(r.RetryIn) * time.Millisecond)
	}
	return refusal
}
