package proc

// This file gives up the readers of the output that take nothing after the end of the command.

import (
	"time"

	"github.com/retrysh/retry/engine/proc/stdio"
)

// readerGrace is how long the reader of the output may take nothing after a time limit has
// ended the attempt. If the run ends with it, that is stdio.Patience.
const readerGrace = 2 * time.Second

// readerLook is the interval between two looks at what a reader has taken.
const readerLook = 10 * time.Millisecond

// reader is the reader of one output, after the end of the command.
type reader struct {
	output
	taken  int64         // bytes
	waited time.Duration // while it took nothing, counted in looks as stdio.Patience is
	idle   int           // looks that found nothing to pass on
	stuck  bool          // it has taken nothing for longer than it may
	hasAll bool          // what the command itself has written, when that is enough
}

// output is what a look shows of a stdio.Pump.
type output interface {
	Taken() int64
	IsWriting() bool
	IsIdle() bool
}

// look notes what the reader has taken since the last look, readerLook ago or more, and
// reports whether it is waited for no longer. patience is how long it may take nothing, 0 for
// no limit. late says that a signal has asked for the end after that of the command.
func (r *reader) look(patience time.Duration, late bool) (over bool) {
	r.waited += readerLook
	switch taken := r.Taken(); {
	case patience == 0, taken != r.taken, !r.IsWriting():
		r.taken, r.waited = taken, 0
	case r.waited >= patience:
		r.stuck = true
	}
	r.idle++
	if !r.IsIdle() {
		r.idle = 0
	}
	r.hasAll = late && r.idle > 1 // twice: on Windows the pump may just have read it
	return r.stuck || r.hasAll
}

// watch looks at a reader again and again.
func (a *running) watch(r *reader) {
	a.onTimer(readerLook, func() {
		if !r.look(a.patience(), a.late) {
			a.watch(r)
		}
	})
}

// patience is how long the reader of the output may take nothing, 0 for no limit.
func (a *running) patience() time.Duration {
	d := a.spec.Deadline
	switch {
	case a.result.Cancelled != "", a.late, a.result.DeadlinePassed, !d.IsZero() && !time.Now().Before(d):
		return stdio.Patience
	case a.result.TimedOut:
		return readerGrace
	}
	return 0
}
