package engine

// This file runs a hedged attempt (docs/hedging.md): copies of a command side by side, of
// which one decides. For the loop they are one attempt. An attempt that has not ended after
// a delay gets a second copy, then a third: what is slow now and then is rarely slow twice
// (Dean and Barroso, "The Tail at Scale", 2013). The rule is that of gRPC (proposal A6,
// "Hedging policy"), without its limit of 5 copies.
//
// The goroutine of the run owns all state here; other goroutines only wait for a copy, and
// judge it.

import (
	"context"
	"time"

	"github.com/retrysh/retry/engine/admission"
	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/backoff"
	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/exitcodes"
)

// group is one hedged attempt.
type group struct {
	e     *execution
	begun time.Time
	// started copies run or have run, refused ones were not admitted. The next one is due
	// at a time since begun.
	started, refused int
	due              time.Duration

	ctx     context.Context // of the copies
	cancel  context.CancelCauseFunc
	running int
	ended   chan *trial
	// more ends when no more copies start, by close or as soon as a copy has ended which is
	// not retried.
	more  context.Context
	close context.CancelFunc

	timedOut bool      // the last copy that failed was ended by a limit
	best     *trial    // decides if no other copy does; it has been emitted
	end      *Decision // by a signal that came while no copy ran
}

// hedged runs the command in copies, judges them and emits their events.
func (e *execution) hedged(ctx context.Context, pass *admission.Pass) *trial {
	g := &group{e: e, begun: time.Now(), ended: make(chan *trial)}
	ctx, cancel := context.WithCancelCause(ctx)
	g.ctx, g.cancel = ctx, cancel
	g.more, g.close = context.WithCancel(ctx)
	defer g.close()
	g.start(pass)
	t := g.decider()
	cancel(attempt.ErrLost)
	g.settle(t)
	g.awaitLosers()
	if d := &t.decision; g.end != nil && t.result.Cancelled == "" && (d.Retry || !d.Accepted) {
		*d = *g.end
	}
	return t
}

// decider runs the copies until one of them decides, and returns it.
func (g *group) decider() *trial {
	for {
		var due <-chan time.Time
		if g.mayStart() {
			if wait := g.due - time.Since(g.begun); wait > 0 {
				due = time.After(wait)
			} else {
				g.next()
				continue
			}
		} else if g.running == 0 {
			return g.best
		}
		select {
		case <-due:
		case t := <-g.ended:
			g.running--
			if g.take(t) {
				return t
			}
		case signal := <-g.e.Signals.Cancelled:
			g.end = CancelledBy(signal)
			g.close()
		case lost := <-g.e.gate.Lost():
			if g.e.slotLost(lost) != nil {
				g.close()
				g.cancel(attempt.ErrSlotLost)
			}
		}
	}
}

// mayStart reports whether another copy may follow. A refused one counts, so that a guard
// which refuses is not asked without end.
func (g *group) mayStart() bool {
	return g.more.Err() == nil && g.started+g.refused < g.e.Policy.HedgeMax
}

// next starts the copy that is due, if the gate admits it. After a refusal with no other copy
// running, the attempt has failed.
func (g *group) next() {
	if g.end = g.e.cancelled(); g.end != nil || g.e.passes(0) {
		g.close()
		return
	}
	pass, refusal, end := g.e.admitCopy(g.more, g.timedOut)
	switch {
	case end != nil, refusal != nil && g.e.passes(0): // it was cut short
		g.end = end
		g.close()
	case g.more.Err() == nil && refusal == nil:
		g.start(pass)
	case g.more.Err() != nil:
		pass.Drop()
	default:
		refusal.Which = event.Which{Hedged: true, Copy: g.started}
		g.e.emit(refusal)
		g.refused++
		g.delay()
		if g.running == 0 {
			g.close()
		}
	}
}

// delay makes the next copy due a delay from now.
func (g *group) delay() { g.due = backoff.Add(time.Since(g.begun), g.e.Policy.HedgeDelay) }

// start starts the next copy.
func (g *group) start(pass *admission.Pass) {
	g.delay()
	t := g.e.start(g.ctx, event.Which{Hedged: true, Copy: g.started}, pass)
	g.started++
	g.running++
	go func() {
		g.e.await(t)
		t.decision = judge(&g.e.Policy.Rules, t.argv, t.result, t.evidence, time.Now())
		if !t.decision.Retry {
			g.close()
		}
		g.ended <- t
	}()
}

// take takes a copy that has ended, and returns whether it decides: by a success, or by a failure
// that is not retried. Another failure is emitted, and the next copy starts at once. A signal or
// the deadline ends every copy, and all are waited for.
func (g *group) take(t *trial) (decides bool) {
	d := &t.decision
	d.Counts = counted(d, t.result)
	switch {
	case t.result.NotRun && t.which.Copy > 0: // the deadline came before its start
		g.lost(t)
		return false
	case d.Retry:
		g.timedOut = t.result.TimedOut
		g.due = time.Since(g.begun)
	case t.result.Cancelled == "" && d.Outcome != event.Deadline:
		return true
	}
	g.e.finished(t)
	if g.best == nil || outranks(t.result, g.best.result) {
		t, g.best = g.best, t
	}
	if t != nil {
		t.handle.Drop()
	}
	return false
}

// outranks reports whether the result of a copy stands for the attempt in place of that
// of an earlier one: the last one does, but a signal has precedence over the deadline, and
// that over a failure. The first copy that handles a signal and exits with 0 stands.
func outranks(r, before attempt.Result) bool {
	rank := func(r attempt.Result) int {
		switch {
		case r.Cancelled != "" && r.ExitCode == exitcodes.OK:
			return 3
		case r.Cancelled != "":
			return 2
		case r.DeadlinePassed:
			return 1
		}
		return 0
	}
	return rank(before) < 3 && rank(r) >= rank(before)
}

// settle decides what follows, by the copy that stands for the attempt. The attempt began
// with its first copy.
func (g *group) settle(t *trial) {
	if g.best != nil && g.best != t {
		g.best.handle.Drop()
	}
	shown := *t
	t.result.Duration = time.Since(g.begun)
	g.e.settle(t)
	if t != g.best {
		shown.result.ReaderGone = t.result.ReaderGone
		shown.result.Err = t.result.Err
		shown.decision = t.decision
		g.e.finished(&shown)
	}
}

// awaitLosers waits for the copies that are ended since another one decided. A signal that
// reached them came after the attempt, as in a wait.
func (g *group) awaitLosers() {
	for ; g.running > 0; g.running-- {
		t := <-g.ended
		if signal := t.result.Cancelled; g.end == nil && signal != "" {
			g.end = CancelledBy(signal)
		}
		g.lost(t)
	}
}

// lost drops a copy that is not judged.
func (g *group) lost(t *trial) {
	t.handle.Drop()
	g.e.report(t) // as neither
	g.e.emit(&event.AttemptCancelled{Which: t.which, Result: t.result})
}
