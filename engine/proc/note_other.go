//go:build unix && !(linux && (amd64 || arm64))

package proc

import "syscall"

// canNote is false: this system has no handler of this package's own, so
// signals are caught from the start.
const canNote = false

func startNoting(syscall.Signal)    {}
func stopNoting(syscall.Signal)     {}
func isNoted(syscall.Signal) bool   { return false }
func takeNoted(syscall.Signal) bool { return false }

func handles(int, syscall.Signal) bool { return false }
