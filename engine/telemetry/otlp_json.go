package telemetry

// This file encodes a run as OTLP/JSON
// (opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding): ids are
// hexadecimal, 64-bit integers strings, enums numbers.

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/text"
)

type (
	object map[string]any
	list   []any
)

// attribute is a key with a value of OTLP.
func attribute(key string, value any) object {
	kind := "stringValue"
	switch v := value.(type) {
	case int:
		kind, value = "intValue", strconv.Itoa(v)
	case float64:
		kind = "doubleValue"
	case bool:
		kind = "boolValue"
	case []string:
		words := list{}
		for _, word := range v {
			words = append(words, object{"stringValue": word})
		}
		kind, value = "arrayValue", object{"values": words}
	}
	return object{"key": key, "value": object{kind: value}}
}

// attributes are those of key, value, key, value, without the texts that are empty.
func attributes(pairs ...any) (all list) {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			all = append(all, attribute(pairs[i].(string), pairs[i+1]))
		}
	}
	return all
}

func nanoseconds(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }

func inMS(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// Kinds of spans and the status of an error (trace.proto).
const (
	kindInternal = 1
	kindClient   = 3
	statusError  = 2
)

func (o *OTLP) resourceAttributes() object {
	var all list
	for _, a := range o.resource {
		all = append(all, attribute(a.name, a.value))
	}
	return object{"attributes": all}
}

func scope() object { return object{"name": "retry"} }

// spans encodes the run's span and those of its attempts.
func (o *OTLP) spans(r *run) ([]byte, error) {
	spans := list{o.runSpan(r)}
	for _, t := range r.tries() {
		spans = append(spans, r.attemptSpan(t))
	}
	return json.Marshal(object{"resourceSpans": list{object{
		"resource":   o.resourceAttributes(),
		"scopeSpans": list{object{"scope": scope(), "spans": spans}},
	}}})
}

func (o *OTLP) runSpan(r *run) object {
	e, outcome := r.End, string(r.End.Outcome)
	all := attributes("retry.attempts", e.Attempts, "retry.max_attempts", r.Start.MaxAttempts,
		"process.exit.code", e.ExitCode, "retry.outcome", outcome, "retry.run_id", r.Start.RunID,
		"retry.name", r.name(), "retry.verdict", string(e.Verdict), "retry.rule", e.Rule,
		"retry.policy", r.Start.Policy, "retry.key", r.Start.Key)
	failed := e.Outcome != event.Succeeded && e.Outcome != event.Cancelled && e.Outcome != event.Parked
	if failed {
		all = append(all, attribute("error.type", r.errorType()))
	}
	if r.Rehearsed {
		all = append(all, attribute("retry.rehearsed", true))
	}
	if o.args {
		all = append(all, attribute("process.command_args", text.MaskedArgs(r.Start.Command)))
	}
	var events list
	waits := r.waits()
	for _, w := range waits {
		a := attributes("retry.delay_ms", inMS(w.Wait.Delay), "retry.jittered_ms", inMS(w.Wait.Jittered))
		if w.Slept != nil {
			a = append(a, attribute("retry.slept_ms", inMS(*w.Slept)))
		}
		events = append(events, object{
			"timeUnixNano": nanoseconds(r.at(w.Wait.Time)), "name": "retry.wait", "attributes": a,
		})
	}
	span := object{
		"traceId": r.Start.TraceID, "spanId": r.Start.SpanID, "name": "retry " + r.name(), "kind": kindInternal,
		"startTimeUnixNano": nanoseconds(r.Start.Time), "endTimeUnixNano": nanoseconds(r.at(e.Time)),
		"attributes": all, "droppedEventsCount": r.Waits - len(waits),
	}
	if events != nil {
		span["events"] = events
	}
	if r.Start.ParentSpanID != "" {
		span["parentSpanId"] = r.Start.ParentSpanID
	}
	if failed {
		span["status"] = object{"code": statusError, "message": outcome}
	}
	return span
}

// errorType is that of the last attempt if it failed, otherwise the outcome of the run.
func (r *run) errorType() string {
	all := r.tries()
	if n := len(all); n > 0 && resultOfTry(all[n-1]) != success {
		return errorType(all[n-1])
	}
	return string(r.End.Outcome)
}

func (r *run) attemptSpan(t *event.Try) object {
	result := resultOfTry(t)
	all := attributes("retry.attempt", t.Attempt)
	if t.Hedged {
		all = append(all, attribute("retry.copy", t.Copy))
	}
	all = append(all,
		attributes("retry.result", result, "retry.run_id", r.Start.RunID, "retry.name", r.name(),
			"process.exit.code", t.Result.ExitCode, "retry.verdict", string(t.Verdict), "retry.rule", t.Rule,
			"error.type", errorType(t))...)
	span := object{
		"traceId": r.Start.TraceID, "spanId": t.SpanID, "parentSpanId": r.Start.SpanID, "name": r.name(),
		"kind":              kindClient,
		"startTimeUnixNano": nanoseconds(r.at(t.Started)),
		"endTimeUnixNano":   nanoseconds(r.at(t.Started.Add(t.Result.Duration))), "attributes": all,
	}
	if result != success && !t.Lost {
		span["status"] = object{"code": statusError, "message": t.Ended}
	}
	return span
}

// temporalityDelta says that a value counts from startTimeUnixNano on
// (metrics.proto).
const temporalityDelta = 1

// metricsJSON encodes what the run adds to the metrics.
func (o *OTLP) metricsJSON(r *run) ([]byte, error) {
	var all list
	for i := range families[:lastRun] { // without the gauge
		f := &families[i]
		var points list
		for _, s := range r.metrics.of(i) {
			points = append(points, r.point(f, s))
		}
		if points == nil {
			continue
		}
		name, unit := f.otlp()
		data := object{"dataPoints": points, "aggregationTemporality": temporalityDelta}
		if f.bounds == nil {
			data["isMonotonic"] = true
			all = append(all, object{"name": name, "sum": data})
			continue
		}
		all = append(all, object{"name": name, "unit": unit, "histogram": data})
	}
	return json.Marshal(object{"resourceMetrics": list{object{
		"resource":     o.resourceAttributes(),
		"scopeMetrics": list{object{"scope": scope(), "metrics": all}},
	}}})
}

// point is the data point of a series.
func (r *run) point(f *family, s series) object {
	values := r.metrics[s]
	p := object{
		"attributes":        attributes("retry.name", s.name, "retry."+f.label, s.label),
		"startTimeUnixNano": nanoseconds(r.Start.Time), "timeUnixNano": nanoseconds(r.at(r.End.Time)),
	}
	if f.bounds == nil {
		p["asInt"] = number(values[0])
		return p
	}
	counts := list{}
	below := 0.0
	for _, n := range values[:len(values)-1] {
		counts = append(counts, number(n-below))
		below = n
	}
	p["count"] = number(below)
	p["sum"] = values[len(values)-1]
	p["bucketCounts"] = counts
	p["explicitBounds"] = f.bounds
	return p
}
