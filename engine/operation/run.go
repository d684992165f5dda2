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

// record is the state of an id, and the starter of its engine.
type record struct {
	turn chan struct{} // held by the execution under way, which has f and end
	f    func(context.Context) (bool, error)
	end  Status

	mu sync.Mutex // guards what follows
	known
}

// known is the state of the last execution of an id.
type known struct {
	status Status
	times  []time.Time
	err    error
	next   time.Duration
	cancel context.CancelFunc // nil if nothing is under way
}

// update changes the state.
func (r *record) update(change func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change()
}

// execute runs f under p; the record's turn is held.
func (r *record) execute(ctx context.Context, p Policy, f func(context.Context) (bool, error)) (succeeded bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r.update(func() { r.known = known{cancel: cancel} })
	r.f = f
	r.end = Failed
	defer r.update(r.finished) // even if f ends its goroutine
	loop := engine.Config{Policy: p.engine(), Starter: r, Emit: r.emit, Draw: rand.Float64}
	loop.Run(ctx)
	return r.end == Succeeded
}

// finished makes the end of the execution the state.
func (r *record) finished() {
	r.f = nil
	r.status = r.end
	r.next = 0
	r.cancel = nil
}

// emit records a wait, and how the execution ends.
func (r *record) emit(ev event.Event) {
	switch ev := ev.(type) {
	case *event.RetryScheduled:
		r.update(func() { r.status, r.next = Retrying, ev.Jittered })
	case *event.RunFinished:
		switch ev.Outcome {
		case event.Succeeded:
			r.end = Succeeded
		case event.Cancelled:
			r.end = Cancelled
		}
	}
}

// asked is the signal for the engine that a context ended.
const asked attempt.Signal = "SIGTERM"

// Start starts an attempt, which is one call.
func (r *record) Start(ctx context.Context, _ attempt.Spec) attempt.Attempt {
	return attempt.Call(func() attempt.Result { return r.call(ctx) })
}

// call calls the function, unless its context has ended already.
func (r *record) call(ctx context.Context) attempt.Result {
	if ctx.Err() != nil {
		return attempt.Result{ExitCode: exitcodes.OfSignal(15), Cancelled: asked}
	}
	begun := time.Now()
	r.update(func() {
		r.times = append(r.times, begun)
		r.next = 0
	})
	ok, err := protect(ctx, r.f)
	result := attempt.Result{Note: "failed", Duration: time.Since(begun)}
	if ok && err == nil {
		return result
	}
	r.update(func() { r.err = err })
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
