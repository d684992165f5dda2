// Package waitfor waits until targets are ready, or gone: all at the same time, each by an
// engine of its own, whose attempts are tries of the target.
//
// The goroutine of Run reads the signals, keeps the state of each target and emits the
// events; the engines send it their results. The package does not know how a target is
// tried, and ends nothing but its own tries.
package waitfor

import (
	"cmp"
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/classify"
	"github.com/retrysh/retry/engine/event"
)

// Target is waited for.
type Target struct {
	Name string
	// Gone says that the wait ends when the target is no longer ready. The tries of
	// Starter succeed then.
	Gone bool
	// Numbers says that reasons that differ in their numbers alone are the same: a command
	// may print the time or its pid.
	Numbers bool
	// Starter tries it once. The Note of a failure is its reason.
	Starter attempt.Starter
	// Draw returns a random number, uniform in [0, 1), once for each try.
	Draw func() float64
}

// Watched ends the wait when a target is not ready. The tries of its Starter succeed then, with
// the reason as Note.
type Watched struct {
	Name    string
	Starter attempt.Starter
	// Every is the time between two looks.
	Every time.Duration
}

// Wait is a wait for targets.
type Wait struct {
	// Targets are at least one. With one target Signals.Woken ends a wait between two
	// tries.
	Targets []Target
	// While are looked at before the targets, all the time, and when all targets are ready.
	While []Watched
	// Policy is that of the tries; their number is not limited.
	Policy engine.Policy
	// From is where in the schedule the tries begin.
	From engine.Place
	// Limit is the longest wait; 0 is none. Deadline is when the run ends; the zero time is
	// none. A wait between two tries that would pass the earlier of them ends lastLook before
	// it, and the try that follows is the last.
	Limit    time.Duration
	Deadline time.Time
	// OnlyNews says that a target which is ready at once is not reported.
	OnlyNews bool
	Signals  engine.Signals
	// Random is engine.Identity.Random.
	Random func() uint64
}

const (
	// lastLook is the time before the end of the wait from which on a target that becomes
	// ready may be missed (docs/targets.md).
	lastLook = 500 * time.Millisecond
	// reportEvery is the interval of reports of missing targets (docs/targets.md).
	reportEvery = 10 * time.Second
	// firstReport is the time of the first report, unless a try has ended before.
	firstReport = 200 * time.Millisecond
	// triesEnd is how long the tries under way may take to end after a signal. They need a
	// few milliseconds, unless a process hangs in the kernel: to leave none behind matters
	// more than to end within 50 ms (docs/processes.md).
	triesEnd = 2 * time.Second
)

// wait is a wait under way.
type wait struct {
	*Wait
	started time.Time
	end     time.Time // the earlier of Limit's and Deadline, the zero time for none
	atRun   bool      // the end is Deadline
	emit    func(event.Event)
	first   engine.Place // of the schedule of the first target, when all have ended
	states  []state
	results chan func()       // each takes the result of a try; closed when the engines have ended
	over    chan event.Target // the first of While that is not ready
	isOver  atomic.Bool       // there is one
}

// state is the state of a target.
type state struct {
	event.Target
	reported, ready bool
}

// Run waits until each target was once ready (or gone), the time is up, or a signal asks
// for the end.
func (w *Wait) Run(ctx context.Context, emit func(event.Event)) engine.Readiness {
	r := &wait{Wait: w, started: time.Now(), emit: emit, results: make(chan func()), over: make(chan event.Target, 1)}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r.start(ctx)
	var woken <-chan struct{}
	if len(w.Targets) > 1 {
		woken = w.Signals.Woken // has no effect
	}
	tick := time.NewTimer(firstReport)
	for {
		select {
		case <-woken:
		case signal := <-w.Signals.Cancelled:
			cancel()
			r.drain()
			return engine.Readiness{Cancelled: signal}
		case t := <-r.over:
			cancel()
			r.drain()
			return r.broken(t)
		case take, more := <-r.results:
			if more {
				take()
				continue
			}
			select { // both came together
			case t := <-r.over:
				return r.broken(t)
			default:
			}
			return r.finish()
		case <-tick.C:
			r.emitPending(time.Since(r.started) >= reportEvery)
			tick.Reset(reportEvery - time.Since(r.started)%reportEvery)
		}
	}
}

// start starts an engine for each target, after a look at those of While. Signals are read by
// Run alone.
func (r *wait) start(ctx context.Context) {
	if r.Limit > 0 {
		r.end = r.started.Add(r.Limit)
	}
	r.atRun = !r.Deadline.IsZero() && (r.end.IsZero() || r.Deadline.Before(r.end))
	if r.atRun {
		r.end = r.Deadline
	}
	watchers := make([]*watcher, len(r.While))
	var looked sync.WaitGroup
	for i := range r.While {
		watchers[i] = &watcher{Watched: &r.While[i], wait: r}
		looked.Add(1)
		go watchers[i].watch(ctx, sync.OnceFunc(looked.Done))
	}
	r.states = make([]state, len(r.Targets))
	engines := make([]*engine.Config, len(r.Targets))
	for i := range r.Targets {
		target := &r.Targets[i]
		r.states[i].Name, r.states[i].Gone = target.Name, target.Gone
		c := &engine.Config{
			Policy: r.Policy, Argv: []string{target.Name}, Starter: target.Starter, Draw: target.Draw,
			Identity: engine.Identity{Random: r.Random}, Expires: r.end,
			Emit: func(ev event.Event) {
				if try, ok := ev.(*event.AttemptFinished); ok {
					select {
					case r.results <- func() { r.take(target, &r.states[i], try) }:
					case <-ctx.Done():
					}
				}
			},
		}
		c.Policy.Attempts = 0
		c.Policy.Rules = engine.Rules{Table: noRules}
		c.Policy.LastLook = lastLook
		if len(r.Targets) == 1 {
			c.Signals.Woken = r.Signals.Woken
		}
		engines[i] = c
	}
	go func() {
		looked.Wait()
		var running sync.WaitGroup
		if r.isOver.Load() {
			engines, watchers = nil, nil
		}
		for i, c := range engines {
			running.Go(func() {
				_, at := c.RunFrom(ctx, r.From)
				if i == 0 {
					r.first = at
				}
			})
		}
		running.Wait()
		for _, g := range watchers {
			running.Go(func() { g.lookOnce(ctx) })
		}
		running.Wait()
		close(r.results)
	}()
}

// noRules is a table that knows no failure: every one is retried.
func noRules() *classify.Table { return &classify.Table{} }

// drain waits until the tries under way have ended, without a report: a try that a signal
// has ended says nothing of its target.
func (r *wait) drain() {
	for late := time.After(triesEnd); ; {
		select {
		case _, more := <-r.results:
			if !more {
				return
			}
		case <-late:
			return
		}
	}
}

// broken is the result of a wait that a target of While has ended.
func (r *wait) broken(t event.Target) engine.Readiness {
	r.emit(&event.TargetFailed{Target: t})
	r.emitFailed()
	return engine.Readiness{Waited: time.Since(r.started)}
}

// finish returns the result, and reports each target that is not ready with its last error.
func (r *wait) finish() engine.Readiness {
	failed := r.emitFailed()
	return engine.Readiness{
		Ready: !failed, Waited: time.Since(r.started), Place: r.first, DeadlinePassed: failed && r.atRun,
	}
}

// emitFailed reports each target that is not ready, and whether there is one.
func (r *wait) emitFailed() (any bool) {
	for i := range r.states {
		s := &r.states[i]
		if s.ready {
			continue
		}
		any = true
		if s.Reason == "" {
			s.Reason = "was not tried"
		}
		r.emit(&event.TargetFailed{Target: s.Target})
	}
	return any
}

// take records a result, and emits an event if it changes something. The reason of a try
// that the limit of the wait ended is reported at the end, with those of all others.
func (r *wait) take(target *Target, s *state, try *event.AttemptFinished) {
	if try.Success {
		s.ready, s.Reason = true, ""
		if s.reported || !r.OnlyNews {
			r.emit(&event.TargetReady{Target: s.Target, After: time.Since(r.started)})
			r.emitPending(false)
		}
		return
	}
	reason := cmp.Or(try.Result.Note, try.Reason)
	isNew := !s.reported || target.compared(reason) != target.compared(s.Reason)
	s.Reason = reason
	if isNew && !try.Result.DeadlinePassed {
		s.reported = true
		r.emit(&event.TargetPending{Target: s.Target})
		r.emitPending(false)
	}
}

// compared is the part of a reason whose change is reported.
func (t *Target) compared(reason string) string {
	if !t.Numbers {
		return reason
	}
	return strings.Map(func(c rune) rune {
		if c >= '0' && c <= '9' {
			return -1
		}
		return c
	}, reason)
}

// emitPending reports the targets that are still waited for, if there are any.
func (r *wait) emitPending(beat bool) {
	e := &event.TargetsPending{Beat: beat}
	for i := range r.states {
		if !r.states[i].ready {
			e.Pending = append(e.Pending, r.states[i].Target)
		}
	}
	if len(e.Pending) == 0 {
		return
	}
	if !r.end.IsZero() {
		e.Left, e.Limited = max(time.Until(r.end), 0), true
	}
	r.emit(e)
}
