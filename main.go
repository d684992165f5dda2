// Command retry runs a command under a backoff engine until it succeeds or
// until trying again makes no sense. README.md is its manual.
package main

import (
	"os"

	"github.com/retrysh/retry/cli"
)

func main() { os.Exit(cli.Main()) }
