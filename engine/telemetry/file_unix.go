//go:build unix

package telemetry

import "golang.org/x/sys/unix"

// withoutFollowing are flags of open: no symbolic link is followed, and a FIFO
// is not waited for.
const withoutFollowing = unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC

// lockName is the file that is locked: the metrics themselves.
func lockName(name string) string { return name }
