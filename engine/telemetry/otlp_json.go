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

func attribute(key, value string) any {
	return object{"key": key, "value": object{"stringValue": value}}
}
func integer(key string, value int) any {
	return object{"key": key, "value": object{"intValue": strconv.Itoa(value)}}
}
func double(key string, value float64) any {
	return object{"key": key, "value": object{"doubleValue": value}}
}
func boolean(key string, value bool) any {
	return object{"key": key, "value": object{"boolValue": value}}
}

// optional adds the texts that are not empty: key, value, key, value.
func (l list) optional(pairs ...string) list {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			l = append(l, attribute(pairs[i], pairs[i+1]))
		}
	}
	return l
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
	var attributes list
	for _, a := range o.resource {
		attributes = append(attributes, attribute(a[0], a[1]))
	}
	return object{"attributes": attributes}
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
	attributes := list{
		integer("retry.attempts", r.attemptCount), integer("retry.max_attempts", r.maxAttempts), integer("process.exit.code", r.exitCode),
		attribute("retry.outcome", string(r.outcome)), attribute("retry.run_id", r.runID), attribute("retry.name", r.name),
	}
	attributes = attributes.optional("retry.verdict", r.verdict, "retry.rule", r.rule, "retry.policy", r.policy, "retry.key", r.key)
	failed := r.outcome != event.Succeeded && r.outcome != event.Cancelled && r.outcome != "parked"
	if failed {
		attributes = attributes.optional("error.type", r.errorType())
	}
	if r.rehearsed {
		attributes = append(attributes, boolean("retry.rehearsed", true))
	}
	if o.args {
		var words list
		for _, word := range r.command {
			words = append(words, object{"stringValue": word})
		}
		attributes = append(attributes, object{"key": "process.command_args", "value": object{"arrayValue": object{"values": words}}})
	}
	var events list
	for _, w := range r.waits {
		a := list{double("retry.delay_ms", inMS(w.delay)), double("retry.jittered_ms", inMS(w.jittered))}
		if w.slept != nil {
			a = append(a, double("retry.slept_ms", inMS(*w.slept)))
		}
		events = append(events, object{"timeUnixNano": nanoseconds(r.at(w.started)), "name": "retry.wait", "attributes": a})
	}
	span := object{
		"traceId": r.traceID, "spanId": r.spanID, "name": "retry " + r.name, "kind": kindInternal,
		"startTimeUnixNano": nanoseconds(r.started), "endTimeUnixNano": nanoseconds(r.at(r.ended)),
		"attributes": attributes, "droppedEventsCount": r.droppedWaits,
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
	attributes := list{integer("retry.attempt", t.number)}
	if t.hedged {
		attributes = append(attributes, integer("retry.copy", t.copy))
	}
	attributes = append(attributes, attribute("retry.result", t.result), attribute("retry.run_id", r.runID), attribute("retry.name", r.name), integer("process.exit.code", t.exitCode))
	attributes = attributes.optional("retry.verdict", t.verdict, "retry.rule", t.rule, "error.type", t.errorType)
	span := object{
		"traceId": r.traceID, "spanId": t.spanID, "parentSpanId": r.spanID, "name": r.name, "kind": kindClient,
		"startTimeUnixNano": nanoseconds(r.at(t.started)), "endTimeUnixNano": nanoseconds(r.at(t.ended)), "attributes": attributes,
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
	point := func(attributes list) object {
		return object{"attributes": append(list{attribute("retry.name", r.name)}, attributes...), "startTimeUnixNano": nanoseconds(r.started), "timeUnixNano": nanoseconds(r.at(r.ended))}
	}
	sum := func(name string, label string, counts map[string]int) object {
		var points list
		for _, key := range slices.Sorted(maps.Keys(counts)) {
			p := point(list{attribute(label, key)})
			p["asInt"] = strconv.Itoa(counts[key])
			points = append(points, p)
		}
		return object{"name": name, "sum": object{"dataPoints": points, "aggregationTemporality": temporalityDelta, "isMonotonic": true}}
	}
	distribution := func(name, unit string, h histogram, attributes ...any) object {
		p := point(attributes)
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
	outcome := attribute("retry.outcome", string(r.outcome))
	all := list{
		sum("retry.runs", "retry.outcome", map[string]int{string(r.outcome): 1}),
		distribution("retry.run.attempts", "", runs, outcome),
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
