// Package probe checks whether a target of --wait-for is ready: a
// port that accepts, an address that answers, a socket, a file, a name, a
// database that takes connections, a command that succeeds.
//
// A Probe runs like any other attempt, so the engine's loop does the waiting. A try
// ends within its limits whatever the other side does (a black hole, a peer
// that sends nothing, one that sends a byte a second), and at once when its
// context ends.
//
// It connects to the target itself: the environment's proxies are not used. It never logs
// in to a database: it says what a client says first, and judges the answer.
package probe

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"os"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/exitcodes"
)

// Limit is how long one try lasts at most (docs/targets.md). It also
// holds if Spec.Timeout is 0 or greater than it.
const Limit = 3 * time.Second

// Exec runs a command for an exec: target. It ends the command and all that
// the command started when ctx ends, gives output what the command writes to
// its standard error (or to both streams), and returns after the last write.
type Exec func(ctx context.Context, argv []string, output io.Writer) attempt.Result

// Probe tries one target. It is for one loop: tries of the same Probe must not
// overlap, those of different Probes may.
type Probe struct {
	target   *Target
	exec     Exec
	resolver *net.Resolver
	longest  time.Duration // of a try
	// Alive reports whether a process lives, for a pid: target.
	Alive   func(pid int) bool
	roots   *x509.CertPool // nil: the system's, SSL_CERT_FILE and SSL_CERT_DIR
	note    string         // what the last complete try found
	stat    chan error     // a look at a file that has not come back yet
	missing string         // what the try under way waits for
	result  attempt.Result // of its exec: target's command
	// Gone makes a try succeed when the target is not ready: refused, closed, not found,
	// or an answer that says so. A try that finds the target ready fails, even if its
	// time is over by then. One that ran into a limit, or that could not look (no network,
	// no descriptor, no process), fails too. The Note of a success says why it is not ready.
	Gone bool
}

// New returns a probe of t. exec may be nil if t is not an exec: target.
func New(t *Target, exec Exec) *Probe {
	return &Probe{target: t, exec: exec, resolver: newResolver(), longest: Limit}
}

// check is what one kind of target does in one try; nil means ready.
type check interface {
	run(ctx context.Context, p *Probe) error
}

// Run tries the target once, within spec.Timeout (at most Limit), spec.Deadline and
// that of ctx; the rest of spec is not used. ExitCode is 0 if the target
// is ready, 1 if it is not, and 124 if the time ran out. Note is the
// reason in one short line that stays the same as long as the reason does: no
// local ports, no times of day. The Note of a try that the deadline, or the end of
// ctx, cut short is that of the try before, if there was one.
func (p *Probe) Run(ctx context.Context, spec attempt.Spec) attempt.Result {
	start := time.Now()
	limit := min(cmp.Or(spec.Timeout, p.longest), p.longest)
	end, deadline := start.Add(limit), spec.Deadline
	if d, ok := ctx.Deadline(); ok && (deadline.IsZero() || d.Before(deadline)) {
		deadline = d
	}
	last := !deadline.IsZero() && deadline.Before(end)
	if last {
		end = deadline
	}
	limited, cancel := context.WithDeadline(ctx, end)
	defer cancel()

	p.missing = "no answer"
	p.result = attempt.Result{}
	err := limited.Err()
	if err == nil {
		err = p.target.check.run(limited, p)
	}
	now := time.Now()
	// The network's own timers may be ahead of the context's.
	late := !now.Before(end) || errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded)
	result := attempt.Result{Duration: now.Sub(start), Err: p.result.Err, Cancelled: p.result.Cancelled}
	switch {
	case err == nil && p.Gone:
		p.note = "still ready"
	case err == nil:
		p.note = ""
		return result
	case errors.Is(ctx.Err(), context.Canceled):
		result.Note = cmp.Or(p.note, "interrupted")
	case late && last:
		result.DeadlinePassed = true
		result.Note = cmp.Or(p.note, p.missing+" in time")
	case late:
		result.TimedOut = true
		p.note = p.missing + " within " + limit.String()
	case p.Gone && !p.couldNotLook(err):
		p.note = ""
		result.Note = noteOf(err)
		return result
	default:
		p.note = noteOf(err)
	}
	result.ExitCode = exitcodes.Rejected
	result.Note = cmp.Or(result.Note, p.note)
	if result.TimedOut || result.DeadlinePassed {
		result.ExitCode = exitcodes.Timeout
	}
	return result
}

// couldNotLook reports whether the error of a try says nothing about the target:
// this machine lacks what the try takes, a name server did not answer, or an exec:
// target's command was not run, was not found, or was ended from outside.
func (p *Probe) couldNotLook(err error) bool {
	r := p.result
	if r.Err != nil || r.StartErr != nil || r.Cancelled != "" || r.TimedOut || r.DeadlinePassed || r.Signal != "" ||
		r.ExitCode == exitcodes.NotExecutable || r.ExitCode == exitcodes.NotFound {
		return true
	}
	if name, ok := errors.AsType[*net.DNSError](err); ok {
		return !name.IsNotFound
	}
	network, ok := errors.AsType[net.Error](err)
	return isOurs(err) || ok && network.Timeout()
}

// Start prepares one try, as the engine's loop wants it.
func (p *Probe) Start(ctx context.Context, spec attempt.Spec) attempt.Attempt {
	return attempt.Call(func() attempt.Result { return p.Run(ctx, spec) })
}
