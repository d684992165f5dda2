package admission

// This file makes requests of the store. When the store fails, the run goes on with the
// host's own store, then without guards, or it is refused.

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/guard"
)

// reply is the result of a request.
type reply struct {
	guard.Answer
	lock guard.Lock
	from Named // that answered; its Store is nil for none: then the run goes on without guards
	// answered says that a store has answered, failed that it has failed and may be asked again.
	answered, failed bool
	// refusal is nil if no guard refused.
	refusal *event.GuardRefused
}

// request makes a request of the store in use. When ctx ends the request, that is a refusal,
// not a failure of the store. If again is set, the caller asks again after a failure.
func (g *Gate) request(ctx context.Context, r *guard.Request, again bool) reply {
	if g.store.Store == nil {
		return reply{}
	}
	patient, done := withGrace(ctx)
	answer, lock, err := g.send(patient, g.store, r)
	done()
	g.slow = err != nil && ctx.Err() != nil
	if g.slow {
		return reply{refusal: g.unusable("the wait for the store was cut short")}
	}
	if err != nil && again {
		g.tellOutage(err)
	}
	if err != nil && (g.Closed || again) {
		return reply{
			failed: again, refusal: g.unusable(fmt.Sprintf("the store %s cannot be used: %v", g.store.Name, err)),
		}
	}
	if err != nil {
		answer, lock, err = g.fallBack(ctx, r, err)
	}
	if err != nil {
		return reply{}
	}
	g.outage = false
	g.emitChange(&answer)
	return reply{Answer: answer, lock: lock, from: g.store, answered: true, refusal: g.refusal(&answer.Refusal)}
}

// tellOutage reports that the store has failed and is asked again, once until it answers.
func (g *Gate) tellOutage(err error) {
	if !g.outage {
		g.outage = true
		g.Emit(&event.StoreFailed{Store: g.store.Name, Reason: fmt.Sprintf("%v; asking again while wait= lasts", err)})
	}
}

// unusable is a refusal since the store does not answer.
func (g *Gate) unusable(reason string) *event.GuardRefused {
	return &event.GuardRefused{Guard: guard.KindStore.String(), Key: g.Key, Reason: reason}
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

// send makes a request within the time limit of the store.
func (g *Gate) send(ctx context.Context, s Named, r *guard.Request) (guard.Answer, guard.Lock, error) {
	ctx, cancel := limited(ctx, g.Timeout)
	defer cancel()
	answer, lock, err := s.Do(ctx, g.Key, &g.Guards, r)
	g.emitNotes()
	return answer, lock, err
}

// fallBack goes on with the host's store, or without guards, for the rest of the run.
// What was taken from the failed store is not given back to another.
func (g *Gate) fallBack(ctx context.Context, r *guard.Request, cause error) (guard.Answer, guard.Lock, error) {
	from := g.store.Name
	request := *r
	request.Taken = guard.Taken{}
	answer, lock, err := guard.Answer{}, guard.Lock(nil), errors.New("there is no other store")
	next := "without guards"
	if g.store == g.Primary && g.Host.Store != nil {
		if answer, lock, err = g.send(ctx, g.Host, &request); err == nil {
			next = "with " + g.Host.Name
		}
	}
	g.store = g.Host
	if err != nil {
		g.store = Named{}
	}
	g.warn(from, fmt.Sprintf("%v; going on %s", cause, next))
	return answer, lock, err
}

func (g *Gate) emitNotes() {
	for len(g.Notes) > 0 {
		g.Emit(<-g.Notes)
	}
}

// warn reports a failure of the store, once a run.
func (g *Gate) warn(name, reason string) {
	if !g.warned {
		g.warned = true
		g.Emit(&event.StoreFailed{Store: name, Reason: reason})
	}
}

// report makes a request whose answer the run does not depend on, and reports whether the
// store has carried it out. One that fails is lost, with a warning, but not if what a retry
// took is not given back in time.
func (g *Gate) report(to Named, limit time.Duration, r *guard.Request) bool {
	ctx, cancel := limited(context.Background(), limit)
	defer cancel()
	answer, _, err := to.Do(ctx, g.Key, &g.Guards, r)
	g.emitNotes()
	switch {
	case err == nil:
		g.emitChange(&answer)
	case r.Op != guard.Withdraw || ctx.Err() == nil:
		g.warnOfLoss(to, err, r.Op)
	}
	return err == nil
}

// warnOfLoss warns of what the failure of a store means.
func (g *Gate) warnOfLoss(to Named, err error, op guard.Op) {
	what := "what came of the attempt is not counted"
	switch op {
	case guard.Withdraw:
		what = "what the retry took is not given back"
	}
	g.warn(to.Name, fmt.Sprintf("%v; %s", err, what))
}

// limited is ctx with a time limit, 0 for none.
func limited(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d == 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, d)
}

// emitChange reports that this run has changed the breaker.
func (g *Gate) emitChange(a *guard.Answer) {
	if a.From != a.To {
		g.Emit(&event.BreakerChanged{Key: g.Key, From: a.From.String(), To: a.To.String()})
	}
}

func (g *Gate) refusal(r *guard.Refusal) *event.GuardRefused {
	if r.Guard == guard.None {
		return nil
	}
	refusal := &event.GuardRefused{Guard: r.Guard.String(), Key: g.Key, Reason: r.Reason(&g.Guards, g.Key)}
	if r.RetryIn >= 0 {
		refusal.RetryIn = new(time.Duration(r.RetryIn) * time.Millisecond)
	}
	return refusal
}
