package telemetry

// This file reads, adds to and writes the metrics in Prometheus's text format
// (prometheus.io/docs/instrumenting/exposition_formats). The file is the state:
// anything else than these families is an error, so that no other program's file is
// overwritten.

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/retrysh/retry/engine/text"
)

// mostNames is how many names a file has; what comes later counts as otherName.
const (
	mostNames = 100
	otherName = "_other"
)

// family is one metric: its labels in their order, and the bounds of a
// histogram's buckets.
type family struct {
	name, kind, help string
	labels           []string
	bounds           []float64
}

func families() []family {
	return []family{
		{"retry_runs_total", "counter", "Runs that have ended, by outcome.", []string{"name", "outcome"}, nil},
		{"retry_attempts_total", "counter", "Attempts that have ended, by result.", []string{"name", "result"}, nil},
		{"retry_run_attempts", "histogram", "Attempts of a run.", []string{"name", "outcome"}, attemptBounds},
		{"retry_delay_seconds", "histogram", "Waits between attempts as slept.", []string{"name"}, delayBounds},
		{"retry_attempt_duration_seconds", "histogram", "Duration of an attempt.", []string{"name"}, durationBounds},
		{"retry_run_duration_seconds", "histogram", "Duration of a run, waits included.", []string{"name"}, durationBounds},
		{"retry_refused_total", "counter", "Attempts that a guard refused.", []string{"name", "guard"}, nil},
		{"retry_last_run_timestamp_seconds", "gauge", "Unix time of the end of the last run.", []string{"name", "outcome"}, nil},
	}
}

// metrics are the values of a file: by family, then by labels as they are written. A
// counter or gauge has one value; a histogram a cumulative count for each bound and for
// +Inf, then the sum.
type metrics map[string]map[string][]float64

// nameLabel is the first label of a series. sample is a line of a file: the metric with
// its ending, the labels but for le, le, the value.
var (
	nameLabel = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^name="` + labelValue + `"`) })
	sample    = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(\w+?)(_bucket|_sum|_count)?\{(name="` + labelValue + `"(?:,(outcome|result|guard)="` + labelValue + `")?)(?:,le="([^"]*)")?\} (\S+)$`)
	})
)

const labelValue = `(?:[^"\\]|\\[\\"n])*`

// escaped is a label with its value, in which nothing else is escaped.
func escaped(label, value string) string {
	return label + `="` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(value) + `"`
}

// add counts a run.
func (m metrics) add(r *Run) {
	names := map[string]bool{}
	for _, series := range m {
		for key := range series {
			names[nameLabel().FindString(key)] = true
		}
	}
	name, other := escaped("name", r.name), escaped("name", otherName)
	delete(names, other)
	if !names[name] && len(names) >= mostNames {
		name = other
	}
	outcome := name + "," + escaped("outcome", string(r.outcome))
	count := func(family string, n int, labels string) { m.series(family, labels, 1, 0)[0] += float64(n) }
	observe := func(family string, h histogram, labels string) {
		if h.counts == nil {
			return
		}
		values, below := m.series(family, labels, len(h.counts)+1, 0), 0
		for i, n := range h.counts {
			below += n
			values[i] += float64(below)
		}
		values[len(h.counts)] += h.sum
	}
	var attempts, took histogram
	attempts.add(attemptBounds, float64(r.attemptCount))
	took.add(durationBounds, r.elapsed().Seconds())
	count("retry_runs_total", 1, outcome)
	for result, n := range r.results {
		count("retry_attempts_total", n, name+","+escaped("result", result))
	}
	for guard, n := range r.refused {
		count("retry_refused_total", n, name+","+escaped("guard", guard))
	}
	observe("retry_run_attempts", attempts, outcome)
	observe("retry_run_duration_seconds", took, name)
	observe("retry_delay_seconds", r.delays, name)
	observe("retry_attempt_duration_seconds", r.durations, name)
	m.series("retry_last_run_timestamp_seconds", outcome, 1, 0)[0] = float64(r.at(r.ended).UnixMilli()) / 1000
}

// series returns the values of one series; a new one has n of them, each missing.
func (m metrics) series(family, labels string, n int, missing float64) []float64 {
	if m[family] == nil {
		m[family] = map[string][]float64{}
	}
	if m[family][labels] == nil {
		m[family][labels] = slices.Repeat([]float64{missing}, n)
	}
	return m[family][labels]
}

// encode writes the metrics in the text format: families in a fixed order,
// series sorted, the label le last, no timestamps.
func (m metrics) encode() []byte {
	var b bytes.Buffer
	for _, f := range families() {
		series := m[f.name]
		if len(series) == 0 {
			continue
		}
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s %s\n", f.name, f.help, f.name, f.kind)
		for _, labels := range slices.Sorted(maps.Keys(series)) {
			values := series[labels]
			if f.bounds == nil {
				fmt.Fprintf(&b, "%s{%s} %s\n", f.name, labels, number(values[0]))
				continue
			}
			for i := range len(f.bounds) + 1 {
				fmt.Fprintf(&b, "%s_bucket{%s,le=%q} %s\n", f.name, labels, f.le(i), number(values[i]))
			}
			fmt.Fprintf(&b, "%s_sum{%s} %s\n%s_count{%s} %s\n", f.name, labels, number(values[len(values)-1]), f.name, labels, number(values[len(values)-2]))
		}
	}
	return b.Bytes()
}

// le is the bound of bucket i as its label has it.
func (f *family) le(i int) string {
	if i == len(f.bounds) {
		return "+Inf"
	}
	return number(f.bounds[i])
}

func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

var errNotOurs = errors.New("is not a file that this program has written")

// decode reads what encode has written. Anything else is an error.
func decode(data []byte) (metrics, error) {
	m := metrics{}
	known := families()
	seen := map[string]bool{}
	for n, line := range strings.Split(string(data), "\n") {
		if line == "" {
			continue
		}
		if err := m.line(known, seen, line); err != nil {
			return nil, fmt.Errorf("%w: line %d: %w", errNotOurs, n+1, err)
		}
	}
	for _, f := range known {
		for _, values := range m[f.name] {
			if f.bounds != nil && !slices.IsSorted(values[:len(values)-1]) || slices.ContainsFunc(values, math.IsNaN) {
				return nil, fmt.Errorf("%w: %s is incomplete", errNotOurs, f.name)
			}
		}
	}
	return m, nil
}

// line reads one line of a file. What a histogram lacks stays NaN.
func (m metrics) line(known []family, seen map[string]bool, line string) error {
	find := func(name string) *family {
		if i := slices.IndexFunc(known, func(f family) bool { return f.name == name }); i >= 0 {
			return &known[i]
		}
		return nil
	}
	if comment, is := strings.CutPrefix(line, "# "); is {
		fields := strings.SplitN(comment, " ", 3)
		if len(fields) == 3 {
			if f := find(fields[1]); f != nil && (fields[0] == "HELP" || fields[0] == "TYPE" && fields[2] == f.kind) {
				return nil
			}
		}
		return fmt.Errorf("unexpected comment %q", line)
	}
	parts := sample().FindStringSubmatch(line)
	if parts == nil {
		return fmt.Errorf("unexpected line %q", text.Cut(line, 100))
	}
	name, ending, labels, second, le := parts[1], parts[2], parts[3], parts[4], parts[5]
	f := find(name)
	if f == nil || (f.bounds == nil) != (ending == "") || (le == "") == (ending == "_bucket") || second != strings.Join(f.labels[1:], "") {
		return fmt.Errorf("unexpected metric %q", name+ending)
	}
	value, err := strconv.ParseFloat(parts[6], 64)
	if err != nil || math.IsNaN(value) || math.IsInf(value, 0) || value < 0 {
		return fmt.Errorf("%q is not a value", parts[6])
	}
	id := line[:len(line)-len(parts[6])]
	if seen[id] {
		return fmt.Errorf("%q stands twice", name+ending)
	}
	seen[id] = true
	if f.bounds == nil {
		m.series(name, labels, 1, 0)[0] = value
		return nil
	}
	values := m.series(name, labels, len(f.bounds)+2, math.NaN())
	at := len(values) - 1 // of the sum
	if ending == "_bucket" {
		at = 0
		for at <= len(f.bounds) && f.le(at) != le {
			at++
		}
		if at > len(f.bounds) {
			return fmt.Errorf("unexpected bucket %q", le)
		}
	}
	if ending != "_count" {
		values[at] = value
	}
	return nil
}
