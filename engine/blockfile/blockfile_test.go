package blockfile

import (
	"slices"
	"strings"
	"testing"
)

func TestLines(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       []Line
	}{
		{"nothing", "", nil},
		{"a key and a value", "rule net\n", []Line{{1, "rule", "net"}}},
		{"no line end", "rule net", []Line{{1, "rule", "net"}}},
		{"blanks and tabs", "  match\t \t a  b \r\n", []Line{{1, "match", "a  b"}}},
		{"a key alone", "quiet\n", []Line{{1, "quiet", ""}}},
		{"a blank line", "a 1\n \t\nb 2\n", []Line{{1, "a", "1"}, {2, "", ""}, {3, "b", "2"}}},
		{"comments end nothing", "a 1\n  # no\nb # yes\n", []Line{{1, "a", "1"}, {3, "b", "# yes"}}},
		{"byte order mark", "\ufeffa 1\n", []Line{{1, "a", "1"}}},
		{"not UTF-8", "\xff \xfe\n", []Line{{1, "\xff", "\xfe"}}},
	} {
		if got := slices.Collect(Lines(test.text)); !slices.Equal(got, test.want) {
			t.Errorf("%s: %#v, want %#v", test.name, got, test.want)
		}
	}
}

func TestLinesStopsWhenAsked(t *testing.T) {
	for l := range Lines("a 1\nb 2\n") {
		if l.Key != "a" {
			t.Errorf("went on to %q", l.Key)
		}
		break
	}
}

// What comes out, written down again, reads the same.
func FuzzLines(f *testing.F) {
	f.Add("rule  a\n# c\n\nmatch \tx y \r\n")
	f.Add("\ufeff\ufeff a")
	f.Add("\x00\n\xff\xfe \x85")
	f.Fuzz(func(t *testing.T, text string) {
		b := strings.Builder{}
		b.WriteString("\ufeff")
		var first []Line
		for l := range Lines(text) {
			if strings.HasPrefix(l.Key, "#") || strings.ContainsAny(l.Key, " \t\n") ||
				strings.Contains(l.Value, "\n") || l.Key == "" && l.Value != "" {
				t.Fatalf("line %#v", l)
			}
			for strings.Count(b.String(), "\n") < l.Number-1 {
				b.WriteString("#\n")
			}
			b.WriteString(l.Key + " " + l.Value + "\n")
			first = append(first, l)
		}
		if again := slices.Collect(Lines(b.String())); !slices.Equal(again, first) {
			t.Fatalf("%#v, read again %#v", first, again)
		}
	})
}
