// Package reap forks children and waits for them. Those that were forked here
// have an owner, which gets a token when their state changes, may look at them any
// number of times, and takes the status last: until then the pid, and the process
// group that it leads, cannot be another's. Every other child of a process that adopts
// is an orphan, and is reaped as soon as it ends, as an init process does it.
//
// It owns SIGCHLD, and no other signal. It sends nothing but the KILL that
// KillOrphans is asked for, and knows nothing of trees, limits and attempts.
//
// There is one lock, a leaf: only system calls are made while it is held.
package reap

import "syscall"

// Ending is how a process ended.
type Ending struct {
	Code   int            // what it exited with
	Signal syscall.Signal // what ended it, 0 if it exited
	Err    error          // why that cannot be said
}
