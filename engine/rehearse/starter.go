package rehearse

// This file is a Starter whose attempts wait and write by the steps, and start nothing.
// Hooks, and attempts without a step, are really run.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
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
	// Cancelled delivers the signal that asks the program to end. Catch, if not nil, is
	// called before it is read.
	Cancelled <-chan attempt.Signal
	Catch     func()
	// Number returns a signal's number.
	Number func(attempt.Signal) (int, bool)
	Clock  engine.Clock

	number   int // of the last attempt
	step     Step
	pretends bool // by its step
}

// Output is what a pretended attempt writes to a stream.
type Output struct {
	// Open opens it; nil is nothing.
	Open func() (io.ReadCloser, error)
	// To is the program's own stream, Rejected the destination of held output after a
	// failure. Held says that it is held back.
	To, Rejected io.Writer
	Held         bool
}

// Pretends reports whether attempt n is not run.
func (s *Starter) Pretends(n int) bool {
	if s.number != n {
		s.number = n
		s.step, s.pretends = s.Steps.At(n, s.Draw)
	}
	return s.pretends
}

// Start starts an attempt, or pretends to.
func (s *Starter) Start(ctx context.Context, spec attempt.Spec) attempt.Attempt {
	if spec.Streams != attempt.Configured || !s.Pretends(spec.Number) {
		return s.Real.Start(ctx, spec)
	}
	return &pretended{starter: s, ctx: ctx, spec: spec, step: s.step}
}

// pretended is one attempt.
type pretended struct {
	starter *Starter
	ctx     context.Context
	spec    attempt.Spec
	step    Step

	mu   sync.Mutex // guards over
	over bool       // the output is no longer read
}

// Wait writes and waits by the step.
func (p *pretended) Wait() attempt.Result {
	begun := p.starter.Clock.Now()
	r := p.act(begun)
	r.Rehearsed, r.Duration = true, p.starter.Clock.Now().Sub(begun)
	return r
}

func (p *pretended) act(begun time.Time) attempt.Result {
	left := time.Duration(-1)
	if d := p.spec.Deadline; !d.IsZero() {
		if left = d.Sub(begun); left <= 0 {
			return attempt.Result{ExitCode: exitcodes.Timeout, DeadlinePassed: true, NotRun: true}
		}
	}
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.over = true
	}()
	r, takes := p.step.outcome(p.spec.Timeout, p.spec.IdleTimeout, left)
	written := p.write()
	if takes <= 0 && written == nil {
		return r
	}
	return p.wait(r, takes, written)
}

// wait waits for the duration of the attempt and for its output. A signal or the end of
// the context ends both.
func (p *pretended) wait(r attempt.Result, takes time.Duration, written <-chan error) attempt.Result {
	s := p.starter
	if s.Catch != nil {
		s.Catch()
	}
	for over := s.Clock.After(takes); over != nil || written != nil; {
		select {
		case <-over:
			over = nil
		case err := <-written:
			if written = nil; err != nil {
				return attempt.Result{ExitCode: exitcodes.Failure, Err: err}
			}
		case signal := <-s.Cancelled: // the command would die by it
			n, _ := s.Number(signal)
			return attempt.Result{ExitCode: exitcodes.OfSignal(n), Signal: signal, Cancelled: signal}
		case <-p.ctx.Done():
			return attempt.Result{ExitCode: exitcodes.Failure, Err: context.Cause(p.ctx)}
		}
	}
	return r
}

// write writes both streams. The channel delivers the result; it is nil if there is nothing
// to write.
func (p *pretended) write() <-chan error {
	s := p.starter
	if s.Stdout.Open == nil && s.Stderr.Open == nil {
		return nil
	}
	written := make(chan error, 1)
	go func() {
		err := p.writeTo(&s.Stdout, p.spec.Stdout, "output")
		if err == nil {
			err = p.writeTo(&s.Stderr, p.spec.Stderr, "error")
		}
		written <- err
	}()
	return written
}

// writeTo writes all of an output to the watcher and, unless it is held back, to the
// program's own stream.
func (p *pretended) writeTo(o *Output, watcher io.Writer, name string) error {
	var to []io.Writer
	if watcher != nil {
		to = append(to, &watched{p, watcher})
	}
	if !o.Held {
		to = append(to, o.To)
	}
	err := o.copy(to...)
	if err != nil {
		err = fmt.Errorf("standard %s of a rehearsal: %w", name, err)
	}
	return err
}

// watched is the watcher of a stream until the attempt has ended: a writer that was blocked
// may continue after that.
type watched struct {
	p  *pretended
	to io.Writer
}

func (w *watched) Write(b []byte) (int, error) {
	w.p.mu.Lock()
	defer w.p.mu.Unlock()
	if w.p.over {
		return 0, context.Canceled
	}
	return w.to.Write(b)
}

// outcome is the result of the step under limits, 0 for none, and how long it takes. left
// is the time to the deadline, negative for none.
func (s *Step) outcome(timeout, idle, left time.Duration) (attempt.Result, time.Duration) {
	r, takes := s.Result, s.Takes
	// All output is written at the start; the idle time begins there.
	for _, limit := range []struct {
		after time.Duration
		idle  bool
	}{{timeout, false}, {idle, true}} {
		if limit.after > 0 && takes > limit.after {
			takes = limit.after
			r = attempt.Result{ExitCode: exitcodes.Timeout, TimedOut: true, Idle: limit.idle}
		}
	}
	if left >= 0 && takes > left {
		return attempt.Result{ExitCode: exitcodes.Timeout, DeadlinePassed: true}, left
	}
	return r, takes
}

func (o *Output) copy(to ...io.Writer) error {
	if o.Open == nil || len(to) == 0 {
		return nil
	}
	from, err := o.Open()
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }()
	_, err = io.Copy(io.MultiWriter(to...), from)
	return err
}

// Settle writes what was held back.
func (p *pretended) Settle(released bool) error {
	var failed error
	for _, o := range []*Output{&p.starter.Stdout, &p.starter.Stderr} {
		if !o.Held {
			continue
		}
		to := o.To
		if !released {
			to = o.Rejected
		}
		failed = errors.Join(failed, o.copy(to))
	}
	return failed
}

// Drop has nothing to do: held output was never copied.
func (p *pretended) Drop() {}
