package classify

import "testing"

func TestStamps(t *testing.T) {
	for _, c := range []struct {
		line, says string
		level      byte
	}{
		{"2026-11-28T10:15:03.123Z curl: (7)", "curl: (7)", 0},
		{"2026-11-28 10:15:03,123 INFO  curl: (7)", "curl: (7)", 'i'},
		{"[2026-11-28 10:15:03] [ERROR] curl: (7)", "curl: (7)", 'e'},
		{"10:15:03 WARN curl: (7)", "curl: (7)", 'w'},
		{"2026/11/28 10:15:03 curl: (7)", "curl: (7)", 0},
		{"Nov 28 10:15:03 build-3 deploy[411]: curl: (7)", "curl: (7)", 0},
		{"Nov  8 10:15:03 fatal: curl: (7)", "curl: (7)", 'f'},
		{"[2026-11-28T10:15:03+01:00] curl: (7)", "curl: (7)", 0},
		{"2026-11-28 10:15:03,4 - app.main - ERROR - curl: (7)", "curl: (7)", 'e'},
		{"2026-11-28 10:15:03 | ERROR | curl: (7)", "curl: (7)", 'e'},
		{"2026-11-28 10:15:03 ERROR | curl: (7)", "curl: (7)", 'e'},
		{"2026-11-28 10:15:03 ERROR 404: Not Found.", "ERROR 404: Not Found.", 'e'},
		{"2026-11-28 10:15:03 information is missing", "information is missing", 0},
		{"  2026-11-28 10:15:03 indented", "  2026-11-28 10:15:03 indented", 0},
		{"2026-11-28 in words", "2026-11-28 in words", 0},
		{"404 Not Found", "404 Not Found", 0},
		{"March is cold", "March is cold", 0},
		{"10:15:03", "10:15:03", 0},
	} {
		end, level := stampOf(c.line)
		if c.line[end:] != c.says || level != c.level {
			t.Errorf("%q says %q at level %q, want %q at %q", c.line, c.line[end:], level, c.says, c.level)
		}
	}
}

// TestLevelsOfALog: a level below error makes a warning of a line only if the logger marks
// others as errors.
func TestLevelsOfALog(t *testing.T) {
	const refused = "10:15:03 INFO connection refused\n"
	for _, c := range []struct {
		text string
		want lineKind
	}{
		{refused, plainLine},
		{refused + "10:15:04 INFO done\n", plainLine},
		{refused + "10:15:04 ERROR no such user\n", warningLine},
		{refused + "10:15:04 FATAL no such user\n", warningLine},
		{refused + "ERROR no such user\n", plainLine},
	} {
		out := newOutput(nil, []byte(c.text), nil)
		start := 0
		_, end := out.line(start)
		if got := out.kind(out.stamps.behind(start), end); got != c.want {
			t.Errorf("%q: the first line is of kind %q, want %q", c.text, got, c.want)
		}
	}
}
