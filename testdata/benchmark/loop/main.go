//go:build unix

// Command loop is the smallest Go program that starts a command again and again: what an
// attempt costs any program in Go. Its first argument says how often.
package main

import (
	"os"
	"strconv"
	"syscall"
)

func main() {
	times, err := strconv.Atoi(os.Args[1])
	if err != nil {
		os.Exit(125)
	}
	for range times {
		attr := syscall.ProcAttr{Env: os.Environ(), Files: []uintptr{0, 1, 2}}
		pid, err := syscall.ForkExec(os.Args[2], os.Args[2:], &attr)
		if err != nil {
			os.Exit(126)
		}
		var status syscall.WaitStatus
		if _, err := syscall.Wait4(pid, &status, 0, nil); err != nil {
			os.Exit(125)
		}
	}
}
