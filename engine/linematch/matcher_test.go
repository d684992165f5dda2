package linematch

import (
	"runtime"
	"strings"
	"testing"
)

func parse(t testing.TB, sources ...string) []*Pattern {
	t.Helper()
	patterns := make([]*Pattern, len(sources))
	for i, src := range sources {
		p, err := Parse(src)
		if err != nil {
			t.Fatal(err)
		}
		patterns[i] = p
	}
	return patterns
}

// seen writes output in chunks of n bytes and says which patterns matched.
func seen(patterns []*Pattern, output string, n int) []bool {
	m := New(patterns)
	for len(output) > 0 {
		k := min(n, len(output))
		_, _ = m.Write([]byte(output[:k]))
		output = output[k:]
	}
	m.Close()
	got := make([]bool, len(patterns))
	for i := range got {
		got[i] = m.Seen(i)
	}
	return got
}

func TestMatcher(t *testing.T) {
	tests := []struct {
		name, pattern, output string
		want                  bool
	}{
		{"a line", `refused$`, "ok\nconnection refused\nbye\n", true},
		{"the last line without an end", `^bye$`, "ok\nbye", true},
		{"no line in empty output", ``, "", false},
		{"an empty line", `^$`, "\n", true},
		{"no empty line after the last end", `^$`, "a\n", false},
		{"no empty line in a CR LF", `^$`, "a\r\nb\r\n", false},
		{"an empty line between CR LFs", `^$`, "a\r\n\r\nb", true},
		{"a CR ends a line", `^ 50%$`, " 10%\r 50%\r100%\n", true},
		{"LF CR is two ends", `^$`, "a\n\rb", true},
		{"never across lines", `a\s+b`, "a\nb", false},
		{"nor with (?s)", `(?s)a.b`, "a\nb", false},
		{"(?m) changes nothing", `(?m)^b$`, "a\nb\n", true},
		{"colour within a word", `refused`, "ref\x1b[1;31mused\x1b[0m\n", true},
		{"colour before ^", `^error`, "\x1b[31merror\n", true},
		{"a title by BEL", `^error`, "\x1b]0;make: all\x07error\n", true},
		{"a link by ST", `^see here$`, "see \x1b]8;;http://h/\x1b\\here\x1b]8;;\x1b\\\n", true},
		{"what a link hides", `http`, "see \x1b]8;;http://h/\x1b\\here\x1b]8;;\x1b\\\n", false},
		{"an open command ends with its line", `^error$`, "\x1b]0;title\nerror\n", true},
		{"and hides nothing", `title`, "\x1b]0;title\nerror\n", true},
		{"nor at the end", `title`, "\x1b]0;title", true},
		{"a character set", `^error$`, "\x1b(Ber\x1b(0ror\n", true},
		{"an open sequence ends with its line", `^error$`, "\x1b[31\nerror\n", true},
		{"a cancelled one", `^error$`, "\x1b[31\x18error\n", true},
		{"escape alone", `^error$`, "\x1b\x1b\x1b[merror\x1b", true},
		{"CSI in the middle of UTF-8", `^ě2m$`, "ě2m\n", true},
		{"quotation mark encoded twice", `^â\x{80}\x{9d} error$`, "â\u0080\u009d error\n", true},
		{"escapes alone are no line", ``, "\x1b[0m", false},
		{"not UTF-8", `^a.b$`, "a\xffb\n", true},
		{"not UTF-8, cut", `^a..b$`, "a\xe2\x82b\n", true},
		{"UTF-8", `^a.b$`, "a€b\n", true},
		{"NUL", `^a\x00b$`, "a\x00b\n", true},
		{"fold", `(?i)SERVICE UNAVAILABLE`, "503 Service Unavailable\n", true},
		{"fold of the long s", `(?i)^SERVICE$`, "\u017fervice\n", true},
		{"fold of the Kelvin sign", `(?i)^broken pipe$`, "bro\u212aen pipe\n", true},
		{"a word's edge", `\bfail\b`, "xfail fail. ", true},
		{"no word's edge", `\bfail\b`, "xfail failx", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			patterns := parse(t, tt.pattern)
			for n := 1; n <= len(tt.output)+1; n++ {
				if got := seen(patterns, tt.output, n)[0]; got != tt.want {
					t.Fatalf("in chunks of %d: got %v, want %v", n, got, tt.want)
				}
			}
		})
	}
}

// An open command may not swallow what follows it for ever, even if no line
// ends.
func TestOpenCommandIsBounded(t *testing.T) {
	patterns := parse(t, `error`, `x{100}`)
	got := seen(patterns, "\x1b]0;"+strings.Repeat("x", escapeMax)+"error", 1000)
	if !got[0] || !got[1] {
		t.Errorf("got %v", got)
	}
}

// A line of any length is matched as a whole: its ends are the only ones, and
// nothing is lost between two blocks.
func TestLongLine(t *testing.T) {
	for _, size := range []int{usual.block - 20, usual.block - 3, usual.block, usual.block + 5, 200 << 10, 1 << 20} {
		line := "begin " + strings.Repeat("é-", size/3) + "middle" + strings.Repeat("-é", size/3) + " end"
		patterns := parse(t, `^begin .*middle.* end$`, `é-middle-é`, `middle`, `(?i)MIDDLE.*END\z`, `\bend\b`, `begin`,
			`^-`, `-$`, `\Bend`, `^$`, `^end`, `begin$`, `[^-é]{8}`, `^é`, `\x{fffd}`)
		for _, n := range []int{999, 4096, 1 << 20} {
			got := seen(patterns, "x\n"+line+"\r\nx", n)
			for i, want := range []bool{true, true, true, true, true, true} {
				if got[i] != want {
					t.Errorf("%d bytes in chunks of %d: %s is not seen", len(line), n, patterns[i])
				}
			}
			for i := 6; i < len(got); i++ {
				if got[i] {
					t.Errorf("%d bytes in chunks of %d: %s is seen", len(line), n, patterns[i])
				}
			}
		}
	}
}

// Memory does not grow with the output, whatever it is.
func TestMemoryIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("works for long on one goroutine")
	}
	const size, most = 4 << 20, 16 << 20
	chunk := func(s string) []byte { return []byte(strings.Repeat(s, 64<<10/len(s))) }
	hard := exponential(8)
	for _, tt := range []struct {
		name     string
		patterns []string
		chunk    []byte
		size     int
	}{
		{"one line", append(bare, sixty...), chunk("word "), size},
		{"one line of zeros", append(bare, sixty...), chunk("\x00"), size},
		{"open escapes", sixty, chunk("\x1b]0;"), size},
		{"all candidates", sixty, chunk("connection reset by\n"), size},
		{"states that thrash", hard, lowerWords(64<<10, 80), 96 << 10},
		{"one line of them", hard, lowerWords(64<<10, 0), 96 << 10},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := New(parse(t, tt.patterns...))
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			for n := 0; n < tt.size; n += len(tt.chunk) {
				_, _ = m.Write(tt.chunk)
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > most {
				t.Errorf("%d bytes are held after %d bytes of output", grown, tt.size)
			}
			m.Close()
		})
	}
}

func TestSeenBeforeClose(t *testing.T) {
	m := New(parse(t, `one`, `two`))
	_, _ = m.Write([]byte("one\rtwo"))
	if !m.Seen(0) {
		t.Error("the line that ended is not seen")
	}
	m.Close()
	if !m.Seen(1) {
		t.Error("the last line is not seen")
	}
}

func TestParseError(t *testing.T) {
	tests := []struct{ src, want string }{
		{`a(b`, `pattern "a(b": a ( is not closed`},
		{`a)b`, `pattern "a)b": a ) has no (; to match one, write \)`},
		{`[a`, `pattern "[a": the [ at "[a" is not closed`},
		{`a\`, `pattern "a\\": it ends in a single \; to match one, write \\`},
		{`*a`, `pattern "*a": nothing stands before "*"; to match the character, write \*`},
		{`a**`, `pattern "a**": "**" repeats a repetition`},
		{`a{1001}`, `pattern "a{1001}": the repeat count in "{1001}" is out of order, or with those within it ` +
			`above 1000`},
		{`(a{2,100}b){3,11}`, `pattern "(a{2,100}b){3,11}": the repeat count in "{3,11}" is out of order, or ` +
			`with those within it above 1000`},
		{`[z-a]`, `pattern "[z-a]": the range "z-a" runs backwards or has no end`},
		{`(a)\1`, `pattern "(a)\\1": "\\1" is not an escape sequence (there are no back-references)`},
		{`(?=a)`, `pattern "(?=a)": "(?=" is not complete, or not supported (there is no look-ahead or look-behind)`},
		{`\p{Nosuch}`, `pattern "\\p{Nosuch}": "\\p{Nosuch}" is not a Unicode class`},
		{"a\xff", `pattern "a\xff": it is not valid UTF-8`},
	}
	for _, tt := range tests {
		_, err := Parse(tt.src)
		if err == nil || err.Error() != tt.want {
			t.Errorf("%q:\n got %v\nwant %s", tt.src, err, tt.want)
		}
	}
	p, err := Parse(`a|b`)
	if err != nil || p.String() != `a|b` {
		t.Errorf("got %v, %v", p, err)
	}
}
