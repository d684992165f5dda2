package proc

// This file runs one attempt from its start to its result.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/exitcodes"
)

// Runner runs the attempts of one run, one at a time.
type Runner struct {
	cfg     Config
	signals *Signals
	report  *reporter
	stdin   *stdin
	left    *child
	held    []*held
}

// New prepares a run.
func New(cfg Config, s *Signals) (*Runner, error) {
	if cfg.Signal != "" {
		if _, ok := NumberOf(cfg.Signal); !ok {
			return nil, fmt.Errorf("this system has no signal %q", string(cfg.Signal))
		}
	}
	in, err := openStdin(cfg.Stdin)
	if err != nil {
		return nil, err
	}
	return &Runner{cfg: cfg, signals: s, report: &reporter{to: cfg.Report}, stdin: in}, nil
}

// Run runs one attempt and says what came of it. A signal that asks the program
// to end is in Result.Cancelled if it came before the command had ended; one
// that came later comes out of Signals.Cancelled. When ctx ends, the attempt is
// ended as by a timeout and Result.Err is its cause.
func (r *Runner) Run(ctx context.Context, spec attempt.Spec) attempt.Result {
	begun := time.Now()
	if err := r.Settle(false); err != nil { // only if the caller forgot
		return attempt.Result{ExitCode: exitcodes.Failure, Err: err}
	}
	if !spec.Deadline.IsZero() && !begun.Before(spec.Deadline) {
		return attempt.Result{DeadlinePassed: true, NotRun: true, ExitCode: exitcodes.Timeout}
	}
	a := &running{Runner: r, spec: spec, begun: begun, ended: make(chan struct{}), hurry: make(chan struct{}), abandon: make(chan struct{})}
	defer r.report.flush() // when signals count as in a wait again, so that a stuck reader can be interrupted
	r.signals.enter(a)
	defer r.signals.enter(nil)
	a.run(ctx)
	if a.result.Duration == 0 { // it did not start
		a.result.Duration = time.Since(begun)
	}
	return a.result
}

// running is the attempt that runs.
type running struct {
	*Runner
	spec    attempt.Spec
	begun   time.Time
	streams *streams

	mu      sync.Mutex
	child   *child
	over    bool
	urged   int
	ending  bool
	hurried bool
	left    bool
	ended   chan struct{} // closed when the tree has been ended
	hurry   chan struct{} // closed when it is to be killed at once
	abandon chan struct{} // closed when nobody wants the rest of the output
	result  attempt.Result
}

func (a *running) run(ctx context.Context) {
	streams, err := a.open()
	if err != nil {
		a.result = attempt.Result{ExitCode: exitcodes.Failure, Err: err}
		return
	}
	a.streams = streams
	if !a.start() {
		streams.close()
		return
	}
	streams.start()
	stopTimers := a.arm(ctx)
	code, err := a.child.wait()
	stopTimers()
	a.finish(code, err)
}

func (a *running) start() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if sig := a.result.Cancelled; sig != "" {
		n, _ := NumberOf(sig)
		a.over = true
		a.result.Signal, a.result.ExitCode = sig, exitcodes.OfSignal(n) // as if it had got it at once
		return false
	}
	c, err := spawn(a.spec.Argv, a.spec.Env, a.streams.child)
	if err != nil {
		a.over = true
		a.result.ExitCode = exitcodes.Of(err)
		if a.result.ExitCode == exitcodes.Failure {
			a.result.Err = err
		} else {
			a.result.StartErr = err
		}
		return false
	}
	a.child = c
	return true
}

func (a *running) arm(ctx context.Context) (stop func()) {
	var stops []func() bool
	if a.spec.Timeout > 0 {
		stops = append(stops, time.AfterFunc(a.spec.Timeout, func() { a.expire(&a.result.TimedOut) }).Stop)
	}
	if !a.spec.Deadline.IsZero() {
		stops = append(stops, time.AfterFunc(time.Until(a.spec.Deadline), func() { a.expire(&a.result.DeadlinePassed) }).Stop)
	}
	if ctx.Done() != nil {
		stops = append(stops, context.AfterFunc(ctx, func() { a.fail(context.Cause(ctx)) }))
	}
	return func() {
		for _, stop := range stops {
			stop()
		}
	}
}

func (a *running) expire(mark *bool) {
	a.mu.Lock()
	if a.over {
		a.mu.Unlock()
		return
	}
	*mark = true
	first := !a.ending
	a.ending = true // in one step with the mark, so that finish waits
	a.mu.Unlock()
	if first {
		a.endTree()
	}
}

// end asks the command's group to end by Ctrl-Break and, after the grace, ends
// the job. It does so once.
func (a *running) end() {
	a.mu.Lock()
	if a.ending {
		a.mu.Unlock()
		return
	}
	a.ending = true
	a.mu.Unlock()
	a.endTree()
}

// endTree is for who has set ending.
func (a *running) endTree() {
	endJob(a.child, a.cfg, a.hurry)
	close(a.ended)
}

func endJob(c *child, cfg Config, hurry <-chan struct{}) {
	const look = 10 * time.Millisecond
	if cfg.Signal != "SIGKILL" && c.interrupt() == nil {
		for limit := time.Now().Add(cfg.KillAfter); c.living() > 0 && time.Now().Before(limit); {
			select {
			case <-hurry:
				limit = time.Now()
			case <-time.After(look):
			}
		}
	}
	for c.terminate(); c.living() > 0; c.terminate() {
		time.Sleep(look)
	}
}

func (a *running) fail(err error) {
	a.mu.Lock()
	if a.result.Err != nil {
		a.mu.Unlock()
		return
	}
	a.result.Err = err
	over := a.over
	a.mu.Unlock()
	if !over {
		go a.end()
	}
}

func (a *running) readerGone() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.result.ReaderGone = true
	if !a.over {
		a.ask()
	}
}

// ask asks the command's group to end. One that shares no console with the
// program cannot be asked: it is ended.
func (a *running) ask() {
	if a.child.interrupt() != nil {
		go a.end()
	}
}

// take handles one signal for the attempt and reports whether it was the
// attempt's. The command's own console group does not get the console's Ctrl-C.
func (a *running) take(sig attempt.Signal) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over {
		if !a.left {
			a.left = true
			close(a.abandon)
		}
		if a.result.Cancelled == "" {
			return false
		}
	} else {
		if a.result.Cancelled == "" {
			a.result.Cancelled = sig
		}
		if a.child != nil {
			a.ask()
		}
	}
	a.urged++
	if a.urged >= insist && !a.hurried && a.child != nil {
		a.hurried = true
		close(a.hurry)
		go a.end()
	}
	return true
}

func (a *running) finish(code int, err error) {
	took := time.Since(a.begun) // what it leaves in a pipe is not its time
	a.mu.Lock()
	a.over = true
	a.result.Duration = took
	if err != nil && a.result.Err == nil {
		a.result.Err = fmt.Errorf("waiting for the command: %w", err)
	}
	sweep := a.result.Cancelled != "" || a.result.ReaderGone || a.result.Err != nil
	limited := a.result.TimedOut || a.result.DeadlinePassed
	ending := a.ending
	a.mu.Unlock()
	if sweep && !ending {
		a.end()
	}
	if sweep || ending {
		<-a.ended
	}
	a.streams.drain(a.abandon, limited)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.result.ExitCode = code
	if a.result.TimedOut && !a.spec.Deadline.IsZero() && !time.Now().Before(a.spec.Deadline) {
		a.result.DeadlinePassed = true
	}
	switch {
	case a.result.Err != nil:
		a.result.ExitCode = exitcodes.Failure
	case a.result.TimedOut, a.result.DeadlinePassed:
		a.result.ExitCode = exitcodes.Timeout
	}
	a.Runner.left, a.Runner.held = a.child, a.streams.outputs
}

// Settle takes the verdict on the last attempt. Held output goes to where it
// belongs if the attempt was accepted, and to standard error otherwise; what a
// rejected attempt left running is ended under KillLeftovers. The error says
// that the output could not be written; errors.Is(err, attempt.ErrReaderGone) that
// nobody reads it.
func (r *Runner) Settle(accepted bool) error {
	left, held := r.left, r.held
	r.left, r.held = nil, nil
	if left != nil {
		if !accepted && r.cfg.KillLeftovers {
			endJob(left, r.cfg, nil)
		}
		left.close()
	}
	var errs []error
	for _, h := range held {
		errs = append(errs, h.release(accepted))
	}
	return errors.Join(errs...)
}

// Close ends the run: an attempt that was not settled counts as rejected.
func (r *Runner) Close() error { return r.Settle(false) }

// Probe runs argv without input and with both its outputs going to output. When
// ctx ends its job is ended, and the result counts as timed out. Any number of
// probes may run at once.
func Probe(ctx context.Context, argv, env []string, output io.Writer) attempt.Result {
	begun := time.Now()
	if ctx.Err() != nil {
		return attempt.Result{TimedOut: true, ExitCode: exitcodes.Timeout}
	}
	r := &Runner{cfg: Config{Stdin: Null, Signal: "SIGKILL"}, report: &reporter{}, stdin: &stdin{mode: Null}}
	a := &running{Runner: r, spec: attempt.Spec{Argv: argv, Env: env}, ended: make(chan struct{}), hurry: make(chan struct{}), abandon: make(chan struct{})}
	var s streams
	if err := s.openProbe(a, output); err != nil {
		return attempt.Result{Err: err, ExitCode: exitcodes.Failure}
	}
	a.streams = &s
	if !a.start() {
		s.close()
		return a.result
	}
	s.start()
	stop := context.AfterFunc(ctx, func() { a.expire(&a.result.TimedOut) })
	code, err := a.child.wait()
	stop()
	a.finish(code, err)
	_ = r.Settle(true)
	a.result.Duration = time.Since(begun)
	return a.result
}

// LookUp returns the error that Exec would end with for a command that is not
// there.
func LookUp(name string) error {
	_, err := lookUp(name)
	return err
}

// Exec stands in for the replacement of a process, which does not exist here:
// it runs the command and returns its code. The error says why it could not, and
// then the code is that of the error.
func Exec(_ *Signals, argv, env []string) (int, error) {
	c, err := spawn(argv, env, [3]*os.File{os.Stdin, os.Stdout, os.Stderr})
	if err != nil {
		return exitcodes.Of(err), err
	}
	defer c.close()
	code, err := c.wait()
	if err != nil {
		return exitcodes.Failure, err
	}
	return code, nil
}
