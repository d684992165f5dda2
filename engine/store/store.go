// Package store keeps the states of guards where many processes find them: in
// files for the processes of a host, in Redis for those of all hosts. Both
// answer one request on one key as one transaction.
//
// A transaction on a file is: open, lock, read, decide (engine/guard), write,
// unlock. On Redis it is one call of a script that decides as engine/guard does.
// Slots are kernel locks on files, which the command inherits, and leases in
// Redis.
//
// Whatever goes wrong is an error that says what to do about it, and never holds
// up a caller beyond its context. The package will never decide what a failure
// of a store means to a run, repeat a transaction that may have been made, or
// show a password.
package store

import (
	"context"
	"errors"

	"github.com/retrysh/retry/engine/guard"
)

// Lock is a slot that the kernel holds for the program and for every process
// that inherits its descriptor.
type Lock = interface {
	// Descriptor is close-on-exec in the program.
	Descriptor() uintptr
	// Unlock frees the slot, whoever has inherited it.
	Unlock()
}

// errTimeout says that a store did not answer in time.
var errTimeout = errors.New("no answer in time")

// Unusable is a store that cannot be used, and says why.
type Unusable struct{ Err error }

// Do fails.
func (u Unusable) Do(context.Context, string, *guard.Guards, *guard.Request) (guard.Answer, Lock, error) {
	return guard.Answer{}, nil, u.Err
}

// FailedLately fails.
func (u Unusable) FailedLately(context.Context, string, []string) ([]bool, error) { return nil, u.Err }

// ValuesFailed fails.
func (u Unusable) ValuesFailed(context.Context, string, []string) error { return u.Err }
