package option

// This file says where each flag of a run comes from, for verbose mode, and which
// variables look like the variable of a flag and are not.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/retrysh/retry/engine"
)

// Sources returns a line for each place that a setting comes from.
func Sources(settings []Setting) []string {
	var lines []string
	for _, place := range []struct {
		name   string
		source Source
	}{{"from the policy", FromPolicy}, {"from the environment", FromEnvironment}, {"from the command line", FromCommandLine}} {
		var words []string
		for _, s := range settings {
			if max(s.Source, FromPolicy) == place.source && !slices.Contains(words, s.Word) {
				words = append(words, s.Word) // the values may be secrets
			}
		}
		if len(words) > 0 {
			lines = append(lines, place.name+": "+strings.Join(words, ", "))
		}
	}
	return lines
}

// Misnamed returns a line for each variable that was probably meant for a flag and
// sets none: one or two letters off, or set for commands by the program itself
// (docs/environment.md).
func Misnamed(table []Flag, environ []string) (lines []string) {
	nested, limit := false, false
	var known []string
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, "RETRY_") || value == "" {
			continue
		}
		nested, limit = nested || name == "RETRY_DEPTH", limit || name == "RETRY_MAX_ATTEMPTS"
		if flagOf(table, name) != nil || engine.SetsVariable(name) {
			continue
		}
		if known == nil {
			known = variables(table)
		}
		if other := nearest(name, known); other != "" {
			lines = append(lines, fmt.Sprintf("%s is not the variable of a flag and is ignored; did you mean %s?", name, other))
		}
	}
	if limit && !nested {
		lines = append(lines, "RETRY_MAX_ATTEMPTS is set for commands and does not limit attempts; did you mean RETRY_ATTEMPTS?")
	}
	return lines
}

// variables are those of all flags.
func variables(table []Flag) (all []string) {
	for i := range table {
		if table[i].HasVariable() {
			all = append(all, table[i].Variable())
		}
	}
	return all
}

// nearest returns the variable that differs least, "" if there is none: by a letter
// or two, of a short one by a letter or by the order of its letters.
func nearest(name string, known []string) string {
	near, least := "", farther+1
	for _, other := range known {
		d := Distance(name, other)
		if short := len(other) <= len("RETRY_")+shortVariable; short && d == farther && !sameLetters(name, other) {
			continue
		}
		if d < least {
			near, least = other, d
		}
	}
	return near
}

// shortVariable is the length, behind RETRY_, up to which two letters are half of a
// name.
const shortVariable = 4

func sameLetters(a, b string) bool {
	x, y := []byte(a), []byte(b)
	slices.Sort(x)
	slices.Sort(y)
	return string(x) == string(y)
}

// farther is the distance from which on names are not alike.
const farther = 2

// Distance is the number of letters to insert, delete or replace (Levenshtein);
// of words whose lengths alone set them apart, some number above farther.
func Distance(a, b string) int {
	if d := len(a) - len(b); d > farther || -d > farther {
		return farther + 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
