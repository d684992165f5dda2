// Package telemetry sends what happened in a run to Prometheus's textfile
// collector, a StatsD server and an OpenTelemetry collector (docs/metrics.md).
//
// A run is collected from its events. Nothing is opened, resolved or read before it
// has ended; Send then does everything at once. Encoding is pure; file.go, statsd.go
// and otlp_send.go touch the system.
package telemetry

import (
	"cmp"
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
	*event.Run
	metrics metrics
	// samples are every so many of the waits.
	samples []time.Duration
	every   int
}

// name is that of the run in metrics and traces.
func (r *run) name() string {
	if len(r.Start.Command) == 0 {
		return "wait"
	}
	return r.Start.Name
}

// Emit takes note of an event.
func (r *run) Emit(ev event.Event) {
	switch e := ev.(type) {
	case *event.RunStarted:
		r.metrics = metrics{}
		r.every = 1
	case *event.AttemptFinished:
		r.finished(&e.Result, resultOf(&e.Result, e.Success))
	case *event.AttemptCancelled:
		r.finished(&e.Result, cancelled)
	case *event.RetryWaited:
		r.hasWaited(e.Slept)
	case *event.GuardRefused:
		r.metrics.count(series{refusals, r.name(), e.Guard})
	case *event.RunFinished:
		outcome := string(e.Outcome)
		r.metrics.count(series{runs, r.name(), outcome})
		r.metrics.observe(series{runAttempts, r.name(), outcome}, float64(e.Attempts))
		r.metrics.observe(series{runDuration, r.name(), ""}, r.elapsed().Seconds())
		r.metrics[series{lastRun, r.name(), outcome}] = []float64{float64(r.at(e.Time).UnixMilli()) / 1000}
	}
}

// finished counts an attempt, or a copy, that has ended. One that never began is none.
func (r *run) finished(result *attempt.Result, name string) {
	if result.NotRun {
		return
	}
	r.metrics.count(series{attempts, r.name(), name})
	r.metrics.observe(series{attemptDuration, r.name(), ""}, result.Duration.Seconds())
}

// tries are the last attempts, and copies of attempts, that were run and have ended.
func (r *run) tries() []*event.Try {
	var all []*event.Try
	for i := range r.Tries {
		if t := &r.Tries[i]; !t.Result.NotRun {
			all = append(all, t)
		}
	}
	return all[max(0, len(all)-mostSpans):]
}

// waits are the last attempts that a wait followed.
func (r *run) waits() []event.Attempt {
	var all []event.Attempt
	for _, a := range r.Attempts {
		if a.Wait != nil {
			all = append(all, a)
		}
	}
	return all[max(0, len(all)-mostSpans):]
}

// resultOfTry names what came of an attempt or a copy. One that has lost was ended.
func resultOfTry(t *event.Try) string {
	if t.Lost {
		return cancelled
	}
	return resultOf(&t.Result, t.Success)
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
func errorType(t *event.Try) string {
	switch {
	case resultOfTry(t) == success:
		return ""
	case t.Result.TimedOut || t.Result.DeadlinePassed:
		return timeout
	}
	return cmp.Or(string(t.Result.Signal), strconv.Itoa(t.Result.ExitCode))
}

// hasWaited takes note of a wait that came to its end.
func (r *run) hasWaited(slept time.Duration) {
	r.metrics.observe(series{delay, r.name(), ""}, slept.Seconds())
	if r.Waits%r.every != 0 {
		return
	}
	r.samples = append(r.samples, slept)
	if len(r.samples) <= mostSamples {
		return
	}
	kept := r.samples[:0]
	for i := 1; i < len(r.samples); i += 2 {
		kept = append(kept, r.samples[i])
	}
	r.samples = kept
	r.every *= 2
}

// elapsed is how long the run took.
func (r *run) elapsed() time.Duration { return r.End.Time.Sub(r.Start.Time) }

// at is a moment of the run by its wall clock at the start and the monotonic
// clock from there on, so that no span ends before it begins.
func (r *run) at(t time.Time) time.Time { return r.Start.Time.Add(t.Sub(r.Start.Time)) }
