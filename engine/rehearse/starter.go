package rehearse

// This file is a Starter whose attempts wait and write by the steps, and start nothing.
// Hooks, and attempts without a step, are really run.

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/retrysh/retry/engine"
	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/exitcodes"
)

// Starter starts attempts that pretend.
type Starter struct {
	Steps Steps
	// Real starts what is really run.
	Real attempt.Starter
	// Draw returns a random number, uniform in [0, 1). It is called once for each attempt
	// whose step has a chance.
	Draw func() float64
	// Stdout and Stderr are what a pretended attempt writes.
	Stdout, Stderr Output
	// Keep keeps output for the end of the run, in place of what was kept before.
	Keep func(attempt.Kept)
	// Signals delivers the signal that asks the program to end.
	Signals engine.Signals

	step     Step // of the attempt that was prepared last
	pretends bool // by its step
}

// Output is what a pretended attempt writes to a stream.
type Output struct {
	// Open opens it; nil is nothing.
	Open func() (io.ReadCloser, error)
	// Direct is the destination, nil for output that is held back: that goes to Released
	// after a success and to Rejected after a failure, or to Kept if the run gives up.
	Direct, Released, Rejected, Kept io.Writer
}

// Prepare takes the step of attempt n, and returns whether the attempt is not run.
func (s *Starter) Prepare(n int) (pretends bool) {
	s.step, s.pretends = s.Steps.At(n, s.Draw)
	return s.pretends
}

// Start starts the attempt that was prepared last, or pretends to.
func (s *Starter) Start(ctx context.Context, spec attempt.Spec) attempt.Attempt {
	if spec.Streams != attempt.Configured || !s.pretends {
		return s.Real.Start(ctx, spec)
	}
	return &pretended{Starter: s, ctx: ctx, spec: spec, step: s.step}
}

// pretended is one attempt.
type pretended struct {
	*Starter
	ctx  context.Context
	spec attempt.Spec
	step Step
}

// Wait writes and waits by the step.
func (p *pretended) Wait() attempt.Result {
	begun := time.Now()
	r := p.act(begun)
	r.Rehearsed, r.Duration = true, time.Since(begun)
	return r
}

func (p *pretended) act(begun time.Time) attempt.Result {
	left := time.Duration(-1)
	if d := p.spec.Deadline; !d.IsZero() {
		if left = d.Sub(begun); left <= 0 {
			return attempt.Result{ExitCode: exitcodes.Timeout, DeadlinePassed: true, NotRun: true}
		}
	}
	r, takes := p.step.outcome(p.spec.Timeout, p.spec.IdleTimeout, left)
	if p.Stdout.Open == nil && p.Stderr.Open == nil {
		if takes <= 0 {
			return r
		}
		return p.wait(r, takes, nil)
	}
	if err := p.write(p.spec.Stdout, p.spec.Stderr); err != nil {
		return failed(err)
	}
	written := make(chan error, 1)
	go func() { written <- p.write(p.Stdout.Direct, p.Stderr.Direct) }() // a reader may block it
	return p.wait(r, takes, written)
}

func failed(err error) attempt.Result {
	return attempt.Result{ExitCode: exitcodes.Failure, Err: err}
}

// wait waits for the duration of the attempt and for its output, nil for none. A signal or
// the end of the context ends both.
func (p *pretended) wait(r attempt.Result, takes time.Duration, written <-chan error) attempt.Result {
	for over := time.After(takes); over != nil || written != nil; {
		select {
		case <-over:
			over = nil
		case err := <-written:
			written = nil
			if err != nil {
				return failed(err)
			}
		case signal := <-p.Signals.Cancelled: // the command would die by it
			n, _ := exitcodes.SignalNumber(string(signal))
			return attempt.Result{ExitCode: exitcodes.OfSignal(n), Signal: signal, Cancelled: signal}
		case <-p.ctx.Done():
			return failed(context.Cause(p.ctx))
		}
	}
	return r
}

// write writes each output to a writer, nil for none.
func (s *Starter) write(stdout, stderr io.Writer) error {
	if err := s.Stdout.copy(stdout); err != nil {
		return fmt.Errorf("standard output of a rehearsal: %w", err)
	}
	if err := s.Stderr.copy(stderr); err != nil {
		return fmt.Errorf("standard error of a rehearsal: %w", err)
	}
	return nil
}

func (o *Output) copy(to io.Writer) error {
	if o.Open == nil || to == nil {
		return nil
	}
	from, err := o.Open()
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }()
	_, err = io.Copy(to, from)
	return err
}

// outcome is the result of the step under limits, 0 for none, and how long it takes. left
// is the time to the deadline, negative for none.
func (s *Step) outcome(timeout, idle, left time.Duration) (attempt.Result, time.Duration) {
	r, takes := s.Result, s.Takes
	// All output is written at the start; the idle time begins there.
	for i, limit := range []time.Duration{timeout, idle} {
		if limit > 0 && takes > limit {
			takes = limit
			r = attempt.Result{ExitCode: exitcodes.Timeout, TimedOut: true, Idle: i == 1}
		}
	}
	if left >= 0 && takes > left {
		return attempt.Result{ExitCode: exitcodes.Timeout, DeadlinePassed: true}, left
	}
	return r, takes
}

// Settle writes what was held back.
func (p *pretended) Settle(released bool) error {
	if p.Stdout.Kept != nil || p.Stderr.Kept != nil {
		p.Keep(kept{p.Starter})
	}
	if released {
		return p.write(p.Stdout.Released, p.Stderr.Released)
	}
	return p.write(p.Stdout.Rejected, p.Stderr.Rejected)
}

// Drop has nothing to do: held output was never copied.
func (p *pretended) Drop() {}

// kept is the output of a pretended attempt that is written if the run gives up.
type kept struct{ *Starter }

func (k kept) Release() error { return k.write(k.Stdout.Kept, k.Stderr.Kept) }
func (k kept) Drop()          {}
