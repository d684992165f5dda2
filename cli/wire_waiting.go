package cli

// This file waits for targets: for those of --wait-for and --wait-gone before
// attempt 1, for that of --retry-when before each further one.

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/retrysh/retry/cli/option"
	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/backoff"
	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/message"
	"github.com/retrysh/retry/engine/probe"
	"github.com/retrysh/retry/engine/proc"
	"github.com/retrysh/retry/engine/text"
	"github.com/retrysh/retry/engine/waitfor"
	"github.com/retrysh/retry/exitcodes"
)

// untilReady waits for all targets before attempt 1, as engine.Config.Before.
func (w *wiring) untilReady(ctx context.Context, deadline time.Time, emit func(event.Event)) *engine.Decision {
	o := w.o
	if err := w.lookUp(); err != nil {
		return cannotRun(err)
	}
	wait := w.waitFor(o.Tries, deadline)
	for _, t := range o.WaitWhile {
		wait.While = append(wait.While, w.watched(t))
	}
	for i, t := range o.Targets {
		wait.Targets = append(wait.Targets, w.target(t.WaitTarget, t.Gone, draw(o, uint64(i)+1)))
	}
	switch r := wait.Run(ctx, emit); {
	case r.Cancelled != "":
		return engine.CancelledBy(r.Cancelled)
	case !r.Ready && len(o.Command) == 0:
		return engine.TimedOut("not all targets became ready")
	case !r.Ready:
		return engine.TimedOut("not all targets became ready, and the command was not run")
	}
	if o.Exec {
		if err := proc.LookUp(o.Command[0]); err != nil {
			return cannotRun(err)
		}
	}
	return nil
}

// whenReady waits for the target of --retry-when, by the run's own schedule.
func (w *wiring) whenReady() engine.When {
	target := w.target(w.o.RetryWhen, false, w.e.Draw)
	return func(ctx context.Context, at engine.Place, deadline time.Time, emit func(event.Event)) engine.Readiness {
		wait := w.waitFor(w.o.Policy.Schedule, deadline)
		wait.Targets = []waitfor.Target{target}
		wait.From = at
		wait.OnlyNews = true
		r := wait.Run(ctx, emit)
		r.Why = fmt.Sprintf("%s did not become ready within %s", target.Name, message.Limit(w.o.WaitTimeout))
		if r.DeadlinePassed {
			r.Why = target.Name + " did not become ready before the deadline"
		}
		return r
	}
}

func (w *wiring) waitFor(schedule backoff.Schedule, deadline time.Time) *waitfor.Wait {
	return &waitfor.Wait{
		Policy: engine.Policy{Schedule: schedule, Timeout: probe.Limit},
		Limit:  w.o.WaitTimeout, Deadline: deadline, Signals: w.e.Signals, Random: rand.Uint64,
	}
}

func (w *wiring) target(t *probe.Target, gone bool, draw func() float64) waitfor.Target {
	p := probe.New(t, w.exec)
	p.Gone = gone
	p.Alive = proc.Alive
	return waitfor.Target{Name: t.String(), Gone: gone, Numbers: probe.IsCommand(t.String()), Starter: p, Draw: draw}
}

// The time between two looks at a target of --wait-while: a process is watched.
const (
	lookEvery  = 500 * time.Millisecond
	watchEvery = 20 * time.Millisecond
)

func (w *wiring) watched(t *probe.Target) waitfor.Watched {
	g := waitfor.Watched{Name: t.String(), Starter: w.target(t, true, nil).Starter, Every: lookEvery}
	if t.IsProcess() {
		g.Every = watchEvery
	}
	return g
}

// exec runs the command of an exec: target. A process that cannot be created at the
// moment is a reason to wait, not to fail.
func (w *wiring) exec(ctx context.Context, argv []string, output io.Writer) attempt.Result {
	result := proc.Probe(ctx, argv, w.environ, output)
	if result.Err != nil {
		result.StartErr = result.Err
		result.Err = nil
	}
	return result
}

// lookUp looks for the command before the wait begins, so that a misspelt name is
// reported at once, unless it is waited for itself, --on-exit names the code that it
// would have, or what is run is not known yet.
func (w *wiring) lookUp() error {
	o := w.o
	if len(o.Command) == 0 || len(o.Policy.Rotate) > 0 || o.Rehearse != nil {
		return nil
	}
	if slices.ContainsFunc(o.Targets, func(t option.Target) bool { return holds(t, o.Command[0]) }) {
		return nil
	}
	err := proc.LookUp(o.Command[0])
	if err != nil && !o.Exec {
		result := attempt.Result{ExitCode: exitcodes.Of(err), StartErr: err}
		if _, retried := o.Policy.Rules.OnExit.Codes().Match(result); retried {
			return nil
		}
	}
	return err
}

// holds reports whether a file: target is waited for that is the command, or a
// directory above it.
func holds(t option.Target, command string) bool {
	file := t.File()
	if file == "" || t.Gone || !strings.ContainsAny(command, `/\`) {
		return false
	}
	command, err := filepath.Abs(command)
	if err != nil {
		return false
	}
	below, err := filepath.Rel(file, command)
	return err == nil && filepath.IsLocal(below)
}

// cannotRun is how a run ends whose command cannot be found or run.
func cannotRun(err error) *engine.Decision {
	d := engine.Ended(event.Failed, text.Masked(err.Error()), engine.End{Code: exitcodes.Of(err)})
	d.NotStarted = true
	return d
}

// withoutTargets is the environment of a command that --exec becomes: one that is
// a retry itself need not wait again for what this one has waited for.
func withoutTargets(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains([]string{"RETRY_WAIT_FOR", "RETRY_WAIT_GONE", "RETRY_WAIT_WHILE"}, name)
	})
}
