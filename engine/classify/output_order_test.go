package classify

import (
	"strings"
	"testing"
)

func TestOrderOfStreams(t *testing.T) {
	for _, c := range []struct {
		name, stdout, stderr string
		order                []Arrival
		want                 string // lines of standard error begin with E
	}{
		{"no order", "a\nb\n", "Ec\nEd\n", nil, "a b Ec Ed"},
		{"in turns", "a\nb\n", "Ec\nEd\n", []Arrival{{2, 0}, {0, 3}, {2, 0}, {0, 3}}, "a Ec b Ed"},
		{"standard error first", "a\n", "Eb\n", []Arrival{{0, 3}, {2, 0}}, "Eb a"},
		{"at once", "a\n", "Eb\n", []Arrival{{2, 3}}, "a Eb"},
		{"a line in two reads", "long\n", "Eb\n", []Arrival{{2, 0}, {0, 3}, {3, 0}}, "Eb long"},
		{"a line without an end", "a\nb", "Ec\n", []Arrival{{3, 0}, {0, 3}}, "a b Ec"},
		{"the order of what the tail lost", "b\n", "Ec\n", []Arrival{{100, 0}, {0, 50}, {0, 3}, {2, 0}}, "Ec b"},
		{"what came before the order", "a\nb\n", "Ec\nEd\n", []Arrival{{0, 3}, {2, 0}}, "a Ec Ed b"},
		{"one stream only", "a\n", "", []Arrival{{2, 9}}, "a"},
		{"carriage returns", "1%\r2%\r", "Eb\n", []Arrival{{3, 0}, {0, 3}, {3, 0}}, "1% Eb 2%"},
	} {
		out := newOutput([]byte(c.stdout), []byte(c.stderr), c.order)
		if got := strings.Join(strings.Fields(out.text), " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		for i := range out.text {
			start, end := out.line(i)
			if line := out.text[start:end]; line != "" && strings.HasPrefix(line, "E") != (out.stream(i) == "stderr") {
				t.Errorf("%s: %q is of %s", c.name, line, out.stream(i))
			}
		}
	}
}
