// Package operation retries functions, and keeps a registry of their state.
//
// An operation has an id. Its loop is that of package engine, its waits those of
// engine/backoff, as for a command of the program; an attempt is a call of the function. The
// package does not start processes, open connections or write, and the program does not link
// it.
package operation

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Status is the state of an operation.
type Status int

// The states of an operation.
const (
	Pending   Status = iota // it was never executed, or its first attempt is under way
	Retrying                // an attempt has failed, and another one follows
	Succeeded               // an attempt has succeeded
	Failed                  // the last attempt has failed
	Cancelled               // it was asked to end
)

var statusNames = [...]string{"PENDING", "RETRYING", "SUCCEEDED", "FAILED", "CANCELLED"}

// String returns the status in capitals, as in PENDING.
func (s Status) String() string {
	if s < 0 || int(s) >= len(statusNames) {
		return fmt.Sprintf("Status(%d)", int(s))
	}
	return statusNames[s]
}

// Registry holds operations by their ids. It is safe for concurrent use, and no id waits
// for another. Make one with New.
type Registry struct {
	// mu guards policy and records. It is not held during a call of a function. A record's
	// own lock is taken after it, or without it.
	mu      sync.Mutex
	policy  Policy
	records map[string]*record
}

// New returns an empty registry. It panics, with the field and its value, if p is not
// valid.
func New(p Policy) *Registry {
	p.check()
	return &Registry{policy: p, records: map[string]*record{}}
}

// Configure sets the policy of the operations that start from now on. It panics, with the
// field and its value, if p is not valid.
func (r *Registry) Configure(p Policy) {
	p.check()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.policy = p
}

// Execute calls f until it returns true without an error, until no retry is left, or until
// ctx ends or Cancel is called. It reports whether f succeeded, also if that was after it
// was asked to end.
//
// f gets a context that ends with ctx and by Cancel. (false, nil) is a failure without an
// error; a panic is a failure with one.
//
// The previous state of the id is deleted. Execute waits for an operation of the same id
// that is under way, until ctx ends; so f cannot execute its own id. If ctx has ended before,
// f is not called, and the operation is Cancelled.
func (r *Registry) Execute(ctx context.Context, id string, f func(context.Context) (bool, error)) bool {
	policy, record := r.find(id, true)
	select {
	case record.turn <- struct{}{}: // first, since of two cases that are ready select takes either
	default:
		select {
		case record.turn <- struct{}{}:
		case <-ctx.Done():
			return false
		}
	}
	defer func() { <-record.turn }()
	return record.execute(ctx, policy, f)
}

// find returns the current policy and the record of an id. If there is none, it is an empty
// one, which is kept if the operation is to be executed.
func (r *Registry) find(id string, execute bool) (Policy, *record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.records[id]
	if known == nil {
		known = &record{turn: make(chan struct{}, 1)}
		if execute {
			r.records[id] = known
		}
	}
	return r.policy, known
}

// look returns the state of an id.
func (r *Registry) look(id string) known {
	_, record := r.find(id, false)
	record.mu.Lock()
	defer record.mu.Unlock()
	return record.known
}

// Status returns the state of the operation; Pending if the id is not known.
func (r *Registry) Status(id string) Status { return r.look(id).status }

// Attempts returns the number of calls of the function.
func (r *Registry) Attempts(id string) int { return len(r.look(id).times) }

// LastError returns the error of the last attempt that failed; nil if it failed without
// one, or none has failed.
func (r *Registry) LastError(id string) error { return r.look(id).err }

// NextDelay returns the wait under way before the next attempt, 0 for none.
func (r *Registry) NextDelay(id string) time.Duration { return r.look(id).next }

// Timestamps returns when each attempt began.
func (r *Registry) Timestamps(id string) []time.Time { return slices.Clone(r.look(id).times) }

// Cancel ends the operation under way, if there is one: a wait at once, a function by its
// context, and no attempt follows.
func (r *Registry) Cancel(id string) {
	if cancel := r.look(id).cancel; cancel != nil {
		cancel()
	}
}

// Reset deletes the id. An operation under way goes on, unknown to the registry.
func (r *Registry) Reset(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.records, id)
}
