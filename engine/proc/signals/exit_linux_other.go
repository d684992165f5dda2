//go:build linux && !amd64 && !arm64

package signals

// This file stands for what takes a handler of this package's own, which this
// architecture has none of.

import (
	"syscall"
	"time"
)

// setExit fails: a signal that comes to PID 1 in the moment before an exec is
// lost.
func setExit(syscall.Signal) bool { return false }

// meet does nothing: a signal that a thread is about to handle in the moment
// before an exec may be lost.
func meet(int, time.Time) {}
