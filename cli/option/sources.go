package option

// This file says where each flag of a run comes from, and which variables look
// like the variable of a flag and are not. It is asked for in verbose mode only.

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

// NearMisses returns a line for each variable that no flag has and that is one
// or two letters off one that a flag has (SPEC section 1).
func NearMisses(table []Flag, environ []string) []string {
	var known []string
	for i := range table {
		if table[i].HasVariable() {
			known = append(known, table[i].Variable())
		}
	}
	var lines []string
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, "RETRY_") || slices.Contains(known, name) || engine.SetsVariable(name) {
			continue
		}
		if other := nearest(name, known); other != "" {
			lines = append(lines, fmt.Sprintf("%s is not the variable of a flag and is ignored; did you mean %s?", name, other))
		}
	}
	return lines
}

// nearest returns the name that differs least, by a letter or two, "" if there
// is none.
func nearest(name string, known []string) string {
	near, least := "", 3
	for _, other := range known {
		if d := Distance(name, other); d < least {
			near, least = other, d
		}
	}
	return near
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
