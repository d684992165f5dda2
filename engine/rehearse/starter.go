package rehearse

// This file acts out the steps: a Starter whose attempts wait and write, and
// start nothing. What no step speaks of goes to the real one.

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
	// Real starts what is really run: hooks, and attempts after the list.
	Real attempt.Starter
	// Draw returns a random number, uniform in [0, 1). It is called once for each
	// attempt whose step has a chance.
	Draw func() float64
	// Stdout and Stderr are what a pretended attempt writes.
	Stdout, Stderr Output
	// Cancelled delivers the signal that asks the program to end. Catch, if not
	// nil, is called before it is looked at.
	Cancelled <-chan attempt.Signal
	Catch     func()
	// Number returns a signal's number.
	Number func(attempt.Signal) (int, bool)
	// Clock is where the time comes from.
	Clock engine.Clock

	asked int // the attempt that was asked for last
	step  Step
	does  bool
}

// Output is what a pretended attempt writes to a stream.
type Output struct {
	// Open returns it from its first byte on; nil is nothing.
	Open func() (io.ReadCloser, error)
	// To is the program's own stream, Rejected where output that was held back
	// goes after a failure. Held says that it is held back.
	To, Rejected io.Writer
	Held         bool
}

// Pretends reports whether attempt n is not run, and draws for it.
func (s *Starter) Pretends(n int) bool {
	if s.asked != n {
		u := 0.0
		if !s.Steps.Certain(n) {
			u = s.Draw()
		}
		s.asked = n
		s.step, s.does = s.Steps.At(n, u)
	}
	return s.does
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

	mu   sync.Mutex // guards what follows
	over bool       // the output is not read any more
}

// Wait writes and waits as the step has it.
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
	defer p.close()
	r, takes := p.step.outcome(p.spec.Timeout, p.spec.IdleTimeout, left)
	written := p.write()
	if takes <= 0 && written == nil {
		return r
	}
	return p.wait(r, takes, written)
}

// wait lets the attempt last, and its output be read. A signal or the end of the
// context ends both.
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

// write writes both streams, and says when that is done; nil where there is
// nothing to write.
func (p *pretended) write() <-chan error {
	s := p.starter
	if s.Stdout.Open == nil && s.Stderr.Open == nil {
		return nil
	}
	written := make(chan error, 1)
	go func() {
		if err := s.Stdout.write(p.listening(p.spec.Stdout)); err != nil {
			written <- fmt.Errorf("standard output of a rehearsal: %w", err)
			return
		}
		err := s.Stderr.write(p.listening(p.spec.Stderr))
		if err != nil {
			err = fmt.Errorf("standard error of a rehearsal: %w", err)
		}
		written <- err
	}()
	return written
}

// listening is the watcher of a stream as long as the attempt lasts: a writer that
// was stuck may go on when it has been ended.
func (p *pretended) listening(watcher io.Writer) io.Writer {
	if watcher == nil {
		return nil
	}
	return &listener{p, watcher}
}

type listener struct {
	p  *pretended
	to io.Writer
}

func (l *listener) Write(b []byte) (int, error) {
	l.p.mu.Lock()
	defer l.p.mu.Unlock()
	if l.p.over {
		return 0, context.Canceled
	}
	return l.to.Write(b)
}

func (p *pretended) close() {
	p.mu.Lock()
	p.over = true
	p.mu.Unlock()
}

// outcome is what the step comes to under limits, 0 for none, and how long that
// takes. left is the time to the deadline, negative for none.
func (s *Step) outcome(timeout, idle, left time.Duration) (attempt.Result, time.Duration) {
	r, takes := s.Result, s.Takes
	// All is written at once, so that the rest is silence.
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

// write gives all of the output to the watcher and, unless it is held back, to
// the program's own stream.
func (o *Output) write(watcher io.Writer) error {
	var to []io.Writer
	if watcher != nil {
		to = append(to, watcher)
	}
	if !o.Held {
		to = append(to, o.To)
	}
	return o.copy(to)
}

func (o *Output) copy(to []io.Writer) error {
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
		failed = errors.Join(failed, o.copy([]io.Writer{to}))
	}
	return failed
}

// Drop has nothing to do: what was held back was never copied.
func (p *pretended) Drop() {}
