// Package proc runs attempts as processes: any number at a time, each a handle whose state
// belongs to one goroutine. A command behaves as without the program: it has the program's
// own descriptors if the bytes are not needed, and gets the signals that reach the program.
// Only a timeout, the deadline or a cancel adds to that.
//
// Descendants that left the command's process group are found through /proc and a child
// subreaper; on systems without these only the process group is ended.
//
// The packages below it import one way: signals; stdio; process over stdio; this one over
// all.
//
// # Locks
//
// State that goroutines share has one owner, which takes messages, or a lock that is a
// leaf: under it only system calls are made, and channels are sent to that never block. These
// are that of package process, Signals.mu, and a spool's and a pump's in stdio; under the
// pump's its second writer is called. The only order: the lock under which signals are added
// in package signals comes before Signals.mu.
package proc

import (
	"cmp"
	"context"
	"io"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/proc/process"
	"github.com/retrysh/retry/engine/proc/signals"
	"github.com/retrysh/retry/engine/proc/stdio"
	"github.com/retrysh/retry/exitcodes"
)

// Config says how every attempt of a run is started and ended.
type Config struct {
	Stdin          stdio.InputMode
	Stdout, Stderr stdio.OutputMode
	Signal         attempt.Signal // ends an attempt, one of this system's; "" is SIGTERM
	KillAfter      time.Duration  // from Signal to SIGKILL
	KillLeftovers  bool           // ends what a failed attempt left running
	SignalGroup    bool           // signals are passed to the command's process group, not to it alone
	// Line, if not nil, is told how the output ends that is passed on.
	Line *stdio.Line
	// Warn, if not nil, takes a line for the user, that a process may not be signalled, at
	// most once in a run and from any goroutine; Detail that there is no pseudo-terminal.
	Warn, Detail func(string)
}

// Runner runs the attempts of one run, any number at a time.
type Runner struct {
	cfg     Config
	signal  syscall.Signal
	signals *Signals
	warning *reporter
	detail  *reporter
	stdin   *stdio.Input
	probe   bool // the time limit of its attempts is the context
	console console
	kept    attempt.Kept // nil for none

	// oomKills and noReader ask the kernel what the status of a command does not say.
	oomKills func() int
	noReader func() bool
}

// New prepares a run.
func New(cfg Config, s *Signals) *Runner {
	n, _ := signals.NumberOf(cmp.Or(cfg.Signal, "SIGTERM"))
	return &Runner{
		cfg: cfg, signal: syscall.Signal(n), signals: s, stdin: stdio.OpenInput(cfg.Stdin),
		warning: &reporter{to: cfg.Warn}, detail: &reporter{to: cfg.Detail},
		oomKills: process.OOMKills, noReader: stdio.NoReader,
	}
}

// Input returns the whole standard input that attempts replay, which it reads until ctx is
// done. Call it when none runs.
func (r *Runner) Input(ctx context.Context) (io.Reader, error) { return r.stdin.All(ctx) }

// What a probe gets between TERM and KILL: one that is out of time, and one that is
// cancelled, since the program itself is then expected to be gone within 50 ms.
const (
	probeGrace  = 100 * time.Millisecond
	cancelGrace = 10 * time.Millisecond
)

// Alive reports whether a process lives. One that is dead and not yet reaped does not.
func Alive(pid int) bool { return process.Alive(pid) }

// Probe runs argv, which only answers a question, in a process group of its own, without
// input, and with both its outputs going to output. When ctx ends its whole tree is ended,
// and the result counts as timed out; a cancelled ctx leaves it less time for that than one
// whose deadline has passed. Any number of probes may run at once. The program does not
// become a subreaper for it.
func Probe(ctx context.Context, argv, env []string, output io.Writer) attempt.Result {
	if ctx.Err() != nil {
		return attempt.Result{TimedOut: true, ExitCode: exitcodes.Timeout}
	}
	r := New(Config{KillAfter: probeGrace}, signals.New())
	r.probe = true
	a := r.Start(ctx, attempt.Spec{Argv: argv, Env: env, Stdout: output, Streams: attempt.Instead})
	result := a.Wait()
	if result.TimedOut {
		signals.Ending.Add(-1)
	}
	_ = a.Settle(true) // nothing is held
	return result
}

// Busy keeps a signal that has asked for the end from ending the program as one that is
// stuck, until done is called.
func Busy() (done func()) {
	signals.Ending.Add(1)
	return func() { signals.Ending.Add(-1) }
}

// reporter writes the first line for the user on a goroutine of its own and without a lock:
// the caller may handle a signal, and the write may block or call the signal code.
type reporter struct {
	to      func(string)
	written atomic.Pointer[chan struct{}] // closed when the line has been; nil before there is one
}

func (r *reporter) say(line string) {
	written := make(chan struct{})
	if r.to == nil || !r.written.CompareAndSwap(nil, &written) {
		return
	}
	go func() {
		defer close(written)
		r.to(line)
	}()
}

// flush returns when the line has been written.
func (r *reporter) flush() {
	if written := r.written.Load(); written != nil {
		<-*written
	}
}
