//go:build unix

// Command floor is the smallest Go program that starts a command and ends as it
// did: what a start costs any program in Go.
package main

import (
	"os"
	"syscall"
)

func main() {
	pid, err := syscall.ForkExec(os.Args[1], os.Args[1:], &syscall.ProcAttr{
		Env: os.Environ(), Files: []uintptr{0, 1, 2},
	})
	if err != nil {
		os.Exit(126)
	}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &status, 0, nil); err != nil {
		os.Exit(125)
	}
	os.Exit(status.ExitStatus())
}
