// Package store keeps the states of guards where many processes find them: in
// files for the processes of a host, in Redis for those of all hosts. Both
// answer one request on one key as one transaction.
//
// A transaction on a file is: open, lock, read, decide (engine/guard), write,
// unlock. On Redis it is one call of a script that decides as engine/guard does.
// Slots are kernel locks on files, which the command inherits, and leases in
// Redis.
//
// A store is opened by Open. Look and
// guard.Snapshot.Status show what is known of a key (--status --key), Reset forgets it.
//
// Every error says what to do about it and shows no password. No call lasts longer than
// its context. What the failure of a store means to a run is for engine/admission.
package store

import (
	"cmp"
	"context"
	"errors"
	"os"

	"github.com/retrysh/retry/engine/guard"
)

// Store is a store that is open.
type Store interface {
	// Do answers a request on a key. Where it takes a slot that the kernel holds for the
	// program and for every process that inherits its descriptor, that comes as a Lock.
	Do(ctx context.Context, key string, g *guard.Guards, r *guard.Request) (guard.Answer, guard.Lock, error)
	// Look returns what is known of a key, nil where nothing is.
	Look(ctx context.Context, key string) (*guard.Snapshot, error)
	// Reset forgets what is known of a key.
	Reset(ctx context.Context, key string) error
}

// Open is the store at an address. It touches nothing yet. warn is given one line about
// what is wrong but stops nothing.
func Open(a *Address, warn func(line string)) Store {
	if a.Dir == "" {
		return &Redis{address: a, Warn: warn}
	}
	host, _ := os.Hostname()
	f := NewFile(a.Dir, cmp.Or(host, "localhost"))
	f.Warn = warn
	return f
}

// errTimeout says that a store did not answer in time.
var errTimeout = errors.New("no answer in time")
