package cli

// This file waits for the --wait-for targets, side by side. Each target has an
// engine of its own, whose runner is the probe: there is no second loop.

import (
	"context"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/classify"
	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/probe"
	"github.com/retrysh/retry/engine/proc"
	"github.com/retrysh/retry/exitcodes"
)

// waiting is the wait for all targets of a run.
type waiting struct {
	o       *options
	environ []string
	signals *proc.Signals
}

// probesEnd is how long the tries under way may take to end after a signal. On
// a machine with time to spare they need a few milliseconds, and the program
// is gone within the 50 that it has (SPEC section 6). On one without, leaving
// no process behind matters more: this is only for what hangs in the kernel.
const probesEnd = 2 * time.Second

// untilReady tries all targets until each was ready once, the time is up, or a
// signal ends the wait.
func (w *waiting) untilReady(ctx context.Context, deadline time.Time, emit func(event.Event)) (engine.Decision, bool) {
	w.signals.Catch()
	ctx, cancel := w.limit(ctx, deadline)
	defer cancel()
	emit, hush := oneByOne(emit)
	sinks := make([]*targetSink, len(w.o.targets))
	done := make(chan struct{})
	var all sync.WaitGroup
	for i, target := range w.o.targets {
		sinks[i] = &targetSink{emit: emit, target: target.String(), reason: "was not tried"}
		all.Go(func() { w.engine(i, sinks[i]).Run(ctx) })
	}
	go func() { all.Wait(); close(done) }()
	for {
		select {
		case <-w.signals.Woken(): // there is no one wait to end
		case signal := <-w.signals.Cancelled():
			hush()
			cancel()
			select {
			case <-done:
			case <-time.After(probesEnd):
			}
			return engine.CancelledBy(signal), false
		case <-done:
			return w.verdict(sinks, emit)
		}
	}
}

// oneByOne makes emit fit for all targets at once. After hush nothing more is
// told: what a signal has cut short is no news of a target.
func oneByOne(emit func(event.Event)) (guarded func(event.Event), hush func()) {
	var mu sync.Mutex
	quiet := false
	guarded = func(e event.Event) {
		mu.Lock()
		defer mu.Unlock()
		if !quiet {
			emit(e)
		}
	}
	hush = func() {
		mu.Lock()
		defer mu.Unlock()
		quiet = true
	}
	return guarded, hush
}

// limit bounds the wait by --wait-timeout and the deadline.
func (w *waiting) limit(ctx context.Context, deadline time.Time) (context.Context, context.CancelFunc) {
	if w.o.waitTimeout > 0 {
		end := time.Now().Add(w.o.waitTimeout)
		if deadline.IsZero() || end.Before(deadline) {
			deadline = end
		}
	}
	if deadline.IsZero() {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, deadline)
}

// engine is the loop of one target: section 3's waits with a shorter cap, as
// many tries as there is time for.
func (w *waiting) engine(i int, s *targetSink) *engine.Engine {
	policy := engine.Policy{Schedule: w.o.tries, Timeout: probe.Limit}
	policy.Rules.Table = classify.BuiltIn
	e := &engine.Engine{
		Policy: policy, Argv: []string{s.target}, Sink: s, Draw: rand.Float64,
		Starter:  probe.New(w.o.targets[i], w.exec),
		Identity: engine.Identity{Random: rand.Uint64},
	}
	if w.o.hasSeed {
		e.Draw = rand.New(rand.NewPCG(w.o.seed, uint64(i)+1)).Float64
	}
	return e
}

// exec runs the command of an exec: target. No process to be had at the moment
// is a reason to wait, not to fail.
func (w *waiting) exec(ctx context.Context, argv []string, output io.Writer) attempt.Result {
	result := proc.Probe(ctx, argv, w.environ, output)
	if result.Err != nil {
		result.Err, result.StartErr = nil, result.Err
	}
	return result
}

// verdict says whether all targets were ready; where not, there is one line
// for each that was not, with its last error.
func (w *waiting) verdict(sinks []*targetSink, emit func(event.Event)) (engine.Decision, bool) {
	ready := true
	for _, s := range sinks {
		if !s.ready {
			ready = false
			emit(&event.TargetFailed{Target: s.target, Reason: s.reason})
		}
	}
	if ready && w.o.exec {
		if err := proc.LookUp(w.o.command[0]); err != nil {
			return engine.Decision{Outcome: event.Failed, Reason: err.Error(), End: engine.End{Code: exitcodes.Of(err)}}, false
		}
	}
	if ready {
		return engine.Decision{}, true
	}
	reason := "not all targets became ready, and the command was not run"
	if len(w.o.command) == 0 {
		reason = "not all targets became ready"
	}
	return engine.TimedOut(reason), false
}

// targetSink turns the events of one target's engine into those of the run:
// one for each change of its state.
type targetSink struct {
	emit   func(event.Event)
	target string
	reason string // the last error
	told   bool
	ready  bool
}

// Emit tells a change of state. The reason of a try that the limit of the wait
// cut short is told at the end, with those of all others.
func (s *targetSink) Emit(ev event.Event) {
	e, ok := ev.(*event.AttemptFinished)
	if !ok {
		return
	}
	if e.Success {
		s.ready = true
		s.emit(&event.TargetReady{Target: s.target})
		return
	}
	reason := e.Result.Note
	if reason == "" {
		reason = e.Reason
	}
	news := !s.told || s.state(reason) != s.state(s.reason)
	s.reason = reason
	if news && !e.Result.DeadlinePassed {
		s.told = true
		s.emit(&event.TargetPending{Target: s.target, Reason: reason})
	}
}

// state is what counts as news of a target. A command may well say what time
// it is, or its pid: for an exec: target numbers are no news.
func (s *targetSink) state(reason string) string {
	if len(s.target) < len("exec:") || !strings.EqualFold(s.target[:len("exec:")], "exec:") {
		return reason
	}
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, reason)
}
