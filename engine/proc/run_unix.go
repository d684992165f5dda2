//go:build unix

package proc

// This file runs one attempt from its start to its result.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/exitcodes"
)

// Runner runs the attempts of one run, one at a time.
type Runner struct {
	cfg     Config
	signal  syscall.Signal
	signals *Signals
	report  *reporter
	stdin   *stdin
	left    *tree   // what the attempt that has not been settled may have left
	held    []*held // its output
}

// New prepares a run. The error says which part of cfg this system cannot do.
func New(cfg Config, s *Signals) (*Runner, error) {
	if cfg.Signal == "" {
		cfg.Signal = "SIGTERM"
	}
	n, ok := NumberOf(cfg.Signal)
	if !ok {
		return nil, fmt.Errorf("this system has no signal %q", string(cfg.Signal))
	}
	stdin, err := openStdin(cfg.Stdin)
	if err != nil {
		return nil, err
	}
	return &Runner{cfg: cfg, signal: syscall.Signal(n), signals: s, report: &reporter{to: cfg.Report}, stdin: stdin}, nil
}

// Run runs one attempt and says what came of it. The command is killed when the
// thread that started it ends, which Go's threads do only together with a
// goroutine that is locked to them: one that calls Run must never end so.
//
// A signal that asks the program to end is in Result.Cancelled if it came
// before the command had ended; one that came later comes out of
// Signals.Cancelled, where the caller has to look before it goes on. When ctx
// ends, the attempt is ended as by a timeout and Result.Err is its cause.
func (r *Runner) Run(ctx context.Context, spec attempt.Spec) attempt.Result {
	begun := time.Now()
	if err := r.Settle(false); err != nil { // only if the caller forgot
		return attempt.Result{ExitCode: exitcodes.Failure, Err: err}
	}
	a := &running{
		Runner: r, spec: spec, begun: begun,
		foreground: ForegroundTerminal(),
		hurry:      make(chan struct{}), ended: make(chan struct{}), abandon: make(chan struct{}),
	}
	a.tree = newTree(r.report, !a.foreground)
	if a.foreground {
		r.signals.Catch() // what the terminal sends has reached the command already
	}
	defer r.report.flush() // when signals count as in a wait again, so that a stuck reader can be interrupted
	r.signals.enter(a)
	defer r.signals.leave()
	a.run(ctx)
	if a.result.Duration == 0 { // it did not start
		a.result.Duration = time.Since(begun)
	}
	return a.result
}

// running is the attempt that runs.
type running struct {
	*Runner
	spec       attempt.Spec
	begun      time.Time
	foreground bool // it shares the process group that has the terminal
	tree       *tree
	streams    *streams

	mu      sync.Mutex
	pid     int                     // 0 until the command has started
	started time.Time               // just before it started
	missed  map[syscall.Signal]bool // the terminal sent it when the command was not there yet
	over    bool                    // the command itself has ended
	urged   int                     // INT and TERM so far
	ending  bool                    // the tree is being ended
	ended   chan struct{}           // closed when that is done
	hurry   chan struct{}           // closed when the tree is to be killed at once
	hurried bool
	abandon chan struct{} // closed when nobody wants the rest of the output
	left    bool          // abandon is closed
	contAt  time.Time     // when CONT came last
	expired time.Time     // when a limit began to end the tree
	passed  time.Time     // when a signal that asks for the end was passed on
	result  attempt.Result
}

func (a *running) run(ctx context.Context) {
	if !a.spec.Deadline.IsZero() && !time.Now().Before(a.spec.Deadline) {
		a.tooLate()
		return
	}
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
	if how, over := a.awaitBriefly(ctx); over {
		a.finish(how, nil)
		return
	}
	a.signals.Catch()
	stopTimers := a.arm(ctx)
	how, err := awaitEnd(a.pid, a.onStop())
	stopTimers()
	a.finish(how, err)
}

// tooLate is the result where there was no time to start. A signal that has
// come ends the program as in a wait.
func (a *running) tooLate() {
	a.signals.catchNoted()
	a.mu.Lock()
	defer a.mu.Unlock()
	if cancelled := a.result.Cancelled; cancelled != "" {
		a.notStarted(cancelled)
		return
	}
	a.over = true
	a.result = attempt.Result{DeadlinePassed: true, NotRun: true, ExitCode: exitcodes.Timeout}
}

// awaitBriefly waits as long as nothing else has to be done than to wait, and
// reports whether the command has ended by then. Timers, and other threads to
// run them, cost a short command more than its own start.
func (a *running) awaitBriefly(ctx context.Context) (ending, bool) {
	if a.foreground || ctx.Done() != nil {
		return ending{}, false
	}
	limit := catchLater
	if t := a.spec.Timeout; t > 0 {
		limit = min(limit, t)
	}
	if !a.spec.Deadline.IsZero() {
		limit = min(limit, time.Until(a.spec.Deadline))
	}
	return awaitUntil(a.pid, limit-time.Since(a.started))
}

// start starts the command, unless the program has been asked to end already,
// and reports whether it did.
func (a *running) start() (started bool) {
	if !a.foreground {
		a.signals.catchNoted()
		return a.launch()
	}
	missed := a.signals.during(func() { started = a.launch() })
	if started {
		a.passMissed(missed)
	}
	for _, sig := range missed {
		a.signals.dispatch(sig)
	}
	return started
}

// launch is start without the terminal. No signal is handed on between the look
// and the start.
func (a *running) launch() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if cancelled := a.result.Cancelled; cancelled != "" {
		a.notStarted(cancelled)
		return false
	}
	children.adopt()
	a.started = time.Now()
	pid, err := spawn(a.spec.Argv, a.spec.Env, a.streams.files(), !a.foreground)
	if asked, ok := errors.AsType[interrupted](err); ok {
		a.notStarted(nameOf(asked.by))
		return false
	}
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
	a.pid, a.tree.leader = pid, pid
	return true
}

// notStarted is the result where the program was asked to end before there was
// a command to deal with it: the signal ends the program as in a wait.
func (a *running) notStarted(cancelled attempt.Signal) {
	a.over = true
	n, _ := NumberOf(cancelled)
	a.result.Cancelled = cancelled
	a.result.Signal, a.result.ExitCode = cancelled, exitcodes.OfSignal(n)
}

// arm starts the clocks that end the attempt and returns what stops them.
func (a *running) arm(ctx context.Context) (stop func()) {
	more := forwarded()
	if a.foreground { // the terminal's stop has reached the command already, and stops the program as well
		more = slices.DeleteFunc(more, stops)
	}
	stops := []func() bool{time.AfterFunc(catchLater-time.Since(a.started), func() { a.signals.catchMore(more) }).Stop}
	if a.spec.Timeout > 0 {
		timer := time.AfterFunc(a.spec.Timeout-time.Since(a.started), func() { a.expire(&a.result.TimedOut, a.signal) })
		stops = append(stops, timer.Stop)
	}
	if !a.spec.Deadline.IsZero() {
		timer := time.AfterFunc(time.Until(a.spec.Deadline), func() { a.expire(&a.result.DeadlinePassed, a.signal) })
		stops = append(stops, timer.Stop)
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

// expire ends the attempt by sig since its time is up. A command that has ended
// by itself has not been late, whatever it left behind. One that has just been
// told to end, as by an outer retry with the same deadline, is not told again,
// but killed when it has had the time for it.
func (a *running) expire(mark *bool, sig syscall.Signal) {
	a.mu.Lock()
	if a.over || ended(a.pid) {
		a.mu.Unlock()
		return
	}
	*mark = true
	if sig != syscall.SIGKILL && time.Since(a.passed) < sameSignal {
		a.mu.Unlock()
		time.AfterFunc(a.cfg.KillAfter, func() { a.expire(mark, syscall.SIGKILL) })
		return
	}
	a.expired = time.Now()
	first := a.claim() // in one step, so that finish waits for the ending
	a.mu.Unlock()
	if first {
		a.endTree(sig)
	}
}

// end ends the whole tree, once.
func (a *running) end(sig syscall.Signal) {
	a.mu.Lock()
	first := a.claim()
	a.mu.Unlock()
	if first {
		a.endTree(sig)
	}
}

// claim reports whether nobody else ends the tree; a.mu is held.
func (a *running) claim() bool {
	first := !a.ending
	a.ending = true
	return first
}

// endTree is for who has claimed it.
func (a *running) endTree(sig syscall.Signal) {
	a.tree.end(sig, a.cfg.KillAfter, a.hurry)
	close(a.ended)
}

// fail ends the attempt since the program itself cannot go on.
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
		go a.end(a.signal)
	}
}

// readerGone asks the command to end since nobody reads its output any more.
func (a *running) readerGone() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.result.ReaderGone = true
	if !a.over {
		a.pass(a.signal)
	}
}

// finish deals with what remains after the command itself has ended, and reaps
// it last, since until then nobody else can have its pid.
func (a *running) finish(how ending, err error) {
	a.awaitTerminal(how)
	took := time.Since(a.begun) // what it leaves in a pipe is not its time
	a.mu.Lock()
	a.over = true
	a.result.Duration = took
	if err != nil && a.result.Err == nil {
		a.result.Err = fmt.Errorf("waiting for the command: %w", err)
	}
	if a.foreground && a.result.Cancelled == "" && (how.signal == syscall.SIGINT || how.signal == syscall.SIGQUIT) {
		a.result.Cancelled = nameOf(how.signal)
	}
	sweep := a.result.Cancelled != "" || a.result.ReaderGone || a.result.Err != nil
	haste := asLongAsItTakes
	switch {
	case sweep:
		haste = atOnce
	case a.result.TimedOut, a.result.DeadlinePassed:
		haste = withPatience
	}
	ending := a.ending
	a.mu.Unlock()
	if sweep && !ending {
		a.end(a.signal)
	}
	if sweep || ending {
		<-a.ended
	}
	if a.cfg.KillLeftovers {
		a.tree.note()
	}
	a.streams.drain(a.abandon, haste, a.signals.Catch)
	a.tree.reap()
	a.conclude(children.reap(a.pid))
}

// conclude fills in the result.
func (a *running) conclude(how ending) {
	a.mu.Lock()
	defer a.mu.Unlock()
	res := &a.result
	res.ExitCode = how.code
	if how.signal != 0 {
		res.Signal = nameOf(how.signal)
		res.ExitCode = exitcodes.OfSignal(int(how.signal))
	}
	if res.ExitCode == exitcodes.OfSignal(int(syscall.SIGPIPE)) && noReader(1) {
		res.ReaderGone = true
	}
	if res.TimedOut && !a.spec.Deadline.IsZero() && !time.Now().Before(a.spec.Deadline) {
		res.DeadlinePassed = true
	}
	switch {
	case res.Err != nil:
		res.ExitCode = exitcodes.Failure
	case res.TimedOut, res.DeadlinePassed:
		res.ExitCode = exitcodes.Timeout
	}
	a.Runner.left = a.tree
	a.Runner.held = a.streams.held()
}

// Settle takes the verdict on the last attempt. Held output goes to where it
// belongs if the attempt was accepted, and to standard error otherwise; what a
// rejected attempt left running is ended under KillLeftovers. The error says
// that the output could not be written; errors.Is(err, attempt.ErrReaderGone) that
// nobody reads it.
func (r *Runner) Settle(accepted bool) error {
	left, held := r.left, r.held
	r.left, r.held = nil, nil
	if left != nil && !accepted && r.cfg.KillLeftovers {
		left.end(r.signal, r.cfg.KillAfter, nil)
		r.report.flush()
	}
	if left != nil {
		r.signals.reapInWaits()
	}
	var first error
	if len(held) > 0 {
		r.signals.Catch() // nobody may read what is written
	}
	for _, h := range held {
		if err := h.release(accepted); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// Close ends the run: an attempt that was not settled counts as rejected.
func (r *Runner) Close() error {
	err := r.Settle(false)
	r.stdin.close()
	return err
}
