package registry

// This file writes the record of this process's run: two slots (package lockedfile)
// with what changes, and behind them what does not. Both are JSON objects with fields of
// Run, by text.JSON: the first json.Marshal of a process takes longer than a registration.

import (
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/lockedfile"
	"github.com/retrysh/retry/engine/text"
)

var magic = lockedfile.Magic{'r', 'e', 't', 'r', 'y', ' ', 'r', '1'}

const (
	// A slot holds so many attempts with reasons of so many bytes.
	mostAttempts   = 32
	slotSize       = 16 << 10
	longestReason  = 200
	longestCommand = 64 << 10 // what is kept of it, in bytes
)

// Record is the record of this process's run, a sink of the engine. It touches
// nothing before the first retry of a run without a name.
type Record struct {
	Places  func() []Place    // the first that can be used is taken
	Named   bool              // the run is registered from its start
	Targets int               // that are waited for before attempt 1
	Note    func(line string) // is called once, where the run cannot be registered

	on       bool // the run is to be registered
	run      *event.RunStarted
	status   Status
	attempt  int
	next     time.Time     // of the attempt after a wait of known length
	delay    time.Duration // that length
	attempts []past
	failed   *event.AttemptFinished // the last failure
	copy     *event.AttemptFinished // of a hedged attempt, which may continue

	file     *lockedfile.File // nil where there is none
	path     string
	sequence uint64
	noted    bool
	mark     atomic.Pointer[string]
}

// past is an attempt that has begun. ended is nil while it runs.
type past struct {
	begun *event.AttemptStarted
	ended *event.AttemptFinished
}

// Emit brings the record up to date.
func (r *Record) Emit(ev event.Event) {
	now := ev.Head().Time
	switch e := ev.(type) {
	case *event.RunStarted:
		r.run, r.attempt, r.on = e, e.Attempt, r.Named
		status := Waiting
		if r.Targets > 0 {
			status = Pending
		}
		r.change(status)
	case *event.TargetReady:
		if r.Targets--; r.Targets == 0 {
			r.change(Waiting)
		}
	case *event.InitialWait:
		r.wait(now, e.Wait)
	case *event.InitialWaited, *event.RetryWaited:
		r.change(Waiting)
	case *event.RetryScheduled:
		r.finish(r.copy)
		r.on = true
		r.wait(now, e.Jittered)
	case *event.AttemptStarted:
		r.begin(e)
	case *event.AttemptFinished:
		if e.Hedged && !e.Success {
			r.copy = e
			return
		}
		r.finish(e)
		r.change(Running)
	case *event.RunFinished:
		r.remove()
	}
}

func (r *Record) wait(now time.Time, d time.Duration) {
	r.status, r.next, r.delay = Waiting, now.Add(d), d
	r.write()
}

func (r *Record) change(status Status) {
	r.status, r.next = status, time.Time{}
	r.write()
}

func (r *Record) begin(e *event.AttemptStarted) {
	if n := len(r.attempts); n > 0 && r.attempts[n-1].begun.Attempt == e.Attempt {
		return // another copy
	}
	if len(r.attempts) == mostAttempts {
		r.attempts = r.attempts[:copy(r.attempts, r.attempts[1:])]
	}
	r.attempts = append(r.attempts, past{begun: e})
	r.attempt = e.Attempt
	r.on = r.on || e.Attempt > 1
	r.change(Running)
}

// finish records the end of an attempt, nil for none.
func (r *Record) finish(e *event.AttemptFinished) {
	r.copy = nil
	if e == nil || len(r.attempts) == 0 {
		return
	}
	r.attempts[len(r.attempts)-1].ended = e
	if !e.Success {
		r.failed = e
	}
}

// state is what changes, as a slot.
func (r *Record) state() []byte {
	o := text.JSON{B: make([]byte, lockedfile.HeadSize, 4<<10)}
	o.Open("", '{')
	o.String("status", string(r.status))
	o.Number("attempt", float64(r.attempt))
	if !r.next.IsZero() {
		o.Time("next_attempt_at", r.next)
		o.Number("next_delay_ms", text.Milliseconds(r.delay))
	}
	if f := r.failed; f != nil {
		o.Number("last_exit", float64(f.Result.ExitCode))
		o.String("last_reason", cut(text.Masked(f.Reason), 5*longestReason))
		o.String("verdict", string(f.Verdict))
		if f.Rule != "" {
			o.String("rule", cut(f.Rule, longestReason))
		}
	}
	o.Open("attempts", '[')
	for _, p := range r.attempts {
		o.Open("", '{')
		o.Number("attempt", float64(p.begun.Attempt))
		o.Time("started_at", p.begun.Time)
		if e := p.ended; e != nil {
			o.Time("ended_at", e.Time)
			o.Number("exit_code", float64(e.Result.ExitCode))
			o.String("reason", cut(text.Masked(e.Reason), longestReason))
		}
		o.Close('}')
	}
	o.Close(']')
	o.Close('}')
	return o.B
}

// rest is what does not change.
func (r *Record) rest() []byte {
	e := r.run
	host, _ := os.Hostname()
	cwd, _ := os.Getwd()
	o := text.JSON{B: make([]byte, 0, 1<<10)}
	o.Open("", '{')
	o.String("run_id", e.RunID)
	o.String("name", e.Name)
	o.Number("pid", float64(os.Getpid()))
	o.Open("command", '[')
	left := longestCommand
	for _, word := range text.MaskedArgs(e.Command) {
		o.String("", cut(word, left))
		if left -= len(word); left < 0 {
			break
		}
	}
	o.Close(']')
	o.String("cwd", cwd)
	o.Number("max_attempts", float64(e.MaxAttempts))
	o.Time("started_at", e.Time)
	if !e.Deadline.IsZero() {
		o.Time("deadline_at", e.Deadline)
	}
	o.String("key", e.Key)
	o.String("policy", e.Policy)
	o.Number("depth", float64(e.Depth))
	o.String("host", host)
	o.Close('}')
	return o.B
}

// write brings the record up to date, and makes it where there is none or it was
// removed. One that can no longer be written would be wrong, and is removed.
func (r *Record) write() {
	if !r.on {
		return
	}
	if r.file != nil {
		slot := r.seal()
		_, err := r.file.WriteAt(slot, int64(r.sequence%2)*slotSize)
		removed := false
		if err == nil {
			removed, err = r.file.Check()
		}
		if err == nil && !removed {
			return
		}
		_ = os.Remove(r.path)
		r.file.Close()
		r.file = nil
		if err != nil {
			r.note(err)
			return
		}
	}
	var err error
	for _, place := range r.Places() {
		if err = place.use(true); err == nil {
			err = r.create(place.Path)
		}
		if err == nil {
			return
		}
	}
	r.note(err)
}

// seal is the next slot, with as many of the last attempts as fit into it.
func (r *Record) seal() []byte {
	slot := r.state()
	for len(slot) > slotSize && len(r.attempts) > 1 {
		r.attempts = r.attempts[1:]
		slot = r.state()
	}
	r.sequence++
	lockedfile.Seal(slot, magic, r.sequence)
	return slot
}

// create makes the record under another name, so that a reader finds all of it or
// nothing. It is written whole, so that later writes need no more of the disk.
func (r *Record) create(dir string) error {
	path := filepath.Join(dir, r.run.RunID+recordEnd)
	made := filepath.Join(dir, "."+r.run.RunID+newEnd)
	file, err := lockedfile.Create(made)
	if err != nil {
		return err
	}
	mark := markOf(path)
	r.mark.Store(&mark)
	whole := make([]byte, 2*slotSize, 2*slotSize+1<<10)
	slot := r.seal()
	copy(whole[int(r.sequence%2)*slotSize:], slot)
	if err = file.Hold(); err == nil {
		_, err = file.WriteAt(append(whole, r.rest()...), 0)
	}
	if err == nil {
		err = os.Rename(made, path)
	}
	if err != nil {
		_ = os.Remove(made)
		file.Close()
		return err
	}
	r.file, r.path = file, path
	return nil
}

func (r *Record) note(err error) {
	if err != nil && !r.noted {
		r.noted = true
		r.Note("--status does not show this run: " + err.Error())
	}
}

// remove removes the record. The lock stays: a reader that has the file open waits for
// the program's end by it.
func (r *Record) remove() {
	r.on = false
	if r.file != nil {
		_ = os.Remove(r.path)
	}
}

// cut shortens a text to so many bytes.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return text.Cut(s, most) + "…"
}
