// Package telemetry sends what happened in a run to Prometheus's textfile
// collector, a StatsD server and an OpenTelemetry collector (docs/metrics.md).
//
// Recorder collects the run from its events. Nothing is opened, resolved or
// read before the run has ended; Send then does everything at once. Encoding is
// pure; file.go, statsd_send.go and otlp_send.go touch the system.
package telemetry

import (
	"sort"
	"strconv"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/text"
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

// Upper bounds of the histograms' buckets: attempts of a run, seconds of a wait
// and seconds of an attempt or a run.
var (
	attemptBounds  = []float64{1, 2, 3, 5, 8}
	delayBounds    = []float64{0.1, 0.5, 1, 2, 5, 10, 30, 60, 300}
	durationBounds = []float64{0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3600}
)

// Run is what is sent of a run.
type Run struct {
	name, runID, traceID, spanID, parentSpanID string
	command                                    []string // masked
	key, policy                                string
	started, ended                             time.Time
	outcome                                    event.Outcome
	exitCode, attemptCount, maxAttempts        int
	verdict, rule                              string
	rehearsed, sampled                         bool

	attempts      []tried // the last mostSpans, as they ended
	waits         []wait  // the last mostSpans
	droppedWaits  int
	results       map[string]int // attempts by result
	refused       map[string]int // refusals by guard
	delays        histogram      // seconds slept
	durations     histogram      // seconds of attempts
	samples       []time.Duration
	every, waited int // samples are every so many of the waits
}

// tried is an attempt, or a copy of one, that has ended.
type tried struct {
	number, copy   int
	hedged         bool
	spanID         string
	started, ended time.Time
	result         string
	exitCode       int
	verdict, rule  string
	message        string // how it ended
	errorType      string // "" for a success
	lost           bool   // a copy that another one beat
}

// wait is a wait between two attempts. slept is nil where the run ended in it.
type wait struct {
	started         time.Time
	delay, jittered time.Duration
	slept           *time.Duration
}

// histogram counts values at or below each bound and above the last.
type histogram struct {
	bounds []float64
	counts []int
	sum    float64
}

func (h *histogram) add(bounds []float64, value float64) {
	if h.counts == nil {
		h.bounds, h.counts = bounds, make([]int, len(bounds)+1)
	}
	h.counts[sort.SearchFloat64s(bounds, value)]++
	h.sum += value
}

// total is the number of values.
func (h *histogram) total() int {
	n := 0
	for _, c := range h.counts {
		n += c
	}
	return n
}

// Recorder collects a run from its events.
type Recorder struct {
	run  Run
	open []tried // attempts under way
}

// Emit takes note of an event.
func (r *Recorder) Emit(ev event.Event) {
	switch e := ev.(type) {
	case *event.RunStarted:
		r.run = Run{
			name: e.Name, runID: e.RunID, traceID: e.TraceID, spanID: e.SpanID, parentSpanID: e.ParentSpanID, command: text.MaskedArgs(e.Command),
			key: e.Key, policy: e.Policy, started: e.Time, sampled: e.Sampled, maxAttempts: e.MaxAttempts, every: 1, results: map[string]int{}, refused: map[string]int{},
		}
		if len(e.Command) == 0 {
			r.run.name = "wait"
		}
	case *event.AttemptStarted:
		r.run.rehearsed = r.run.rehearsed || e.Rehearsed
		r.open = append(r.open, tried{number: e.Attempt, copy: e.Copy, hedged: e.Hedged, spanID: e.SpanID, started: e.Time})
	case *event.AttemptFinished:
		r.finished(&e.Header, &e.Which, &e.Result, func(t *tried) {
			t.verdict, t.rule, t.message = string(e.Verdict), e.Rule, e.Ended
			t.result = resultOf(&e.Result, e.Success)
		})
	case *event.AttemptCancelled:
		r.finished(&e.Header, &e.Which, &e.Result, func(t *tried) { t.result, t.lost = cancelled, true })
	case *event.RetryScheduled:
		r.run.waits = append(r.run.waits, wait{started: e.Time, delay: e.Delay, jittered: e.Jittered})
		if len(r.run.waits) > mostSpans {
			r.run.waits = r.run.waits[1:]
			r.run.droppedWaits++
		}
	case *event.RetryWaited:
		r.waited(e.Slept)
	case *event.GuardRefused:
		r.run.refused[e.Guard]++
	case *event.RunFinished:
		r.run.ended, r.run.outcome, r.run.exitCode, r.run.attemptCount = e.Time, e.Outcome, e.ExitCode, e.Attempts
		r.run.verdict, r.run.rule = string(e.Verdict), e.Rule
	}
}

// finished moves an attempt from those under way to those that have ended. One
// that never began is none.
func (r *Recorder) finished(h *event.Header, which *event.Which, result *attempt.Result, judge func(*tried)) {
	t := tried{number: h.Attempt, copy: which.Copy, hedged: which.Hedged, started: h.Time}
	for i := range r.open {
		if r.open[i].number == h.Attempt && r.open[i].copy == which.Copy {
			t = r.open[i]
			r.open = append(r.open[:i], r.open[i+1:]...)
			break
		}
	}
	if result.NotRun {
		return
	}
	t.ended, t.exitCode = t.started.Add(result.Duration), result.ExitCode
	if judge(&t); t.result != success {
		t.errorType = errorType(result)
	}
	r.run.results[t.result]++
	r.run.durations.add(durationBounds, result.Duration.Seconds())
	if r.run.attempts = append(r.run.attempts, t); len(r.run.attempts) > mostSpans {
		r.run.attempts = r.run.attempts[1:]
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

// errorType is OpenTelemetry's attribute error.type.
func errorType(r *attempt.Result) string {
	switch {
	case r.TimedOut || r.DeadlinePassed:
		return timeout
	case r.Signal != "":
		return string(r.Signal)
	}
	return strconv.Itoa(r.ExitCode)
}

// waited takes note of a wait that came to its end.
func (r *Recorder) waited(slept time.Duration) {
	run := &r.run
	if n := len(run.waits); n > 0 {
		run.waits[n-1].slept = &slept
	}
	run.delays.add(delayBounds, slept.Seconds())
	if run.waited++; run.waited%run.every != 0 {
		return
	}
	if run.samples = append(run.samples, slept); len(run.samples) <= mostSamples {
		return
	}
	kept := run.samples[:0]
	for i := 1; i < len(run.samples); i += 2 {
		kept = append(kept, run.samples[i])
	}
	run.samples, run.every = kept, 2*run.every
}

// at is a moment of the run by its wall clock at the start and the monotonic
// clock from there on, so that no span ends before it begins.
func (r *Run) at(t time.Time) time.Time { return r.started.Add(t.Sub(r.started)) }

// elapsed is how long the run took.
func (r *Run) elapsed() time.Duration { return r.ended.Sub(r.started) }
