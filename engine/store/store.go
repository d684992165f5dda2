// Package store keeps the states of guards where many processes find them: in
// files for the processes of a host, in Redis for those of all hosts. Both
// answer one request on one key as one transaction.
//
// A transaction on a file is: open, lock, read, decide (engine/guard), write,
// unlock. On Redis it is one call of a script that decides as engine/guard does.
// Slots are kernel locks on files, which the command inherits, and leases in
// Redis.
//
// Every error says what to do about it and shows no password. No call lasts longer than
// its context. What the failure of a store means to a run is for engine/admission.
package store

import (
	"cmp"
	"errors"
	"os"

	"github.com/retrysh/retry/engine/guard"
)

// Open is the store at an address. It touches nothing yet. warn is given one line about
// what is wrong but stops nothing.
func Open(a *Address, warn func(line string)) guard.Store {
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
