package report

import (
	"fmt"
	"time"

	"golang.org/x/term"

	"github.com/retrysh/retry/engine/history"
	"github.com/retrysh/retry/engine/text"
)

const (
	// A reading that takes longer is shown on a terminal, so often.
	progressAfter = time.Second
	progressEvery = 200 * time.Millisecond
)

// runs reads the sources and calls add with each run. While it reads, a terminal on standard
// error shows how many runs were read.
func (g *Flags) runs(add func(*history.Record)) (bad int, err error) {
	if g.Quiet || !term.IsTerminal(int(g.Call.Stderr.Fd())) {
		return history.Runs(g.sources, add)
	}
	n := 0
	next := time.Now().Add(progressAfter)
	shown := false
	bad, err = history.Runs(g.sources, func(r *history.Record) {
		add(r)
		const look = 1024 // the clock is read once in so many runs
		if n++; n%look != 0 {
			return
		}
		if now := time.Now(); now.After(next) {
			fmt.Fprintf(g.Call.Stderr, "\r\x1b[Kretry: --%s: %s read", g.Call.Name, text.Count(n, "run", "runs"))
			next = now.Add(progressEvery)
			shown = true
		}
	})
	if shown {
		fmt.Fprint(g.Call.Stderr, "\r\x1b[K")
	}
	return bad, err
}
