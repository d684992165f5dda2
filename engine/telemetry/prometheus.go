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
	"slices"
	"strconv"
	"strings"
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

// metrics are the values of a file: by family, then by label values joined by
// separator. A counter or gauge has one value; a histogram a cumulative count
// for each bound and for +Inf, then the sum.
type metrics map[string]map[string][]float64

const separator = "\xff" // in no UTF-8 text

// add counts a run.
func (m metrics) add(r *Run) {
	names := map[string]bool{}
	for _, series := range m {
		for key := range series {
			name, _, _ := strings.Cut(key, separator)
			names[name] = true
		}
	}
	name := r.name
	delete(names, otherName)
	if !names[name] && len(names) >= mostNames {
		name = otherName
	}
	outcome := string(r.outcome)
	count := func(family string, n int, labels ...string) { m.series(family, labels, 1, 0)[0] += float64(n) }
	observe := func(family string, h histogram, labels ...string) {
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
	count("retry_runs_total", 1, name, outcome)
	for result, n := range r.results {
		count("retry_attempts_total", n, name, result)
	}
	for guard, n := range r.refused {
		count("retry_refused_total", n, name, guard)
	}
	observe("retry_run_attempts", attempts, name, outcome)
	observe("retry_run_duration_seconds", took, name)
	observe("retry_delay_seconds", r.delays, name)
	observe("retry_attempt_duration_seconds", r.durations, name)
	m.series("retry_last_run_timestamp_seconds", []string{name, outcome}, 1, 0)[0] = float64(r.at(r.ended).UnixMilli()) / 1000
}

// series returns the values of one series; a new one has n of them, each missing.
func (m metrics) series(family string, labels []string, n int, missing float64) []float64 {
	key := strings.Join(labels, separator)
	if m[family] == nil {
		m[family] = map[string][]float64{}
	}
	if m[family][key] == nil {
		m[family][key] = slices.Repeat([]float64{missing}, n)
	}
	return m[family][key]
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
		for _, key := range slices.Sorted(maps.Keys(series)) {
			labels, values := f.labelled(strings.Split(key, separator)), series[key]
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

// labelled writes labels with their values escaped.
func (f *family) labelled(values []string) string {
	escape := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)
	parts := make([]string, len(f.labels))
	for i, label := range f.labels {
		parts[i] = label + `="` + escape.Replace(values[i]) + `"`
	}
	return strings.Join(parts, ",")
}

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

// line reads one line of a file.
func (m metrics) line(known []family, seen map[string]bool, line string) error {
	if comment, is := strings.CutPrefix(line, "# "); is {
		fields := strings.SplitN(comment, " ", 3)
		i := slices.IndexFunc(known, func(f family) bool { return len(fields) == 3 && f.name == fields[1] })
		if i < 0 || fields[0] != "HELP" && (fields[0] != "TYPE" || fields[2] != known[i].kind) {
			return fmt.Errorf("unexpected comment %q", line)
		}
		return nil
	}
	name, rest, found := strings.Cut(line, "{")
	i := slices.IndexFunc(known, func(f family) bool { return f.holds(name) })
	if !found || i < 0 {
		return fmt.Errorf("unexpected metric %q", name)
	}
	f := &known[i]
	labels := f.labels
	if name == f.name+"_bucket" {
		labels = append(slices.Clone(labels), "le")
	}
	values, rest, err := labelValues(labels, rest)
	if err != nil {
		return err
	}
	value, err := strconv.ParseFloat(strings.TrimPrefix(rest, " "), 64)
	if err != nil || math.IsNaN(value) || math.IsInf(value, 0) || value < 0 {
		return fmt.Errorf("%q is not a value", rest)
	}
	id := name + separator + strings.Join(values, separator)
	if seen[id] {
		return fmt.Errorf("%q stands twice", name)
	}
	seen[id] = true
	return m.set(f, name, values, value)
}

// holds reports whether a line with this name belongs to the family.
func (f *family) holds(name string) bool {
	if f.bounds == nil {
		return name == f.name
	}
	return name == f.name+"_bucket" || name == f.name+"_sum" || name == f.name+"_count"
}

// set takes one value of a series. What a histogram lacks stays NaN.
func (m metrics) set(f *family, name string, labels []string, value float64) error {
	if f.bounds == nil {
		m.series(f.name, labels, 1, 0)[0] = value
		return nil
	}
	values := m.series(f.name, labels[:len(f.labels)], len(f.bounds)+2, math.NaN())
	switch name {
	case f.name + "_sum":
		values[len(values)-1] = value
	case f.name + "_bucket":
		for i := range len(f.bounds) + 1 {
			if f.le(i) == labels[len(labels)-1] {
				values[i] = value
				return nil
			}
		}
		return fmt.Errorf("unexpected bucket %q", labels[len(labels)-1])
	}
	return nil
}

// labelValues reads `name="v",le="1"} ` with these labels in this order.
func labelValues(labels []string, text string) (values []string, rest string, err error) {
	for i, label := range labels {
		if i > 0 {
			text = strings.TrimPrefix(text, ",")
		}
		after, ok := strings.CutPrefix(text, label+`="`)
		if !ok {
			return nil, "", fmt.Errorf("label %s is missing", label)
		}
		var b strings.Builder
		for after != "" && after[0] != '"' {
			n := 1
			switch {
			case strings.HasPrefix(after, `\n`):
				b.WriteByte('\n')
				n = 2
			case strings.HasPrefix(after, `\\`), strings.HasPrefix(after, `\"`):
				b.WriteByte(after[1])
				n = 2
			default:
				b.WriteByte(after[0])
			}
			after = after[n:]
		}
		values = append(values, b.String())
		text = strings.TrimPrefix(after, `"`)
	}
	rest, ok := strings.CutPrefix(text, "} ")
	if !ok {
		return nil, "", errors.New("labels do not end")
	}
	return values, rest, nil
}
