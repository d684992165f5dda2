// The processors that may be used are read once: keeping that up to date starts
// a goroutine, and with it a thread, in every run.
//
//go:debug updatemaxprocs=0

// Command retry runs a command under a backoff engine until it succeeds or
// until trying again makes no sense. README.md is its manual.
package main

import (
	"os"

	"github.com/retrysh/retry/cli"
	_ "github.com/retrysh/retry/engine/proc/early"
)

func main() { os.Exit(cli.Main()) }
