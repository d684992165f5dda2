package option

// This file gives resolve the functions and types of packages that touch the
// system, so that no other file of this package imports one.

import (
	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/probe"
	"github.com/retrysh/retry/engine/proc"
	"github.com/retrysh/retry/engine/store"
)

type (
	processConfig = proc.Config
	WaitTarget    = probe.Target
	storeAddress  = store.Address
)

func parseTarget(s string) (*WaitTarget, error) { return probe.Parse(s) }
func LooksLikeTarget(s string) bool             { return probe.LooksLike(s) }
func IsCommandTarget(s string) bool             { return probe.IsCommand(s) }

func parseStore(s string) (*storeAddress, error) {
	a, err := store.ParseAddress(s)
	return &a, err
}

// signalNumber and signalNamed are this system's numbers of signals.
func signalNumber(s attempt.Signal) (int, bool) { return proc.NumberOf(s) }
func signalNamed(n int) (attempt.Signal, bool)  { return proc.SignalOf(n) }

// setStreams takes over the words of --stdin, --stdout and --stderr.
func setStreams(c *processConfig, stdin, stdout, stderr string) {
	c.Stdin = map[string]proc.StdinMode{"inherit": proc.Inherit, "replay": proc.Replay, "null": proc.Null}[stdin]
	output := map[string]proc.OutputMode{"stream": proc.Stream, "hold": proc.Hold}
	c.Stdout, c.Stderr = output[stdout], output[stderr]
}
