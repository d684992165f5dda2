package lockedfile

// This file waits for a lock on Linux.

import (
	"time"

	"golang.org/x/sys/unix"
)

// sleep blocks this thread alone. A timer of the runtime wakes others, which
// takes longer than the transaction that is waited for.
func sleep(d time.Duration) {
	left := unix.NsecToTimespec(int64(d))
	_ = unix.Nanosleep(&left, nil)
}
