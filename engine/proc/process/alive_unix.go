//go:build unix

package process

import "golang.org/x/sys/unix"

// Alive reports whether a process lives. One that is dead and not yet reaped does not.
func Alive(pid int) bool {
	if unix.Kill(pid, 0) == unix.ESRCH { // EPERM: it is another user's
		return false
	}
	p, known := Stat(pid) // not in a container without /proc
	return !known || !p.Dead
}
