package telemetry

// This file counts. A run's metrics are what it adds to a file's, and what it sends by
// StatsD and OTLP.

import (
	"cmp"
	"slices"
	"strings"
)

// family is one metric: the label that it has beside the name, "" for none, and the
// upper bounds of a histogram's buckets.
type family struct {
	name, kind, help string
	label            string
	bounds           []float64
}

// The families, in the order of the file.
const (
	runs = iota
	attempts
	runAttempts
	delay
	attemptDuration
	runDuration
	refusals
	lastRun
)

var durationBounds = []float64{0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3600} // seconds

var families = [...]family{
	runs: {
		name: "retry_runs_total", kind: "counter", label: "outcome",
		help: "Runs that have ended, by outcome.",
	},
	attempts: {
		name: "retry_attempts_total", kind: "counter", label: "result",
		help: "Attempts that have ended, by result.",
	},
	runAttempts: {
		name: "retry_run_attempts", kind: "histogram", label: "outcome",
		help:   "Attempts of a run.",
		bounds: []float64{1, 2, 3, 5, 8},
	},
	delay: {
		name: "retry_delay_seconds", kind: "histogram",
		help:   "Waits between attempts as slept.",
		bounds: []float64{0.1, 0.5, 1, 2, 5, 10, 30, 60, 300},
	},
	attemptDuration: {
		name: "retry_attempt_duration_seconds", kind: "histogram",
		help:   "Duration of an attempt.",
		bounds: durationBounds,
	},
	runDuration: {
		name: "retry_run_duration_seconds", kind: "histogram",
		help:   "Duration of a run, waits included.",
		bounds: durationBounds,
	},
	refusals: {
		name: "retry_refused_total", kind: "counter", label: "guard",
		help: "Attempts that a guard refused.",
	},
	lastRun: {
		name: "retry_last_run_timestamp_seconds", kind: "gauge", label: "outcome",
		help: "Unix time of the end of the last run.",
	},
}

// series identifies a series by its family, the run's name and the value of the
// family's label.
type series struct {
	family      int
	name, label string
}

// metrics are values by series. A counter or gauge has one; a histogram the number of
// values up to each bound and of all, then their sum.
type metrics map[series][]float64

// values returns the values of a series; those of a new one are missing.
func (m metrics) values(s series, missing float64) []float64 {
	if m[s] == nil {
		n := 1
		if bounds := families[s.family].bounds; bounds != nil {
			n = len(bounds) + 2
		}
		m[s] = slices.Repeat([]float64{missing}, n)
	}
	return m[s]
}

func (m metrics) count(s series) { m.values(s, 0)[0]++ }

func (m metrics) observe(s series, value float64) {
	bounds, values := families[s.family].bounds, m.values(s, 0)
	for i := range values[:len(values)-1] {
		if i == len(bounds) || value <= bounds[i] {
			values[i]++
		}
	}
	values[len(values)-1] += value
}

// mostNames is how many names a file has; what comes later counts as otherName.
const (
	mostNames = 100
	otherName = "_other"
)

// add counts a run.
func (m metrics) add(run metrics) {
	names := map[string]bool{}
	for s := range m {
		names[s.name] = true
	}
	delete(names, otherName)
	for s, values := range run {
		if !names[s.name] && len(names) >= mostNames {
			s.name = otherName
		}
		if s.family == lastRun {
			m[s] = values
			continue
		}
		sums := m.values(s, 0)
		for i, v := range values {
			sums[i] += v
		}
	}
}

// of returns the series of a family, sorted.
func (m metrics) of(family int) (all []series) {
	for s := range m {
		if s.family == family {
			all = append(all, s)
		}
	}
	key := func(s series) string { return s.name + "\xff" + s.label } // in no UTF-8 text
	slices.SortFunc(all, func(a, b series) int { return cmp.Compare(key(a), key(b)) })
	return all
}

// otlp is the name of the metric in OTLP, and its unit.
func (f *family) otlp() (name, unit string) {
	name, seconds := strings.CutSuffix(f.name, "_seconds")
	if seconds {
		unit = "s"
	}
	return strings.ReplaceAll(strings.TrimSuffix(name, "_total"), "_", "."), unit
}
