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
	answer guard.Answer
	lock   guard.Lock
	from   Named // that answered; its Store is nil for none: then the run goes on without guards
	// answered says that a store has answered, failed that it has failed and may be asked again.
	answered, failed bool
	// refusal is that of a guard or of the store, for a person; nil for none.
	refusal *event.GuardRefused
}

// request makes a request of the store in use. When ctx ends the request, that is a refusal,
// not a failure of the store. If again is set, the caller asks again after a failure.
func (g *Gate) request(ctx context.Context, r guard.Request, again bool) reply {
	if g.store.Store == nil {
		return reply{}
	}
	patient, done := withGrace(ctx)
	answer, lock, err := g.send(patient, g.store, &r)
	done()
	g.slow = err != nil && ctx.Err() != nil
	switch {
	case err == nil:
	case g.slow:
		return reply{refusal: g.unusable("the wait for the store was cut short")}
	case again:
		g.tellOutage(err)
		return reply{failed: true, refusal: g.failed(err)}
	case g.Closed:
		return reply{refusal: g.failed(err)}
	default:
		answer, lock, err = g.fallBack(ctx, r, err)
		if err != nil {
			return reply{}
		}
	}
	g.outage = false
	g.emitChange(&answer)
	return reply{answer: answer, lock: lock, from: g.store, answered: true, refusal: g.refusedBy(&answer.Refusal)}
}

// tellOutage reports that the store has failed and is asked again, once until it answers.
func (g *Gate) tellOutage(err error) {
	if !g.outage {
		g.outage = true
		g.emit(&event.StoreFailed{Store: g.store.Name, Reason: fmt.Sprintf("%v; asking again while wait= lasts", err)})
	}
}

// unusable is a refusal since the store does not answer.
func (g *Gate) unusable(reason string) *event.GuardRefused {
	return &event.GuardRefused{Guard: guard.KindStore.String(), Key: g.Key, Reason: reason}
}

// failed is a refusal since a request of the store has failed.
func (g *Gate) failed(err error) *event.GuardRefused {
	return g.unusable(fmt.Sprintf("the store %s cannot be used: %v", g.store.Name, err))
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
func (g *Gate) fallBack(ctx context.Context, r guard.Request, cause error) (guard.Answer, guard.Lock, error) {
	failed := g.store.Name
	answer, lock, err := g.askHost(ctx, r)
	next := "without guards"
	g.store = Named{}
	if err == nil {
		next = "with " + g.Host.Name
		g.store = g.Host
	}
	g.warn(failed, fmt.Sprintf("%v; going on %s", cause, next))
	return answer, lock, err
}

// askHost makes a request of the host's store, if the one that has failed is another. What was
// taken from that is not given back to the host's.
func (g *Gate) askHost(ctx context.Context, r guard.Request) (guard.Answer, guard.Lock, error) {
	if g.store != g.Primary || g.Host.Store == nil {
		return guard.Answer{}, nil, errors.New("there is no other store")
	}
	r.Taken = guard.Taken{}
	return g.send(ctx, g.Host, &r)
}

func (g *Gate) emitNotes() {
	for len(g.Notes) > 0 {
		g.emit(<-g.Notes)
	}
}

// warn reports a failure of the store, once a run.
func (g *Gate) warn(name, reason string) {
	if !g.warned {
		g.warned = true
		g.emit(&event.StoreFailed{Store: name, Reason: reason})
	}
}

// report makes a request whose answer the run does not depend on, and reports whether the
// store has carried it out. One that fails is lost, with a warning, but not if what a retry
// took is not given back in time.
func (g *Gate) report(to Named, limit time.Duration, r guard.Request) bool {
	ctx, cancel := limited(context.Background(), limit)
	defer cancel()
	answer, _, err := to.Do(ctx, g.Key, &g.Guards, &r)
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
		g.emit(&event.BreakerChanged{Key: g.Key, From: a.From.String(), To: a.To.String()})
	}
}

// refusedBy is a refusal of a guard, for a person; nil for none.
func (g *Gate) refusedBy(r *guard.Refusal) *event.GuardRefused {
	if r.Guard == guard.None {
		return nil
	}
	refusal := &event.GuardRefused{Guard: r.Guard.String(), Key: g.Key, Reason: r.Reason(&g.Guards, g.Key)}
	if r.RetryIn >= 0 {
		refusal.RetryIn = new(time.Duration(r.RetryIn) * time.Millisecond)
	}
	return refusal
}
