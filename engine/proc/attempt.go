package proc

// This file is one attempt. Its state belongs to the goroutine that calls Start and then
// Wait. Others send it messages: the signals through its inbox, the pumps through Troubles,
// the reaper and the escalation through a channel each.

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/proc/process"
	"github.com/retrysh/retry/engine/proc/signals"
	"github.com/retrysh/retry/engine/proc/stdio"
	"github.com/retrysh/retry/exitcodes"
)

// killAfterInterrupts is how many INT and TERM together kill the tree at once.
const killAfterInterrupts = 3

// running is one attempt.
type running struct {
	*Runner
	command     // the process on this system
	ctx         context.Context
	spec        attempt.Spec
	getsSignals bool // the signals that reach the program are the command's
	inbox       *signals.Inbox
	streams     *stdio.Streams
	begun       time.Time
	result      attempt.Result

	started    time.Time // just before the command was started
	launched   bool      // it was started
	over       bool      // the command itself has ended
	interrupts int       // INT and TERM so far
	expired    time.Time // when a limit began to end the tree
	passed     time.Time // when a signal that asks for the end was forwarded
	late       bool      // a signal asked for the end after that of the command
	dropped    error     // output was dropped, since its reader was given up

	grace     time.Duration   // from the first signal to the tree until KILL
	escalated chan struct{}   // closed when the tree has been ended; nil before that begins
	killNow   <-chan struct{} // closed by skipGrace
	skipGrace func()          // kills the tree at once, if it is being ended or when it will be

	moved <-chan struct{} // the state of the command may have changed
	due   chan func()     // is called by handle
	ended chan struct{}   // closed when no more is due
}

// Start starts one attempt, any number at a time. The command is killed when the thread
// that started it ends, so a goroutine that calls Start must not end locked to its thread.
func (r *Runner) Start(ctx context.Context, spec attempt.Spec) attempt.Attempt {
	a := r.enter(ctx, spec)
	a.start()
	return a
}

// enter makes an attempt that gets signals from now on.
func (r *Runner) enter(ctx context.Context, spec attempt.Spec) *running {
	getsSignals := spec.Streams == attempt.Configured || spec.Streams == attempt.Held
	now, skipGrace := context.WithCancel(context.Background())
	a := &running{
		Runner:      r,
		ctx:         ctx,
		spec:        spec,
		begun:       time.Now(),
		grace:       r.cfg.KillAfter,
		streams:     new(stdio.Streams),
		getsSignals: getsSignals,
		inbox:       signals.NewInbox(getsSignals),
		killNow:     now.Done(),
		skipGrace:   skipGrace,
		due:         make(chan func()),
		ended:       make(chan struct{}),
	}
	a.prepare(spec.Streams == attempt.Configured)
	a.result.Cancelled = r.signals.Enter(a.inbox, spec.Copy)
	return a
}

// start starts the command before the deadline.
func (a *running) start() {
	if d := a.spec.Deadline; !d.IsZero() && !time.Now().Before(d) {
		// A signal that has arrived ends the program as in a wait.
		if !a.endsBeforeStart() {
			a.result = attempt.Result{DeadlinePassed: true, NotRun: true, ExitCode: exitcodes.Timeout}
		}
		return
	}
	streams, err := stdio.Open(a.stdin, a.plan())
	if err != nil {
		a.result = attempt.Result{ExitCode: exitcodes.Failure, Err: err}
		return
	}
	a.streams = streams
	if len(streams.Pumps) == 0 {
		a.cfg.Line.End() // what it writes is not seen
	}
	if err := streams.NoTerminal; err != nil {
		a.detail.say("no pseudo-terminal (" + err.Error() + "): output is read through a pipe")
	}
	if a.launched = a.launch(); a.launched {
		streams.Start()
	} else {
		streams.Close()
	}
}

// plan says where the streams of the attempt lead.
func (a *running) plan() stdio.Plan {
	p := stdio.Plan{
		Spec: &a.spec, In: a.cfg.Stdin, Out: a.cfg.Stdout, Err: a.cfg.Stderr, OutTo: 1, Question: a.probe,
		Line: a.cfg.Line,
	}
	switch a.spec.Streams {
	case attempt.Held:
		p.Out, p.Err = holding(p.Out), holding(p.Err)
	case attempt.Aside:
		p.In = stdio.Null
		p.Out, p.Err = stdio.Stream, stdio.Stream
		p.OutTo = 2
	case attempt.Instead:
		p.In = stdio.Null
		p.Out, p.Err = stdio.Stream, stdio.Stream
	}
	return p
}

// holding is a mode that holds output back.
func holding(mode stdio.OutputMode) stdio.OutputMode {
	if mode == stdio.Stream {
		return stdio.Hold
	}
	return mode
}

// endsBeforeStart handles signals that have arrived, and reports whether one asks for the
// end.
func (a *running) endsBeforeStart() bool {
	a.handleSignals()
	if a.result.Cancelled == "" {
		return false
	}
	a.notStarted(a.result.Cancelled)
	return true
}

// notStarted is the result if a signal asked for the end before there was a command: it
// ends the program as in a wait.
func (a *running) notStarted(by attempt.Signal) {
	a.result.Cancelled = by
	a.result.Signal = by
	a.result.ExitCode = signals.ExitCode(by)
}

// fork starts the command, unless a signal has asked for the end, and reports whether it
// did. A signal that arrives meanwhile stays in the inbox.
func (a *running) fork() bool {
	if a.endsBeforeStart() {
		return false
	}
	a.started = time.Now()
	err := a.Tree.Start(a.spec.Argv, a.spec.Env, a.streams.Files, a.spec.Inherit)
	a.result.ExitCode = exitcodes.Of(err)
	if a.result.ExitCode == exitcodes.Failure {
		a.result.Err = err
	} else {
		a.result.StartErr = err
	}
	return err == nil
}

// Wait returns the result. A signal that asks for the end is in Result.Cancelled if it came
// before the end of the command; a later one is in Signals.Cancelled, which the caller has
// to read before it continues.
func (a *running) Wait() attempt.Result {
	if a.launched {
		if !a.awaitBriefly() {
			a.arm()
			a.handle(nil, a.look)
		}
		a.finish()
	} else {
		a.result.Duration = time.Since(a.begun)
	}
	close(a.ended)
	a.signals.Leave(a.inbox)
	a.detail.flush()
	a.warning.flush() // after Leave, so that a signal ends the program if the reader blocks
	return a.result
}

// awaitBriefly waits while nothing else is to be done, and reports whether the command has
// ended. Timers and the threads that run them cost more than the start of a short command.
// In the foreground the terminal may send signals.
func (a *running) awaitBriefly() bool {
	left := time.Until(a.started.Add(signals.ForwardingDelay))
	for _, l := range a.limits() {
		left = min(left, time.Until(l.at))
	}
	return left > 0 && !a.foreground && a.ctx.Err() == nil && a.AwaitUntil(left)
}

// timeLimit is when an attempt comes to a limit, and what is to be done then.
type timeLimit struct {
	at time.Time
	do func()
}

// limits are those of the attempt.
func (a *running) limits() (all []timeLimit) {
	if d := a.spec.Timeout; d != 0 {
		all = append(all, timeLimit{a.started.Add(d), func() { a.expire(&a.result.TimedOut, a.signal) }})
	}
	if d := a.spec.IdleTimeout; d != 0 {
		all = append(all, timeLimit{a.started.Add(d), a.checkIdle})
	}
	if d := a.spec.Deadline; !d.IsZero() {
		all = append(all, timeLimit{d, func() { a.expire(&a.result.DeadlinePassed, a.signal) }})
	}
	return all
}

// arm sets the alarms of the limits.
func (a *running) arm() {
	a.moved = a.Moved()
	onChannel(a, a.ctx.Done(), a.contextEnded)
	if a.getsSignals {
		a.onTime(a.started.Add(signals.ForwardingDelay), a.catchMore)
	}
	for _, l := range a.limits() {
		a.onTime(l.at, l.do)
	}
}

// onChannel has the attempt's goroutine call f when c is closed or has a value.
func onChannel[T any](a *running, c <-chan T, f func()) {
	go func() {
		select {
		case <-c:
		case <-a.ended:
			return
		}
		select {
		case a.due <- f:
		case <-a.ended:
		}
	}()
}

func (a *running) onTime(t time.Time, f func()) { a.onTimer(time.Until(t), f) }

func (a *running) onTimer(d time.Duration, f func()) { onChannel(a, time.After(d), f) }

// handle handles messages until finished returns true or done is closed. The attempt waits
// nowhere else.
func (a *running) handle(done <-chan struct{}, finished func() bool) {
	for !finished() {
		select {
		case <-done:
			return
		case <-a.moved:
		case <-a.inbox.Arrived:
			a.handleSignals()
		case err := <-a.streams.Troubles:
			a.troubled(err)
		case f := <-a.due:
			f()
		}
	}
}

// expire ends the attempt by sig at a limit, unless the command has ended. One that has
// just got such a signal, as from an outer retry with the same deadline, does not get it
// twice, and is killed after the grace.
func (a *running) expire(mark *bool, sig syscall.Signal) {
	if a.HasEnded() {
		return
	}
	*mark = true
	if sig != syscall.SIGKILL && time.Since(a.passed) < signals.Same {
		a.onTimer(a.grace, func() { a.expire(mark, syscall.SIGKILL) })
		return
	}
	a.expired = time.Now()
	a.escalate(sig)
}

// checkIdle ends an attempt that has written nothing for too long, unless its output waits
// for a reader.
func (a *running) checkIdle() {
	due := a.streams.LastByte(a.started).Add(a.spec.IdleTimeout)
	if time.Now().Before(due) {
		a.onTime(due, a.checkIdle)
		return
	}
	a.expire(&a.result.Idle, a.signal)
	a.result.TimedOut = a.result.TimedOut || a.result.Idle
}

// escalate ends the whole tree, once: by sig, and by KILL after the grace. The tree belongs
// to its goroutine until then.
func (a *running) escalate(sig syscall.Signal) {
	if a.escalated != nil {
		return
	}
	done := make(chan struct{})
	grace := a.grace
	a.escalated = done
	go func() {
		defer close(done)
		a.End(sig, grace, a.killNow)
	}()
}

func (a *running) troubled(err error) {
	switch {
	case err == attempt.ErrReaderGone:
		a.result.ReaderGone = true
		if !a.over {
			a.pass(a.signal) // as a cancel does
		}
	case a.result.Err == nil: // the program itself cannot go on
		a.result.Err = err
		if !a.over {
			a.escalate(a.signal)
		}
	}
}

// contextEnded ends the attempt after its context.
func (a *running) contextEnded() {
	if a.HasEnded() {
		return
	}
	cause := context.Cause(a.ctx)
	switch {
	case a.probe:
		a.result.TimedOut = true
		signals.Ending.Add(1)
		if a.escalated == nil {
			a.Remember() // a process that left the group is not found after the leader's end
		}
		if errors.Is(a.ctx.Err(), context.Canceled) {
			a.grace = cancelGrace
		}
	case a.result.Err == nil && !errors.Is(cause, attempt.ErrLost):
		a.result.Err = cause
	}
	if a.spec.KillAtOnce {
		a.killAtOnce()
	} else {
		a.escalate(a.signal)
	}
}

func (a *running) killAtOnce() {
	a.skipGrace()
	a.escalate(syscall.SIGKILL)
}

func (a *running) handleSignals() { a.signals.Handle(a.inbox, a.handleSignal) }

// handleSignal handles one signal, and reports whether it was the attempt's: one after the
// end of the command is not. But the terminal signals command and program at once, and the
// command may end before the program gets the signal (endedInForeground).
func (a *running) handleSignal(sig syscall.Signal) bool {
	switch {
	case a.over || !a.foreground && a.launched && a.HasEnded():
		return a.handleLateSignal(sig)
	case signals.Ends(sig):
		a.cancel(sig)
	case a.launched:
		a.forward(sig)
	}
	return true
}

// cancel notes that a signal asked for the end, and forwards it once.
func (a *running) cancel(sig syscall.Signal) {
	a.result.CancelledAgain = a.result.Cancelled != ""
	if !a.result.CancelledAgain {
		a.result.Cancelled = signals.NameOf(sig)
	}
	if a.launched {
		sent := sig == a.signal && time.Since(a.expired) < signals.Same // by a limit, which an outer retry has as well
		a.passCancel(sig, sent)
		a.countInterrupt(sig)
	}
}

// countInterrupt kills the tree at the third INT or TERM.
func (a *running) countInterrupt(sig syscall.Signal) {
	if sig != syscall.SIGINT && sig != syscall.SIGTERM {
		return
	}
	if a.interrupts++; a.interrupts >= killAfterInterrupts {
		a.killAtOnce()
	}
}

// handleLateSignal handles a signal after the end of the command, while its tree is ended
// or its output read.
func (a *running) handleLateSignal(sig syscall.Signal) bool {
	if !signals.Ends(sig) {
		return false
	}
	a.late = true
	if a.result.Cancelled == "" {
		a.skipGrace()
		return false
	}
	a.result.CancelledAgain = true
	a.countInterrupt(sig)
	return true
}

// finish ends the tree and the output after the end of the command, and reaps the command
// last: until then no other process can have its pid, and the goroutine of escalate may
// signal it.
func (a *running) finish() {
	if a.foreground {
		a.endedInForeground()
	}
	a.over = true
	a.moved = nil
	a.result.Duration = time.Since(a.begun) // what it leaves in a pipe is not its time
	unwanted := a.result.ReaderGone || a.result.Err != nil
	if unwanted || a.result.Cancelled != "" {
		a.escalate(a.signal)
	}
	if a.escalated != nil {
		a.handle(a.escalated, func() bool { return false })
	}
	if a.endsLeftovers() {
		a.Remember() // Settle will need it
	}
	a.drain(unwanted || errors.Is(context.Cause(a.ctx), attempt.ErrLost) || a.probe && a.result.TimedOut)
	a.conclude(a.Reap())
	a.leaveTerminal()
}

// drain waits for the rest of the output: all that was in the pipes at the end of the
// command, and what orphans write within stdio.Drain. Unwanted output has only that time.
// After a limit, and if the run ends, it does not wait for a reader that takes nothing.
func (a *running) drain(unwanted bool) {
	if !a.streams.Finish() {
		return
	}
	timeUp := false
	if unwanted {
		a.onTimer(stdio.Drain, func() { timeUp = true })
	}
	for _, p := range a.streams.Pumps {
		r := &reader{output: p}
		if !unwanted {
			a.watch(r)
		}
		a.handle(p.Done, func() bool { return timeUp || r.stuck || r.hasAll })
		p.Drop()
		if r.stuck {
			a.dropped = fmt.Errorf("%s: %w", p.Doing(), stdio.ErrStuck)
		}
	}
	a.streams.Release()
	a.lastTroubles()
}

// lastTroubles takes the errors that have not been taken while the attempt waited.
func (a *running) lastTroubles() {
	for len(a.streams.Troubles) > 0 {
		a.troubled(<-a.streams.Troubles)
	}
}

func (a *running) conclude(how process.Ending) {
	res := &a.result
	if how.Err != nil && res.Err == nil {
		res.Err = fmt.Errorf("waiting for the command: %w", how.Err)
	}
	res.ExitCode = how.Code
	if how.Signal != 0 {
		res.Signal = signals.NameOf(how.Signal)
		res.ExitCode = exitcodes.OfSignal(int(how.Signal))
	}
	if how.Signal == syscall.SIGKILL && !res.TimedOut && !res.DeadlinePassed && res.Cancelled == "" && !a.probe {
		res.OOMKills = a.oomKills()
	}
	if res.ExitCode == exitcodes.OfSignal(int(syscall.SIGPIPE)) && !a.probe && a.noReader() {
		res.ReaderGone = true
	}
	if res.TimedOut && !a.spec.Deadline.IsZero() && !time.Now().Before(a.spec.Deadline) {
		res.DeadlinePassed = true
	}
	if res.TimedOut || res.DeadlinePassed {
		res.ExitCode = exitcodes.Timeout
	}
	res.Err = a.asError(res.Err, a.dropped)
	if res.Err != nil {
		res.ExitCode = exitcodes.Failure
	}
}

// asError returns the error of a result that is known, and otherwise dropped for an attempt
// that would have ended with 0. It tells of any other.
func (a *running) asError(known, dropped error) error {
	switch {
	case known != nil || dropped == nil:
		return known
	case a.result.ExitCode == exitcodes.OK:
		return dropped
	}
	a.warning.say(dropped.Error())
	return nil
}

// Settle writes held output to its destination, or to standard error unless the run
// succeeds with the attempt. With KillLeftovers it ends the processes of a rejected one.
func (a *running) Settle(released bool) error {
	a.endLeftovers(released)
	if k := a.streams.Kept(); k != nil {
		a.Keep(&kept{a.Runner, k})
	}
	signals.Ending.Add(1)
	defer signals.Ending.Add(-1)
	err := a.streams.Settle(released, a.signals.IsEnding)
	if !errors.Is(err, stdio.ErrStuck) {
		return err
	}
	a.signals.DieOfPending()
	return a.asError(nil, err)
}

// Drop is Settle(false) without the output.
func (a *running) Drop() {
	a.endLeftovers(false)
	a.streams.Drop()
}

// endsLeftovers reports whether what the attempt leaves running is ended if it is rejected. A
// hook may leave what it likes.
func (a *running) endsLeftovers() bool { return a.launched && a.getsSignals && a.cfg.KillLeftovers }

// endLeftovers ends what a rejected attempt left running, with KillLeftovers, and disposes
// of the process.
func (a *running) endLeftovers(released bool) {
	if !released && a.endsLeftovers() {
		a.End(a.signal, a.grace, nil)
		a.warning.flush()
	}
	a.dispose()
}
