// Package telemetry sends what happened in a run to Prometheus's textfile
// collector, a StatsD server and an OpenTelemetry collector (docs/metrics.md).
//
// A run is collected from its events. Nothing is opened, resolved or read before it
// has ended; Send then does everything at once. Encoding is pure; file.go, statsd.go
// and otlp_send.go touch the system.
package telemetry

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/event"
)

// mostSpans is how many attempts, and how many waits, a trace has at most.
const mostSpans = 128

// mostSamples is how many waits StatsD is sent at most.
const mostSamples = 100

// The results of an attempt.
const (
	success   = "success"
	failure   = "failure"
	timeout   = "timeout"
	cancelled = "cancelled"
)

// run is what is sent of a run.
type run struct {
	start     *event.RunStarted
	end       *event.RunFinished // nil until then
	name      string
	rehearsed bool

	open          []*event.AttemptStarted
	attempts      []tried // the last mostSpans, as they ended
	waits         []wait  // the last mostSpans
	droppedWaits  int
	metrics       metrics
	samples       []time.Duration
	every, waited int // samples are every so many of the waits
}

// tried is an attempt, or a copy of one, that has ended.
type tried struct {
	event.AttemptFinished
	started time.Time
	result  string
	lost    bool // a copy that another one beat
}

// wait is a wait between two attempts. slept is nil where the run ended in it.
type wait struct {
	*event.RetryScheduled
	slept *time.Duration
}

// Emit takes note of an event.
func (r *run) Emit(ev event.Event) {
	switch e := ev.(type) {
	case *event.RunStarted:
		*r = run{start: e, name: e.Name, metrics: metrics{}, every: 1}
		if len(e.Command) == 0 {
			r.name = "wait"
		}
	case *event.AttemptStarted:
		r.rehearsed = r.rehearsed || e.Rehearsed
		r.open = append(r.open, e)
	case *event.AttemptFinished:
		r.finished(tried{AttemptFinished: *e, result: resultOf(&e.Result, e.Success)})
	case *event.AttemptCancelled:
		r.finished(tried{AttemptFinished: event.AttemptFinished{Header: e.Header, Which: e.Which, Result: e.Result}, result: cancelled, lost: true})
	case *event.RetryScheduled:
		if r.waits = append(r.waits, wait{RetryScheduled: e}); len(r.waits) > mostSpans {
			r.waits = r.waits[1:]
			r.droppedWaits++
		}
	case *event.RetryWaited:
		r.hasWaited(e.Slept)
	case *event.GuardRefused:
		r.metrics.count(series{refusals, r.name, e.Guard})
	case *event.RunFinished:
		r.end = e
		outcome := string(e.Outcome)
		r.metrics.count(series{runs, r.name, outcome})
		r.metrics.observe(series{runAttempts, r.name, outcome}, float64(e.Attempts))
		r.metrics.observe(series{runDuration, r.name, ""}, r.elapsed().Seconds())
		r.metrics[series{lastRun, r.name, outcome}] = []float64{float64(r.at(e.Time).UnixMilli()) / 1000}
	}
}

// finished moves an attempt from those under way to those that have ended. One
// that never began is none.
func (r *run) finished(t tried) {
	t.started = t.Time
	if i := slices.IndexFunc(r.open, func(o *event.AttemptStarted) bool { return o.Attempt == t.Attempt && o.Copy == t.Copy }); i >= 0 {
		t.started, t.SpanID = r.open[i].Time, r.open[i].SpanID
		r.open = slices.Delete(r.open, i, i+1)
	}
	if t.Result.NotRun {
		return
	}
	r.metrics.count(series{attempts, r.name, t.result})
	r.metrics.observe(series{attemptDuration, r.name, ""}, t.Result.Duration.Seconds())
	if r.attempts = append(r.attempts, t); len(r.attempts) > mostSpans {
		r.attempts = r.attempts[1:]
	}
}

// resultOf names what came of an attempt.
func resultOf(r *attempt.Result, accepted bool) string {
	switch {
	case accepted:
		return success
	case r.Cancelled != "" || r.ReaderGone:
		return cancelled
	case r.TimedOut || r.DeadlinePassed:
		return timeout
	}
	return failure
}

// errorType is OpenTelemetry's attribute error.type, "" for a success.
func (t *tried) errorType() string {
	switch {
	case t.result == success:
		return ""
	case t.Result.TimedOut || t.Result.DeadlinePassed:
		return timeout
	}
	return cmp.Or(string(t.Result.Signal), strconv.Itoa(t.Result.ExitCode))
}

// hasWaited takes note of a wait that came to its end.
func (r *run) hasWaited(slept time.Duration) {
	if n := len(r.waits); n > 0 {
		r.waits[n-1].slept = &slept
	}
	r.metrics.observe(series{delay, r.name, ""}, slept.Seconds())
	if r.waited++; r.waited%r.every != 0 {
		return
	}
	if r.samples = append(r.samples, slept); len(r.samples) <= mostSamples {
		return
	}
	kept := r.samples[:0]
	for i := 1; i < len(r.samples); i += 2 {
		kept = append(kept, r.samples[i])
	}
	r.samples, r.every = kept, 2*r.every
}

// at is a moment of the run by its wall clock at the start and the monotonic
// clock from there on, so that no span ends before it begins.
func (r *run) at(t time.Time) time.Time { return r.start.Time.Add(t.Sub(r.start.Time)) }

// elapsed is how long the run took.
func (r *run) elapsed() time.Duration { return r.end.Time.Sub(r.start.Time) }
