// Package hedge says when another copy of an attempt starts.
//
// A hedged attempt that has not ended after a delay gets a second copy beside
// the first, then a third: what is slow now and then is rarely slow twice (Dean
// and Barroso, "The Tail at Scale", 2013). The rule is that of gRPC (proposal
// A6, "Hedging policy"), but for its limit of 5 copies. The package is
// arithmetic over times that it is given; it will never start anything, read
// the clock or judge a copy.
package hedge

import (
	"math"
	"time"
)

// Policy says how an attempt is hedged. Its zero value says that it is not.
type Policy struct {
	// Delay is the time from the start of a copy to that of the next.
	Delay time.Duration
	// Max is the greatest number of copies, the first included.
	Max int
}

// Group is how far one hedged attempt has come. Its times count from the begin
// of the attempt.
type Group struct {
	policy          Policy
	started, passed int
	due             time.Duration
}

// New returns a group whose first copy is due at 0.
func New(p Policy) Group { return Group{policy: p} }

// Due returns when the next copy starts, and false where no more may follow. A
// time in the past is at once.
func (g *Group) Due() (at time.Duration, more bool) {
	return g.due, g.started+g.passed < g.policy.Max
}

// Start says that the next copy starts now and returns its number, from 0. The
// one after it is due a delay later.
func (g *Group) Start(now time.Duration) int {
	g.started++
	g.due = g.later(now)
	return g.started - 1
}

// Started is how many copies have started.
func (g *Group) Started() int { return g.started }

// Pass says that the next copy was not admitted. Its turn has passed: it
// counts as one of the copies, so that a guard which refuses is not asked for
// ever. The one after it is due a delay later.
func (g *Group) Pass(now time.Duration) {
	g.passed++
	g.due = g.later(now)
}

// Fail says that a copy has failed in a way that another attempt may mend: the
// next one is due at once.
func (g *Group) Fail(now time.Duration) { g.due = now }

// later is a delay after now, or never where that is past counting.
func (g *Group) later(now time.Duration) time.Duration {
	if now > math.MaxInt64-g.policy.Delay {
		return math.MaxInt64
	}
	return now + g.policy.Delay
}
