package telemetry

// This file writes and reads metrics in Prometheus's text format
// (prometheus.io/docs/instrumenting/exposition_formats). The file is the state:
// anything else than these families is an error, so that no other program's file is
// overwritten.

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/retrysh/retry/engine/text"
)

// encode writes the metrics: families in a fixed order, series sorted, the label le
// last, no timestamps.
func (m metrics) encode() []byte {
	var b bytes.Buffer
	for i, f := range families {
		for n, s := range m.of(i) {
			if n == 0 {
				fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %[1]s %[3]s\n", f.name, f.help, f.kind)
			}
			labels, values := f.labelled(s), m[s]
			if f.bounds == nil {
				fmt.Fprintf(&b, "%s{%s} %s\n", f.name, labels, number(values[0]))
				continue
			}
			for i := range len(f.bounds) + 1 {
				fmt.Fprintf(&b, "%s_bucket{%s,le=%q} %s\n", f.name, labels, f.le(i), number(values[i]))
			}
			fmt.Fprintf(&b, "%s_sum{%s} %s\n%[1]s_count{%[2]s} %[4]s\n", f.name, labels, number(values[len(values)-1]),
				number(values[len(values)-2]))
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

// labelled writes the labels with their values escaped.
func (f *family) labelled(s series) string {
	escape := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)
	labels := `name="` + escape.Replace(s.name) + `"`
	if f.label != "" {
		labels += "," + f.label + `="` + escape.Replace(s.label) + `"`
	}
	return labels
}

var (
	errNotOurs    = errors.New("is not a file that this program has written")
	errUnexpected = errors.New("unexpected")
)

// decode reads what encode has written. Anything else is an error.
func decode(data []byte) (metrics, error) {
	m := metrics{}
	seen := map[string]bool{}
	for n, line := range strings.Split(string(data), "\n") {
		if line == "" {
			continue
		}
		err := m.line(seen, line)
		if errors.Is(err, errUnexpected) {
			err = fmt.Errorf("%w %s", err, text.Quote(line))
		}
		if err != nil {
			return nil, fmt.Errorf("%w: line %d: %w", errNotOurs, n+1, err)
		}
	}
	for s, values := range m { // what a histogram lacks is NaN
		f := &families[s.family]
		if f.bounds != nil && !slices.IsSorted(values[:len(values)-1]) || slices.ContainsFunc(values, math.IsNaN) {
			return nil, fmt.Errorf("%w: %s is incomplete", errNotOurs, f.name)
		}
	}
	return m, nil
}

// line reads one line of a file.
func (m metrics) line(seen map[string]bool, line string) error {
	if comment, is := strings.CutPrefix(line, "# "); is {
		words := strings.SplitN(comment, " ", 3)
		i := slices.IndexFunc(families[:], func(f family) bool { return len(words) == 3 && f.name == words[1] })
		if i < 0 || words[0] != "HELP" && (words[0] != "TYPE" || words[2] != families[i].kind) {
			return errUnexpected
		}
		return nil
	}
	end := max(strings.LastIndexByte(line, ' '), 0)
	id := line[:end]
	value, err := strconv.ParseFloat(line[min(end+1, len(line)):], 64)
	if err != nil || math.IsNaN(value) || math.IsInf(value, 0) || value < 0 {
		return errUnexpected
	}
	name, labels, _ := strings.Cut(id, "{")
	i, part := partOf(name)
	if i < 0 {
		return errUnexpected
	}
	if seen[id] {
		return fmt.Errorf("%s stands twice", text.Quote(id))
	}
	seen[id] = true
	return m.set(i, part, labels, value)
}

// partOf returns the family to which a line with this name belongs, and what it holds
// of a histogram. There is none below 0.
func partOf(name string) (family int, part string) {
	for i, f := range families {
		part, is := strings.CutPrefix(name, f.name)
		if is &&
			(f.bounds == nil && part == "" ||
				f.bounds != nil && slices.Contains([]string{"_bucket", "_sum", "_count"}, part)) {
			return i, part
		}
	}
	return -1, ""
}

// set takes one value of a series.
func (m metrics) set(i int, part, labels string, value float64) error {
	f := &families[i]
	s := series{family: i}
	le := ""
	ok := label(&labels, "name", &s.name) && (f.label == "" || label(&labels, f.label, &s.label)) &&
		(part != "_bucket" || label(&labels, "le", &le))
	if !ok || labels != "}" {
		return errUnexpected
	}
	values, at := m.values(s, math.NaN()), 0
	switch part {
	case "_count":
		return nil // that of the last bucket
	case "_sum":
		at = len(values) - 1
	case "_bucket":
		for at < len(f.bounds) && f.le(at) != le {
			at++
		}
		if f.le(at) != le {
			return errUnexpected
		}
	}
	values[at] = value
	return nil
}

// label reads `name="value"` and a comma behind it from labels.
func label(labels *string, name string, value *string) bool {
	rest, found := strings.CutPrefix(*labels, name+`="`)
	if !found {
		return false
	}
	quoted, err := strconv.QuotedPrefix(`"` + rest)
	if err != nil {
		return false
	}
	*value, err = strconv.Unquote(quoted)
	*labels = strings.TrimPrefix(rest[len(quoted)-1:], ",")
	return err == nil
}
