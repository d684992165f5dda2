package registry

// This file writes the record of this process's run: two slots (package lockedfile)
// with what changes, and behind them what does not. Both are JSON objects with fields of
// Run.

import (
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/lockedfile"
	"github.com/retrysh/retry/engine/text"
)

var magic = lockedfile.Magic{'r', 'e', 't', 'r', 'y', ' ', 'r', '1'}

const (
	// A slot holds so many attempts with reasons of so many bytes.
	mostAttempts   = 32
	slotSize       = 16 << 10
	firstSlot      = 2 << 10 // of the buffer, which grows
	longestReason  = 200
	longestCommand = 64 << 10 // what is kept of it, in bytes
)

// Record is the record of this process's run, a sink of the engine. It touches
// nothing before the first retry of a run without a name.
type Record struct {
	Run     *event.Run        // has each event before the record
	Places  func() []Place    // the first that can be used is taken
	Named   bool              // the run is registered from its start
	Targets int               // that are waited for before attempt 1
	Detail  func(line string) // is called once, if the run cannot be registered

	on      bool // the run is to be registered
	written bool // as it is
	// ended are the last attempts that have ended, each as a JSON object, lastEnded is the
	// number of the last one.
	ended     [][]byte
	lastEnded int
	buffer    []byte // of a slot

	file     *lockedfile.File // nil if there is none
	path     string
	sequence uint64
	noted    bool
	mark     atomic.Pointer[string]
}

// Emit takes note of an event. The record is written when an attempt starts and when a wait
// begins, and before whatever may take long between them: a write costs as much as a quarter
// of the rest of an attempt.
func (r *Record) Emit(ev event.Event) {
	switch e := ev.(type) {
	case *event.RunStarted:
		r.on = r.Named
		r.write()
	case *event.TargetReady:
		if r.Targets--; r.Targets == 0 {
			r.write()
		}
	case *event.InitialWait:
		r.write()
	case *event.RetryScheduled:
		r.on = true
		r.write()
	case *event.InitialWaited, *event.RetryWaited:
		r.written = false
	case *event.AttemptStarted:
		if e.Copy == 0 {
			r.on = r.on || e.Attempt > 1
			r.write()
		}
	case *event.AttemptFinished:
		if r.Run.Running() == nil { // else another copy may decide
			r.written = false
		}
	case *event.Blocking:
		if !r.written {
			r.write()
		}
	case *event.RunFinished:
		r.remove()
	}
}

func (r *Record) status() Status {
	switch {
	case r.Targets > 0:
		return Pending
	case r.Run.Between():
		return Waiting
	}
	return Running
}

// keep encodes the attempts that have ended since the last time.
func (r *Record) keep() {
	for i := range r.Run.Attempts {
		a := &r.Run.Attempts[i]
		if !a.Over || a.Number <= r.lastEnded {
			continue
		}
		if len(r.ended) == mostAttempts {
			r.ended = r.ended[:copy(r.ended, r.ended[1:])]
		}
		o := encoder{}
		appendAttempt(&o, a)
		r.ended = append(r.ended, o.b)
		r.lastEnded = a.Number
	}
}

func appendAttempt(o *encoder, a *event.Attempt) {
	o.open("", '{')
	o.number("attempt", float64(a.Number))
	o.time("started_at", a.Started)
	if a.Over {
		o.time("ended_at", a.Result.Time)
		o.number("exit_code", float64(a.Result.Result.ExitCode))
		o.string("reason", cut(text.Masked(a.Result.Reason), longestReason))
	}
	o.close('}')
}

// state is what changes, as a slot. It holds until the next call.
func (r *Record) state() []byte {
	if r.buffer == nil {
		r.buffer = make([]byte, 0, firstSlot)
	}
	o := encoder{b: r.buffer[:lockedfile.HeadSize]}
	clear(o.b) // Seal has filled it
	o.open("", '{')
	o.string("status", string(r.status()))
	o.number("attempt", float64(r.Run.Attempt()))
	if !r.Run.Until.IsZero() {
		o.time("next_attempt_at", r.Run.Until)
		o.number("next_delay_ms", text.Milliseconds(r.Run.Length))
	}
	if f := r.Run.Failure; f != nil {
		o.number("last_exit", float64(f.Result.ExitCode))
		o.string("last_reason", cut(text.Masked(f.Reason), 5*longestReason))
		o.string("verdict", string(f.Verdict))
		if f.Rule != "" {
			o.string("rule", cut(f.Rule, longestReason))
		}
	}
	o.open("attempts", '[')
	running := r.Run.Running()
	ended := r.ended
	if running != nil && len(ended) == mostAttempts {
		ended = ended[1:]
	}
	for _, attempt := range ended {
		o.key("")
		o.b = append(o.b, attempt...)
	}
	if running != nil {
		appendAttempt(&o, running)
	}
	o.close(']')
	o.close('}')
	r.buffer = o.b
	return o.b
}

// rest is what does not change.
func (r *Record) rest() []byte {
	e := r.Run.Start
	host, _ := os.Hostname()
	cwd, _ := os.Getwd()
	o := encoder{b: make([]byte, 0, 1<<10)}
	o.open("", '{')
	o.string("run_id", e.RunID)
	o.string("name", e.Name)
	if e.GivenName != "" && e.GivenName != e.Name {
		o.string("given_name", e.GivenName)
	}
	o.number("pid", float64(os.Getpid()))
	o.open("command", '[')
	left := longestCommand
	for _, word := range text.MaskedArgs(e.Command) {
		o.string("", cut(word, left))
		if left -= len(word); left < 0 {
			break
		}
	}
	o.close(']')
	o.string("cwd", cwd)
	o.number("max_attempts", float64(e.MaxAttempts))
	o.time("started_at", e.Time)
	if !e.Deadline.IsZero() {
		o.time("deadline_at", e.Deadline)
	}
	o.string("key", e.Key)
	o.string("policy", e.Policy)
	o.number("depth", float64(e.Depth))
	o.string("host", host)
	o.close('}')
	return o.b
}

// write brings the record up to date, and makes it if there is none or it was
// removed. One that can no longer be written would be wrong, and is removed.
func (r *Record) write() {
	r.written = true
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
	r.keep()
	slot := r.state()
	for len(slot) > slotSize && len(r.ended) > 0 {
		r.ended = r.ended[1:]
		slot = r.state()
	}
	r.sequence++
	lockedfile.Seal(slot, magic, r.sequence)
	return slot
}

// create makes the record under another name, so that a reader finds all of it or
// nothing. It is written whole, so that later writes need no more of the disk.
func (r *Record) create(dir string) error {
	path := filepath.Join(dir, r.Run.Start.RunID+recordEnd)
	made := filepath.Join(dir, "."+r.Run.Start.RunID+newEnd)
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
		r.Detail("--status does not show this run: " + err.Error())
	}
}

// remove removes the record. The lock stays: a reader that has the file open waits for
// the program's end by it.
func (r *Record) remove() {
	r.on = false
	if r.file != nil {
		_ = os.Remove(r.path)
		_ = os.Remove(cancelOf(r.path))
	}
}

// cut shortens a text to so many bytes.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return text.Cut(s, most) + "…"
}
