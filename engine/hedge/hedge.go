// Package hedge says when another copy of an attempt starts.
//
// A hedged attempt that has not ended after a delay gets a second copy, then a third: what
// is slow now and then is rarely slow twice (Dean and Barroso, "The Tail at Scale", 2013).
// The rule is that of gRPC (proposal A6, "Hedging policy"), without its limit of 5 copies.
// The package is arithmetic on times that are arguments.
package hedge

import (
	"math"
	"time"
)

// Policy says how an attempt is hedged. The zero value is not.
type Policy struct {
	// Delay is the time from the start of a copy to that of the next.
	Delay time.Duration
	// Max is the greatest number of copies, the first included.
	Max int
}

// Group is the state of one hedged attempt. Its times count from the start of the attempt.
type Group struct {
	policy          Policy
	started, passed int
	due             time.Duration
}

// New returns a group whose first copy is due at 0.
func New(p Policy) Group { return Group{policy: p} }

// Due returns when the next copy starts, and false if no more may follow. A time in the
// past is at once.
func (g *Group) Due() (at time.Duration, more bool) {
	return g.due, g.started+g.passed < g.policy.Max
}

// Start starts the next copy and returns its number, from 0. The one after it is due a
// delay later.
func (g *Group) Start(now time.Duration) int {
	g.started++
	g.due = g.later(now)
	return g.started - 1
}

// Started is how many copies have started.
func (g *Group) Started() int { return g.started }

// Pass skips the next copy, which was not admitted. It counts as one of the copies, so that
// a guard which refuses is not asked without end. The one after it is due a delay later.
func (g *Group) Pass(now time.Duration) {
	g.passed++
	g.due = g.later(now)
}

// Fail makes the next copy due at once: one has failed in a way that is retried.
func (g *Group) Fail(now time.Duration) { g.due = now }

// later is a delay after now, without overflow.
func (g *Group) later(now time.Duration) time.Duration {
	if now > math.MaxInt64-g.policy.Delay {
		return math.MaxInt64
	}
	return now + g.policy.Delay
}
