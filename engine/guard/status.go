package guard

// This file shows what is known of a key (docs/status.md, --status --key).

import (
	"slices"
	"time"

	"github.com/retrysh/retry/engine/text"
)

// Snapshot is the state of a key at a time, as a store returns it. Looking changed
// nothing.
type Snapshot struct {
	State State
	Held  int64 // slots
	Now   int64 // the time of the store, in milliseconds
}

// Status is what is known of a key, with the names of --status in JSON. What depends
// on parameters of a guard is nil unless that guard is named.
type Status struct {
	Key     string `json:"key"`
	Breaker struct {
		State string `json:"state"`
		// Failures of Outcomes are those of the window while the breaker is closed,
		// else those that opened it.
		Failures  *int64     `json:"failures"`
		Outcomes  *int64     `json:"outcomes"`
		Row       int64      `json:"failures_in_a_row"`
		OpenUntil *text.Time `json:"open_until"`
	} `json:"breaker"`
	Budget *BudgetStatus `json:"budget"`
	Slots  struct {
		Held int64 `json:"held"`
	} `json:"slots"`
	Tokens struct {
		Missing float64  `json:"missing"`
		Left    *float64 `json:"left"`
	} `json:"tokens"`
	RateLimit struct {
		NextIn int64 `json:"next_in_ms"`
	} `json:"rate_limit"`
	Adaptive struct {
		Successes int64 `json:"successes"`
		Outcomes  int64 `json:"outcomes"`
	} `json:"adaptive"`
}

// BudgetStatus says how many retries the window holds, and how many it allows.
type BudgetStatus struct {
	Used int64 `json:"used"`
	Of   int64 `json:"of"`
}

// Status shows the snapshot to a run with the guards g, which may name none.
func (s *Snapshot) Status(key string, g *Guards) Status {
	state, now := s.State, s.Now
	state.clamp(now)
	view := Status{Key: key}
	b, shown := &state.Breaker, &view.Breaker
	shown.State, shown.Row = b.Circuit.String(), b.Row
	switch {
	case b.Circuit != Closed:
		shown.Failures, shown.Outcomes = &b.Failures, &b.Outcomes
	case g.Breaker.Named() && g.Breaker.Row == 0:
		windows := slices.Clone(b.Windows)
		failed, total := window(&windows, g.Breaker.Window, now).failed()
		shown.Failures, shown.Outcomes = &failed, &total
	}
	if b.Circuit == Open && g.Breaker.Named() {
		shown.OpenUntil = &text.Time{Time: time.UnixMilli(b.Opened + g.Breaker.openFor(b.Openings))}
	}
	if g.Budget.On {
		windows := slices.Clone(state.Budget)
		w := window(&windows, g.Budget.Window, now)
		view.Budget = &BudgetStatus{
			w.sum(retries, parts), ceilDiv(g.Budget.limit(w.sum(runs, parts), g.Priority), million),
		}
	}
	view.Slots.Held = s.Held
	state.Bucket.refill(&g.Tokens, now)
	view.Tokens.Missing = float64(state.Bucket.Missing) / million
	if g.Tokens.Capacity > 0 {
		left := max(float64(g.Tokens.Capacity)-view.Tokens.Missing, 0)
		view.Tokens.Left = &left
	}
	limit := RateLimit{Burst: 1}
	if g.RateLimit.Interval > 0 {
		limit = g.RateLimit
	}
	turn, _ := state.Turns.next(&limit, now)
	view.RateLimit.NextIn = ceilDiv(turn-now*1000, 1000)
	view.Adaptive.Successes, view.Adaptive.Outcomes = state.succeeded(), int64(len(state.Recent))
	return view
}

// Forgotten reports whether the state is unused for as long as it is worth keeping.
func (s *Snapshot) Forgotten() bool { return s.State.Used > 0 && s.Now-s.State.Used > s.State.Keep }
