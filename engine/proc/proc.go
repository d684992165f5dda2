// Package proc runs attempts as real processes: any number at a time, each a handle
// whose state belongs to one goroutine. The rule behind it is that what would happen
// without the program happens with it: the command has the program's own
// descriptors wherever the bytes are not needed, the signals that reach the program
// reach the command, and only a timeout, the deadline or a cancel adds anything.
//
// It judges nothing and never retries. Descendants that left the command's process
// group are found through /proc and a child subreaper, so on systems without these
// only the process group is ended.
//
// The packages below it import one way: table, reap, tree; note, signals; stdio; spawn
// over reap, signals and stdio; this one over all.
//
// # Locks
//
// What several goroutines share has one owner, which takes messages, or a lock that
// is a leaf: while it is held, system calls are made and package note is called,
// channels are sent to that never block, and nothing is reported. These are
// the reporter's here, reap's, tree's list of trees, Signals.mu, and a spool's and
// a pump's in stdio; the pump's is held while its second writer is called, which imports
// no package of ours. The only order: the lock under which signals are added in
// package signals comes before Signals.mu.
package proc

import (
	"context"
	"fmt"
	"io"
	"sync"
	"syscall"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/proc/signals"
	"github.com/retrysh/retry/engine/proc/stdio"
)

// The ways to connect a command's streams.
type (
	StdinMode  = stdio.InputMode
	OutputMode = stdio.OutputMode
)

// The modes of standard input, and of standard output and standard error.
const (
	Inherit = stdio.Inherit
	Replay  = stdio.Replay
	Null    = stdio.Null
	Stream  = stdio.Stream
	Hold    = stdio.Hold
)

// Config says how every attempt of a run is started and ended.
type Config struct {
	Stdin          StdinMode
	Stdout, Stderr OutputMode
	// Signal asks an attempt to end; "" is SIGTERM.
	Signal attempt.Signal
	// KillAfter is how long after Signal what still lives gets SIGKILL; 0 is
	// right after it.
	KillAfter time.Duration
	// KillLeftovers ends what a failed attempt left running.
	KillLeftovers bool
	// Report takes one plain line for the user, that a process may not be signalled,
	// at most once in a run; nil drops it. It may be called from any goroutine.
	Report func(string)
	// Note is Report for what is no trouble: that there is no pseudo-terminal.
	Note func(string)
}

// Runner runs the attempts of one run, any number at a time.
type Runner struct {
	cfg     Config
	signal  syscall.Signal
	signals *Signals
	report  *reporter
	notes   *reporter
	stdin   *stdio.Input
}

// New prepares a run. The error says which part of cfg this system cannot do.
func New(cfg Config, s *Signals) (*Runner, error) {
	if cfg.Signal == "" {
		cfg.Signal = "SIGTERM"
	}
	n, ok := signals.NumberOf(cfg.Signal)
	if !ok {
		return nil, fmt.Errorf("this system has no signal %q", string(cfg.Signal))
	}
	return &Runner{
		cfg: cfg, signal: syscall.Signal(n), signals: s, stdin: stdio.OpenInput(cfg.Stdin),
		report: &reporter{to: cfg.Report}, notes: &reporter{to: cfg.Note},
	}, nil
}

// Input returns all of a standard input that attempts replay, from its first byte:
// what none of them has read is read now, until ctx is done. It is nil where
// attempts replay nothing. Call it when none runs.
func (r *Runner) Input(ctx context.Context) (io.Reader, error) { return r.stdin.All(ctx) }

// ErrUnended says that standard input has not ended in time.
var ErrUnended = stdio.ErrUnended

// reporter writes one line for the user, the first, on a goroutine of its own and
// without a lock: its caller may be handling a signal, and the write may block on its
// reader or lead back into the signal code.
type reporter struct {
	to func(string)

	mu      sync.Mutex    // a leaf: nothing is called while it is held
	written chan struct{} // closed when the line has been; nil before there is one
}

func (r *reporter) say(line string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.to == nil || r.written != nil {
		return
	}
	written := make(chan struct{})
	r.written = written
	go func() {
		defer close(written)
		r.to(line)
	}()
}

// flush returns when what was said has been written.
func (r *reporter) flush() {
	r.mu.Lock()
	written := r.written
	r.mu.Unlock()
	if written != nil {
		<-written
	}
}
