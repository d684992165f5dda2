//go:build unix

package signals

// This file lets a signal end the program while it does something slow before
// anything runs.

import (
	"os"
	"time"

	"github.com/retrysh/retry/exitcodes"
)

// lookEvery is how often Interruptible looks for a signal: far below the 50 ms
// in which the program ends during a wait.
const lookEvery = 10 * time.Millisecond

// Interruptible calls f. A signal that asks for the end and comes meanwhile, or
// has come before, ends the program as its default action does. It is for before
// Listen.
func Interruptible(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		select {
		case <-done:
			return
		case <-look.C:
		}
		if sig, ok := FirstNoted(); ok {
			Die(NameOf(sig))
			os.Exit(exitcodes.OfSignal(int(sig))) // PID 1 cannot die by a signal
		}
	}
}
