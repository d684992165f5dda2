//go:build unix

package history

import (
	"os"
	"syscall"
)

// withoutWaiting opens a FIFO without waiting for its other side.
const withoutWaiting = syscall.O_NONBLOCK

// rename renames the open file, and reports whether it did.
func rename(_ *os.File, from, to string) bool { return os.Rename(from, to) == nil }
