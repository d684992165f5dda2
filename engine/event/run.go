package event

import (
	"slices"
	"time"
)

const (
	// Of a long run the first and the last attempts are kept: so many as a line of the
	// history and a table of a CI job have.
	firstAttempts = 50
	lastAttempts  = 200
	// mostAttempts is when those between are dropped.
	mostAttempts = firstAttempts + 2*lastAttempts
)

// Run is the record of a run, built from its events. All that shows, keeps or sends a run
// reads it. The zero value is a run that has not begun.
type Run struct {
	Start *RunStarted
	End   *RunFinished // nil until then
	// Attempts have ended, the last one may still run. A hedged one is one attempt. Ended
	// counts those that were run, also those that are no longer kept.
	Attempts []Attempt
	Ended    int
	// Tries are the attempts, and the copies of hedged ones, that have ended, in this order.
	Tries []Try
	// Waits counts the waits between attempts, Waited is how long those took that have ended.
	Waits  int
	Waited time.Duration
	// Until is when the wait under way ends, also that before the first attempt; the zero time
	// for none. Length is how long it is.
	Until  time.Time
	Length time.Duration
	// FirstFailed and LastFailed are when an attempt, or a copy, failed; zero for never.
	FirstFailed, LastFailed time.Time
	// Failure is the last failed attempt, nil for none.
	Failure *AttemptFinished
	// Rehearsed says that an attempt was not run.
	Rehearsed bool

	open []*AttemptStarted
}

// Attempt is an attempt, and the wait that followed it.
type Attempt struct {
	Number  int
	Started time.Time
	// Result is its end, nil while it runs. Of a hedged attempt it is the copy that ended
	// last: it has won, or failed when all had. It is final if Over is set.
	Result *AttemptFinished
	Over   bool
	// Wait is nil if no wait followed, Slept nil if the wait has not ended.
	Wait  *RetryScheduled
	Slept *time.Duration
}

// Try is an attempt, or a copy of one, that has ended.
type Try struct {
	AttemptFinished
	Started time.Time
	Lost    bool // another copy decided, and this one was not judged
}

// Add adds an event.
func (r *Run) Add(ev Event) {
	switch e := ev.(type) {
	case *RunStarted:
		*r = Run{Start: e}
	case *AttemptStarted:
		r.begin(e)
	case *AttemptFinished:
		r.finish(e)
	case *AttemptCancelled:
		r.try(Try{AttemptFinished: AttemptFinished{Header: e.Header, Which: e.Which, Result: e.Result}, Lost: true})
	case *InitialWait:
		r.wait(e.Time, e.Wait)
	case *InitialWaited:
		r.Until = time.Time{}
	case *RetryScheduled:
		r.decided()
		r.wait(e.Time, e.Jittered)
		r.Waits++
		if a := r.last(); a != nil {
			a.Wait = e
		}
	case *RetryWaited:
		r.Until = time.Time{}
		r.Waited += e.Slept
		if a := r.last(); a != nil {
			a.Slept = &e.Slept
		}
	case *HookStarted, *Concluding:
		r.decided()
	case *RunFinished:
		r.decided()
		r.End = e
	}
}

// Attempt is the number of the attempt that was begun last, 0 for none.
func (r *Run) Attempt() int {
	switch a := r.last(); {
	case a != nil:
		return a.Number
	case r.Start != nil:
		return r.Start.Attempt
	}
	return 0
}

// Running is the attempt that runs, nil for none.
func (r *Run) Running() *Attempt {
	if a := r.last(); a != nil && !a.Over {
		return a
	}
	return nil
}

// Between reports whether no attempt runs, and another one is to follow: before the first, and
// from the beginning of a wait until the next.
func (r *Run) Between() bool {
	a := r.last()
	return a == nil || a.Wait != nil
}

func (r *Run) wait(now time.Time, length time.Duration) {
	r.Until = now.Add(length)
	r.Length = length
}

func (r *Run) last() *Attempt {
	if len(r.Attempts) == 0 {
		return nil
	}
	return &r.Attempts[len(r.Attempts)-1]
}

func (r *Run) begin(e *AttemptStarted) {
	r.Rehearsed = r.Rehearsed || e.Rehearsed
	r.open = append(r.open, e)
	if a := r.last(); a != nil && a.Number == e.Attempt {
		return // another copy
	}
	if len(r.Attempts) == mostAttempts {
		r.Attempts = slices.Delete(r.Attempts, firstAttempts, len(r.Attempts)-lastAttempts)
	}
	r.Attempts = append(r.Attempts, Attempt{Number: e.Attempt, Started: e.Time})
}

func (r *Run) finish(e *AttemptFinished) {
	r.Rehearsed = r.Rehearsed || e.Result.Rehearsed
	r.try(Try{AttemptFinished: *e})
	if !e.Success {
		r.LastFailed = e.Time
		if r.FirstFailed.IsZero() {
			r.FirstFailed = e.Time
		}
	}
	a := r.last()
	if a == nil || a.Number != e.Attempt {
		return
	}
	if a.Result == nil && !e.Result.NotRun {
		r.Ended++
	}
	a.Result = e
	if !e.Hedged || e.Success {
		r.decided()
	}
}

// decided says that no copy can change the result of the last attempt.
func (r *Run) decided() {
	a := r.last()
	if a == nil || a.Over || a.Result == nil {
		return
	}
	a.Over = true
	if !a.Result.Success {
		r.Failure = a.Result
	}
}

// try moves an attempt, or a copy, from those under way to those that have ended.
func (r *Run) try(t Try) {
	t.Started = t.Time
	same := func(s *AttemptStarted) bool { return s.Attempt == t.Attempt && s.Copy == t.Copy }
	if i := slices.IndexFunc(r.open, same); i >= 0 {
		t.Started = r.open[i].Time
		r.open = slices.Delete(r.open, i, i+1)
	}
	if len(r.Tries) == 2*lastAttempts {
		r.Tries = slices.Delete(r.Tries, 0, lastAttempts)
	}
	r.Tries = append(r.Tries, t)
}
