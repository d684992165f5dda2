//go:build unix

package store

import "syscall"

// lives reports whether there is a process with the pid, of any user.
func lives(pid int) bool { return pid <= 0 || syscall.Kill(pid, 0) != syscall.ESRCH }
