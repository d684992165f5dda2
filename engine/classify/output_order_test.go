package classify

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/retrysh/retry/engine/linematch"
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

// FuzzOutput: in whatever order the streams came, their lines are all there, those of a stream
// in its order, and known as the stream's. A mark at the beginning of each line of standard
// error tells them apart.
func FuzzOutput(f *testing.F) {
	f.Add("a\nb\n", "c\nd\n", []byte{2, 0, 0, 3, 2, 0, 0, 3})
	f.Add("a\rb", "c", []byte{1, 1, 255, 0})
	f.Add("\x1b[31ma\n\n", "\x1b]0;t\x07c\r\n", []byte{0, 4})
	f.Add("10:00:00 ERROR 404", "[12:34:56] warn", []byte{})
	f.Fuzz(func(t *testing.T, stdout, stderr string, counts []byte) {
		if strings.ContainsAny(stdout+stderr, "\x1b\b") || !utf8.ValidString(stdout+stderr) {
			newOutput([]byte(stdout), []byte(stderr), nil) // what is shown of it is linematch's matter
			return
		}
		var marked strings.Builder
		for line := range strings.Lines(strings.ReplaceAll(stderr, "\r", "\n")) {
			marked.WriteString("E" + line)
		}
		var order []Arrival
		for i := 0; i+1 < len(counts); i += 2 {
			order = append(order, Arrival{int(counts[i]), int(counts[i+1])})
		}
		outs := strings.ReplaceAll(strings.ReplaceAll(stdout, "\r", "\n"), "E", "e")
		out := newOutput([]byte(outs), []byte(marked.String()), order)
		var got [2][]string
		for start := 0; start < len(out.text); {
			from, end := out.line(start)
			if line := out.text[from:end]; line != "" {
				i := 0
				if out.stream(from) == "stderr" {
					i = 1
				}
				got[i] = append(got[i], line)
			}
			start = end + 1
		}
		for i, all := range []string{outs, marked.String()} {
			want := strings.FieldsFunc(string(linematch.Visible(nil, []byte(all))),
				func(c rune) bool { return c == '\n' })
			if !slices.Equal(got[i], want) {
				t.Errorf("%q and %q in the order %v are %q: stream %d has the lines %q, want %q", outs,
					marked.String(), order, out.text, i, got[i], want)
			}
		}
	})
}
