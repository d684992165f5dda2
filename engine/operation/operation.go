// Package operation retries functions: a registry for programs that call what
// may fail, and want to know how it goes.
//
// An operation is known by its id. Its loop is engine's, its waits are
// engine/backoff's, as for a command of the program; an attempt is a call of the
// function. The package will never start a process, open a connection or write
// anything, and the program does not link it.
package operation

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Status says how far an operation has come.
type Status int

// An operation that was never executed, and one whose first attempt is under
// way, is pending.
const (
	Pending   Status = iota
	Retrying         // an attempt has failed, and another one follows
	Succeeded        // an attempt has succeeded
	Failed           // the last attempt has failed
	Cancelled        // it was asked to end
)

var statusNames = [...]string{"PENDING", "RETRYING", "SUCCEEDED", "FAILED", "CANCELLED"}

// String returns the status in capitals, as in PENDING.
func (s Status) String() string {
	if s < 0 || int(s) >= len(statusNames) {
		return fmt.Sprintf("Status(%d)", int(s))
	}
	return statusNames[s]
}

// Registry holds operations by their ids. It is safe for concurrent use, and no
// id waits for another. Make one with New.
type Registry struct {
	// mu guards policy and records, never a call of a function. A record's own
	// lock is taken after it, or without it.
	mu      sync.Mutex
	policy  Policy
	records map[string]*record
}

// New returns an empty registry. It panics, with the field and its value, if p
// makes no sense.
func New(p Policy) *Registry {
	p.check()
	return &Registry{policy: p, records: map[string]*record{}}
}

// Configure sets the policy of the operations that start from now on. It panics,
// with the field and its value, if p makes no sense.
func (r *Registry) Configure(p Policy) {
	p.check()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.policy = p
}

// Execute calls f until it returns true without an error, until no retry is
// left, or until ctx ends or Cancel is called. It reports whether f succeeded,
// which it does also where it succeeds although it was asked to end.
//
// f gets a context that ends with ctx and by Cancel. (false, nil) is a failure
// without an error; a panic is a failure with one.
//
// What was known of the id is forgotten. An operation of this id that is under
// way is waited for, unless ctx ends before: so f cannot execute its own id.
func (r *Registry) Execute(ctx context.Context, id string, f func(context.Context) (bool, error)) bool {
	policy, record := r.open(id)
	select {
	case record.turn <- struct{}{}:
	case <-ctx.Done():
		return false
	}
	defer func() { <-record.turn }()
	return record.execute(ctx, policy, f)
}

// open returns the policy in force and the record of an id, a new one where
// there is none.
func (r *Registry) open(id string) (Policy, *record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.records[id]
	if known == nil {
		known = &record{turn: make(chan struct{}, 1)}
		r.records[id] = known
	}
	return r.policy, known
}

// find returns the record of an id, an empty one where there is none.
func (r *Registry) find(id string) *record {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known := r.records[id]; known != nil {
		return known
	}
	return new(record)
}

// Status says how far the operation has come; Pending where it is not known.
func (r *Registry) Status(id string) Status {
	return look(r, id, func(k *known) Status { return k.status })
}

// Attempts returns how often the function was called.
func (r *Registry) Attempts(id string) int {
	return look(r, id, func(k *known) int { return len(k.times) })
}

// LastError returns the error of the last attempt that failed; nil where it
// failed without one, or none has failed.
func (r *Registry) LastError(id string) error {
	return look(r, id, func(k *known) error { return k.err })
}

// NextDelay returns the wait that is under way before the next attempt, 0 where
// there is none.
func (r *Registry) NextDelay(id string) time.Duration {
	return look(r, id, func(k *known) time.Duration { return k.next })
}

// Timestamps returns when each attempt began.
func (r *Registry) Timestamps(id string) []time.Time {
	return look(r, id, func(k *known) []time.Time { return append([]time.Time(nil), k.times...) })
}

// look reads what is known of an id.
func look[T any](r *Registry, id string, get func(*known) T) T {
	record := r.find(id)
	record.mu.Lock()
	defer record.mu.Unlock()
	return get(&record.known)
}

// Cancel ends the operation that is under way: a wait at once, a function by its
// context, and no attempt follows. It does nothing where none is.
func (r *Registry) Cancel(id string) {
	record := r.find(id)
	record.mu.Lock()
	cancel := record.cancel
	record.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}

// Reset forgets the id. An operation that is under way goes on, unknown to the
// registry.
func (r *Registry) Reset(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.records, id)
}
