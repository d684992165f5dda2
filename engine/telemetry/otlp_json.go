package telemetry

// This file encodes a run as OTLP/JSON
// (opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding): ids are
// hexadecimal, 64-bit integers strings, enums numbers.

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/retrysh/retry/engine/event"
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
		all = append(all, attribute(a[0], a[1]))
	}
	return object{"attributes": all}
}

func scope() object { return object{"name": "retry"} }

// spans encodes the run's span and those of its attempts.
func (o *OTLP) spans(r *Run) ([]byte, error) {
	spans := list{o.runSpan(r)}
	for i := range r.attempts {
		spans = append(spans, r.attemptSpan(&r.attempts[i]))
	}
	return json.Marshal(object{"resourceSpans": list{object{
		"resource":   o.resourceAttributes(),
		"scopeSpans": list{object{"scope": scope(), "spans": spans}},
	}}})
}

func (o *OTLP) runSpan(r *Run) object {
	all := attributes("retry.attempts", r.attemptCount, "retry.max_attempts", r.maxAttempts, "process.exit.code", r.exitCode,
		"retry.outcome", string(r.outcome), "retry.run_id", r.runID, "retry.name", r.name,
		"retry.verdict", r.verdict, "retry.rule", r.rule, "retry.policy", r.policy, "retry.key", r.key)
	failed := r.outcome != event.Succeeded && r.outcome != event.Cancelled && r.outcome != event.Parked
	if failed {
		all = append(all, attribute("error.type", r.errorType()))
	}
	if r.rehearsed {
		all = append(all, attribute("retry.rehearsed", true))
	}
	if o.args {
		all = append(all, attribute("process.command_args", r.command))
	}
	var events list
	for _, w := range r.waits {
		a := attributes("retry.delay_ms", inMS(w.delay), "retry.jittered_ms", inMS(w.jittered))
		if w.slept != nil {
			a = append(a, attribute("retry.slept_ms", inMS(*w.slept)))
		}
		events = append(events, object{"timeUnixNano": nanoseconds(r.at(w.started)), "name": "retry.wait", "attributes": a})
	}
	span := object{
		"traceId": r.traceID, "spanId": r.spanID, "name": "retry " + r.name, "kind": kindInternal,
		"startTimeUnixNano": nanoseconds(r.started), "endTimeUnixNano": nanoseconds(r.at(r.ended)),
		"attributes": all, "droppedEventsCount": r.droppedWaits,
	}
	if events != nil {
		span["events"] = events
	}
	if r.parentSpanID != "" {
		span["parentSpanId"] = r.parentSpanID
	}
	if failed {
		span["status"] = object{"code": statusError, "message": string(r.outcome)}
	}
	return span
}

// errorType is that of the last attempt, or the outcome where nothing ran.
func (r *Run) errorType() string {
	if n := len(r.attempts); n > 0 && r.attempts[n-1].errorType != "" {
		return r.attempts[n-1].errorType
	}
	return string(r.outcome)
}

func (r *Run) attemptSpan(t *tried) object {
	all := attributes("retry.attempt", t.number)
	if t.hedged {
		all = append(all, attribute("retry.copy", t.copy))
	}
	all = append(all, attributes("retry.result", t.result, "retry.run_id", r.runID, "retry.name", r.name, "process.exit.code", t.exitCode,
		"retry.verdict", t.verdict, "retry.rule", t.rule, "error.type", t.errorType)...)
	span := object{
		"traceId": r.traceID, "spanId": t.spanID, "parentSpanId": r.spanID, "name": r.name, "kind": kindClient,
		"startTimeUnixNano": nanoseconds(r.at(t.started)), "endTimeUnixNano": nanoseconds(r.at(t.ended)), "attributes": all,
	}
	if t.result != success && !t.lost {
		span["status"] = object{"code": statusError, "message": t.message}
	}
	return span
}

// temporalityDelta says that a value counts from startTimeUnixNano on
// (metrics.proto).
const temporalityDelta = 1

// metrics encodes what the run adds to the metrics.
func (o *OTLP) metricsJSON(r *Run) ([]byte, error) {
	point := func(pairs ...any) object {
		return object{"attributes": attributes(append([]any{"retry.name", r.name}, pairs...)...), "startTimeUnixNano": nanoseconds(r.started), "timeUnixNano": nanoseconds(r.at(r.ended))}
	}
	sum := func(name string, label string, counts map[string]int) object {
		var points list
		for _, key := range slices.Sorted(maps.Keys(counts)) {
			p := point(label, key)
			p["asInt"] = strconv.Itoa(counts[key])
			points = append(points, p)
		}
		return object{"name": name, "sum": object{"dataPoints": points, "aggregationTemporality": temporalityDelta, "isMonotonic": true}}
	}
	distribution := func(name, unit string, h histogram, pairs ...any) object {
		p := point(pairs...)
		counts := list{}
		for _, n := range h.counts {
			counts = append(counts, strconv.Itoa(n))
		}
		p["count"], p["sum"], p["bucketCounts"], p["explicitBounds"] = strconv.Itoa(h.total()), h.sum, counts, h.bounds
		return object{"name": name, "unit": unit, "histogram": object{"dataPoints": list{p}, "aggregationTemporality": temporalityDelta}}
	}
	var runs, took histogram
	runs.add(attemptBounds, float64(r.attemptCount))
	took.add(durationBounds, r.elapsed().Seconds())
	all := list{
		sum("retry.runs", "retry.outcome", map[string]int{string(r.outcome): 1}),
		distribution("retry.run.attempts", "", runs, "retry.outcome", string(r.outcome)),
		distribution("retry.run.duration", "s", took),
	}
	if len(r.results) > 0 {
		all = append(all, sum("retry.attempts", "retry.result", r.results), distribution("retry.attempt.duration", "s", r.durations))
	}
	if len(r.refused) > 0 {
		all = append(all, sum("retry.refused", "retry.guard", r.refused))
	}
	if r.delays.counts != nil {
		all = append(all, distribution("retry.delay", "s", r.delays))
	}
	return json.Marshal(object{"resourceMetrics": list{object{
		"resource":     o.resourceAttributes(),
		"scopeMetrics": list{object{"scope": scope(), "metrics": all}},
	}}})
}
