package engine

// This file keeps which values the words of the attempts take (docs/rotation.md),
// and shares with other runs which of them failed.

import (
	"context"

	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/rotate"
	"github.com/retrysh/retry/engine/text"
)

// Values is what the runs with the same key know of the values of rotated names,
// each written NAME=VALUE. Its methods are called like those of a Gate, by one
// goroutine at a time.
type Values interface {
	// FailedLately says which of the values an attempt has failed with lately;
	// nil where that is not known.
	FailedLately(ctx context.Context, values []string) []bool
	// Failed records that an attempt has failed with the values.
	Failed(values []string)
}

// rotation is where the rotated names stand; its zero value is for a run
// without.
type rotation struct {
	*rotate.Rotation
	all          []string        // every value, written NAME=VALUE
	failedLately map[string]bool // the ones that failed lately
	next         rotate.Use      // of the next attempt, once it has been chosen
}

func (r *rotation) begin(lists []rotate.List, draw func() float64) {
	if len(lists) == 0 {
		return
	}
	r.Rotation = rotate.New(lists, draw)
	for _, l := range lists {
		for _, value := range l.Values {
			r.all = append(r.all, l.Name+"="+value)
		}
	}
}

// failedElsewhere asks which values have failed for others, before each attempt. A
// signal that comes meanwhile ends the run.
func (e *Engine) failedElsewhere(ctx context.Context) *Decision {
	if e.Values == nil || e.rotation.Rotation == nil {
		return nil
	}
	var failed []bool
	signal := e.during(ctx, func(ctx context.Context) { failed = e.Values.FailedLately(ctx, e.rotation.all) })
	if signal != "" {
		d := CancelledBy(signal)
		if e.attempts > 0 {
			return e.withdraw(d)
		}
		return &d
	}
	e.rotation.failedLately = make(map[string]bool, len(failed))
	for i, value := range e.rotation.all {
		e.rotation.failedLately[value] = failed != nil && failed[i]
	}
	return nil
}

// nextValues returns the values of the attempt to come.
func (r *rotation) nextValues() rotate.Use {
	if r.next == nil && r.Rotation != nil {
		r.next = r.Take(func(name, value string) bool { return r.failedLately[name+"="+value] })
	}
	return r.next
}

// takeValues returns the values of the attempt or copy that starts now, and notes them
// in which.
func (e *Engine) takeValues(which *event.Which) rotate.Use {
	use := e.rotation.nextValues()
	e.rotation.next = nil
	which.Use = use.ByName()
	for name, value := range which.Use {
		which.Use[name] = text.MaskedArgs([]string{"--" + name, value})[1]
	}
	return use
}

// putValues ends the use of values, and shares a failure with other runs.
func (e *Engine) putValues(use rotate.Use, failed bool) {
	if use == nil {
		return
	}
	e.rotation.Put(use, failed)
	if !failed || e.Values == nil {
		return
	}
	values := make([]string, len(use))
	for i, v := range use {
		values[i] = v.Name + "=" + v.Text
	}
	e.Values.Failed(values)
}
