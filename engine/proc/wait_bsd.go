//go:build darwin || freebsd

package proc

// This file knows how a status says that a child has stopped.

// stateMask has all its bits set in the status of a child that is stopped
// (sys/wait.h, _WSTOPPED). Go's own Stopped leaves out who was stopped by STOP.
const stateMask = 0x7f
