// Package waitfor waits until targets are ready, or gone: all side by side, each
// by an engine of its own, whose attempts are tries of the target. There is no
// second loop.
//
// One goroutine, that of Run, looks at the signals, keeps what is known of each
// target and emits the events; the engines send it what they find. The package will
// never know how a target is tried, nor end anything but its own tries.
package waitfor

import (
	"context"
	"time"

	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/classify"
	"github.com/retrysh/retry/engine/event"
)

// Target is one thing that is waited for.
type Target struct {
	// Name is how it is shown.
	Name string
	// Gone says that it is waited for until it is no longer ready; the tries of
	// Starter succeed then.
	Gone bool
	// Numbers says that numbers in its reasons are no news, since a command may
	// well say what time it is, or its pid.
	Numbers bool
	// Starter tries it once. A failure's Note is its reason.
	Starter attempt.Starter
	// Draw returns a random number, uniform in [0, 1), once for each try.
	Draw func() float64
}

// Wait is what is waited for, and how.
type Wait struct {
	// Targets are not none. With one target Signals.Woken ends a wait between
	// two tries; with several there is no one wait to end.
	Targets []Target
	// Policy is that of the tries: as many as there is time for.
	Policy engine.Policy
	// From is where in the schedule the tries begin.
	From engine.Place
	// Limit is for how long it waits; 0 is for ever. It cuts a wait between two
	// tries short.
	Limit time.Duration
	// Deadline is when the run ends; the zero time is none. No wait is begun
	// that would pass it.
	Deadline time.Time
	// OnlyNews says that a target which is ready at once is not reported.
	OnlyNews bool
	Signals  engine.Signals
	// Random is what an engine wants for its identity.
	Random func() uint64
}

const (
	// beat is how often the targets that are still waited for are reported (docs/targets.md).
	beat = 10 * time.Second
	// firstBeat is the time of the first report, unless a try has ended before.
	firstBeat = 200 * time.Millisecond
	// triesEnd is how long the tries under way may take to end after a signal. On
	// a machine with time to spare they need a few milliseconds, and the program
	// is gone within the 50 that it has (docs/processes.md). On one without, leaving
	// no process behind matters more: this is only for what hangs in the kernel.
	triesEnd = 2 * time.Second
)

// wait is one that is under way.
type wait struct {
	*Wait
	started time.Time
	end     time.Time // of Limit, the zero time for none
	emit    func(event.Event)
	engines []*engine.Engine
	states  []state
	left    int // engines that run
	news    chan news
	over    chan struct{} // closed when the wait is over
}

// state is what is known of a target.
type state struct {
	event.Target
	reported, ready bool
}

// Run waits until each target was once what is waited for, the time is up, or a
// signal asks for the end.
func (w *Wait) Run(ctx context.Context, emit func(event.Event)) engine.Readiness {
	if w.Signals.Notify != nil {
		w.Signals.Notify()
	}
	r := &wait{Wait: w, started: time.Now(), emit: emit, news: make(chan news), over: make(chan struct{})}
	defer close(r.over)
	ctx, cancel := r.limit(ctx)
	defer cancel()
	r.start(ctx)
	var woken <-chan struct{}
	if len(w.Targets) > 1 {
		woken = w.Signals.Woken
	}
	tick := time.NewTimer(firstBeat)
	defer tick.Stop()
	for r.left > 0 {
		select {
		case <-woken:
		case signal := <-w.Signals.Cancelled:
			cancel()
			r.drain()
			return engine.Readiness{Cancelled: signal}
		case n := <-r.news:
			r.learn(n)
		case <-tick.C:
			r.emitPending(time.Since(r.started) >= beat)
			tick.Reset(beat - time.Since(r.started)%beat)
		}
	}
	return r.result()
}

// limit bounds the wait. A try that is under way when the time is up is ended.
func (r *wait) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	if r.Limit > 0 {
		r.end = r.started.Add(r.Limit)
		return context.WithDeadline(ctx, r.end)
	}
	return context.WithCancel(ctx)
}

// start starts the engines.
func (r *wait) start(ctx context.Context) {
	r.states = make([]state, len(r.Targets))
	for i, target := range r.Targets {
		r.states[i].Name, r.states[i].Gone = target.Name, target.Gone
		r.engines = append(r.engines, r.engine(i))
	}
	r.left = len(r.engines)
	for i, e := range r.engines {
		go func() {
			e.Run(ctx)
			r.send(news{target: i, ended: true})
		}()
	}
}

// engine is the loop of one target. What a signal asks for is for Run.
func (r *wait) engine(i int) *engine.Engine {
	target := &r.Targets[i]
	e := &engine.Engine{
		Policy: r.Policy, Argv: []string{target.Name}, Starter: target.Starter, Sink: &listener{r, i}, Draw: target.Draw,
		Identity: engine.Identity{Random: r.Random}, From: r.From, Expires: r.Deadline,
	}
	e.Policy.Attempts = 0
	e.Policy.Rules = engine.Rules{Table: noRules}
	if len(r.Targets) == 1 {
		e.Signals.Woken = r.Signals.Woken
	}
	return e
}

// noRules is a table that knows no failure: every one is tried again.
func noRules() *classify.Table { return &classify.Table{} }

// drain waits until the tries under way have ended, and reports none of them:
// what a signal has cut short is no news of a target.
func (r *wait) drain() {
	late := time.NewTimer(triesEnd)
	defer late.Stop()
	for r.left > 0 {
		select {
		case n := <-r.news:
			if n.ended {
				r.left--
			}
		case <-late.C:
			return
		}
	}
}

// result says what came of it; where not all is well, there is one event for
// each target that is not, with its last error.
func (r *wait) result() engine.Readiness {
	result := engine.Readiness{Ready: true, Waited: time.Since(r.started), Place: r.engines[0].Place()}
	for i := range r.states {
		s := &r.states[i]
		if s.ready {
			continue
		}
		result.Ready = false
		if s.Reason == "" {
			s.Reason = "was not tried"
		}
		r.emit(&event.TargetFailed{Target: s.Target})
	}
	limited := !r.end.IsZero() && !time.Now().Before(r.end)
	if !result.Ready && !r.Deadline.IsZero() && !(limited && r.end.Before(r.Deadline)) {
		result.DeadlinePassed = true
	}
	return result
}
