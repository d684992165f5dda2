package operation

// This file is one execution: an engine whose attempts call the function, and its record.

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/exitcodes"
)

// record is that of an id.
type record struct {
	turn chan struct{} // held by the execution under way
	mu   sync.Mutex    // guards what follows
	known
	cancel context.CancelFunc // nil if nothing is under way
}

// known is the state of the last execution of an id.
type known struct {
	status Status
	times  []time.Time
	err    error
	next   time.Duration
}

// update changes the state.
func (r *record) update(change func(*known)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.known)
}

// loops are engines that have run. One takes 3 KB, which is most of the garbage of an
// operation that succeeds at once.
var loops = sync.Pool{New: func() any { return new(engine.Engine) }}

// execute runs f under p; the record's turn is held.
func (r *record) execute(ctx context.Context, p Policy, f func(context.Context) (bool, error)) (succeeded bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r.mu.Lock()
	r.known, r.cancel = known{}, cancel
	r.mu.Unlock()
	e := &execution{record: r, f: f, outcome: event.Failed}
	defer func() { // also where f ends its goroutine
		r.mu.Lock()
		defer r.mu.Unlock()
		r.status, r.next, r.cancel = e.status(), 0, nil
	}()
	loop := loops.Get().(*engine.Engine)
	*loop = engine.Engine{Policy: p.engine(), Starter: e, Emit: e.emit, Draw: rand.Float64}
	loop.Run(ctx)
	loops.Put(loop)
	return e.outcome == event.Succeeded
}

// execution is the starter of one execution's engine, and gets its events.
type execution struct {
	record  *record
	f       func(context.Context) (bool, error)
	outcome event.Outcome
}

// status is the state at the end of the execution.
func (e *execution) status() Status {
	switch e.outcome {
	case event.Succeeded:
		return Succeeded
	case event.Cancelled:
		return Cancelled
	}
	return Failed
}

// emit updates the record.
func (e *execution) emit(ev event.Event) {
	switch ev := ev.(type) {
	case *event.RetryScheduled:
		e.record.update(func(k *known) { k.status, k.next = Retrying, ev.Jittered })
	case *event.RunFinished:
		e.outcome = ev.Outcome
	}
}

// asked is the signal for the engine that a context ended.
const asked attempt.Signal = "SIGTERM"

// Start starts an attempt, which is one call.
func (e *execution) Start(ctx context.Context, _ attempt.Spec) attempt.Attempt {
	return attempt.Call(func() attempt.Result { return e.call(ctx) })
}

// call calls the function, unless its context has ended already.
func (e *execution) call(ctx context.Context) attempt.Result {
	if ctx.Err() != nil {
		return attempt.Result{ExitCode: exitcodes.OfSignal(15), Cancelled: asked}
	}
	begun := time.Now()
	e.record.update(func(k *known) { k.times, k.next = append(k.times, begun), 0 })
	ok, err := protect(ctx, e.f)
	result := attempt.Result{Note: "failed", Duration: time.Since(begun)}
	if ok && err == nil {
		return result
	}
	e.record.update(func(k *known) { k.err = err })
	result.ExitCode = exitcodes.Rejected
	if ctx.Err() != nil {
		result.Cancelled = asked
	}
	return result
}

// protect calls f, and returns a panic as an error.
func protect(ctx context.Context, f func(context.Context) (bool, error)) (ok bool, err error) {
	defer func() {
		switch cause := recover().(type) {
		case nil:
		case error:
			ok, err = false, fmt.Errorf("panic: %w", cause)
		default:
			ok, err = false, fmt.Errorf("panic: %v", cause)
		}
	}()
	return f(ctx)
}
