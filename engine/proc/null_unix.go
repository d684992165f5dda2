//go:build unix

package proc

// This file knows the null device.

import (
	"os"

	"golang.org/x/sys/unix"
)

// NullInput reports whether standard input is the null device, which any number
// of commands may read at once. (A descriptor that was closed at the start is:
// Go's runtime opens the device in its place.)
func NullInput() bool {
	var in, null unix.Stat_t
	return unix.Fstat(0, &in) == nil && unix.Stat(os.DevNull, &null) == nil &&
		in.Mode&unix.S_IFMT == unix.S_IFCHR && in.Rdev == null.Rdev
}
