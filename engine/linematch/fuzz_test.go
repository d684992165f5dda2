package linematch

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// referenceStrip removes escape sequences from the whole output at once; it
// shares nothing with stripper but the rules.
func referenceStrip(s string) string {
	var out strings.Builder
	for {
		text, rest, found := strings.Cut(s, "\x1b")
		out.WriteString(text)
		if !found {
			return out.String()
		}
		s = rest
		if s == "" {
			continue
		}
		switch b := s[0]; {
		case b == '[':
			s = strings.TrimLeft(s[1:], " !\"#$%&'()*+,-./0123456789:;<=>?")
			if s != "" && (s[0] >= 0x40 && s[0] <= 0x7e || s[0] == 0x18 || s[0] == 0x1a) {
				s = s[1:]
			}
		case strings.IndexByte("]PX^_", b) >= 0:
			s = s[1:]
			stop := "\x1b\x18\x1a\r\n"
			if b == ']' {
				stop += "\a"
			}
			i := strings.IndexAny(s, stop)
			switch {
			case i < 0 || s[i] == '\r' || s[i] == '\n': // no string
			case s[i] == 0x1b:
				s = s[i:]
			default:
				s = s[i+1:]
			}
		case b >= 0x20 && b <= 0x2f:
			s = strings.TrimLeft(s, " !\"#$%&'()*+,-./")
			if s != "" && (s[0] >= 0x30 && s[0] <= 0x7e || s[0] == 0x18 || s[0] == 0x1a) {
				s = s[1:]
			}
		case b >= 0x30 && b <= 0x7e || b == 0x18 || b == 0x1a:
			s = s[1:]
		}
	}
}

// reference is what Matcher promises, said as simply as can be.
func reference(sources []string, output string) []bool {
	text := strings.ReplaceAll(referenceStrip(output), "\r\n", "\n")
	text = strings.ReplaceAll(text, "\r", "\n")
	lines := strings.Split(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	got := make([]bool, len(sources))
	for i, src := range sources {
		got[i] = slices.ContainsFunc(lines, regexp.MustCompile(src).MatchString)
	}
	return got
}

// small brings every change of ways within the reach of a few bytes.
var small = limits{block: 40, lane: 12, table: 256}

// compare runs a Matcher over output in chunks and says how it differs from
// the reference, "" if it does not.
func compare(sources []string, output string, l limits, cut func() int) string {
	patterns := make([]*Pattern, len(sources))
	for i, src := range sources {
		p, err := Parse(src)
		if err != nil {
			return err.Error()
		}
		patterns[i] = p
	}
	m := New(patterns)
	m.limits = l
	for rest := []byte(output); len(rest) > 0; {
		n := min(max(cut(), 1), len(rest))
		chunk := bytes.Clone(rest[:n])
		if k, err := m.Write(chunk); k != n || err != nil || !bytes.Equal(chunk, rest[:n]) {
			return fmt.Sprintf("Write returned %d, %v, or changed its chunk", k, err)
		}
		rest = rest[n:]
	}
	m.Close()
	for i, want := range reference(sources, output) {
		if m.Seen(i) != want {
			return fmt.Sprintf("pattern %q: seen is %v", sources[i], m.Seen(i))
		}
	}
	return ""
}

// Patterns stand one a line; a pattern that holds U+FFFD is left out, because
// package regexp distinguishes it from bytes that are not UTF-8 in some places only.
func FuzzMatcher(f *testing.F) {
	for _, seed := range []struct{ patterns, output string }{
		{"^$\nfoo.*bar\n(?i)timeout", "foo\r\n\r\nbar TIMEOUT"},
		{`\bé|\Bx$`, "aé x\xffx\x1b[31mx"},
		{"a{3,5}b?[^x-z]\n(?:ab|cd)+e", "aaab\nababe"},
		{"(?i)kiss", "\u212ai\u017fs"},
		// Both match at the same place.
		{"\\S503\n503.*[rst]\\B", "Key503error"},
	} {
		f.Add(seed.patterns, seed.output, uint64(1), true)
	}
	f.Fuzz(func(t *testing.T, patterns, output string, seed uint64, tiny bool) {
		var sources []string
		for src := range strings.SplitSeq(patterns, "\n") {
			if len(src) > 60 || strings.Contains(strings.ToLower(src), "fffd") || strings.Contains(src, "\ufffd") {
				continue
			}
			if _, err := Parse(src); err == nil {
				sources = append(sources, src)
			}
		}
		l := usual
		if tiny {
			l = small
		}
		rng := rand.New(rand.NewPCG(seed, 1))
		if diff := compare(sources, output, l, func() int { return rng.IntN(20) }); diff != "" {
			t.Error(diff)
		}
	})
}

// writer makes patterns, and output that has a fair chance to match them.
type writer struct{ *rand.Rand }

func (w writer) pick(s ...string) string { return s[w.IntN(len(s))] }

var words = []string{"refused", "timed out", "reset", "kiss", "Key", "503", "foo", "bar", "é", "straße", "ſ", "K",
	"a", "b", "ab", "x", "_", " ", "0", "error"}

func (w writer) pattern(depth int) string {
	if depth == 0 {
		return w.pick(append(words, `.`, `\d`, `\w`, `\S`, `[a-f]`, `[^a-f]`, `[^é]`, `\b`, `\B`, `^`, `$`, `\x00`,
			`\pL`,
			`[rst]`, `(?i:k)`, `(?i:refused)`, `(?i:s)`, `[Kk]`, ``)...)
	}
	sub := func() string { return w.pattern(w.IntN(depth)) }
	switch w.IntN(9) {
	case 0:
		return "(?:" + sub() + "|" + sub() + ")"
	case 1:
		return "(" + sub() + ")" + w.pick("*", "+", "?", "{2}", "{1,3}", "{0,2}", "*?", "+?", "{2,}")
	case 2:
		return w.pick("(?i)", "(?s)", "(?m)", "(?U)") + sub()
	case 3:
		return sub() + ".*" + sub()
	case 4:
		return w.pick("^", `\A`, `\b`) + sub()
	case 5:
		return sub() + w.pick("$", `\z`, `\b`, `\B`)
	default:
		return sub() + sub()
	}
}

func (w writer) output() string {
	var out strings.Builder
	for range w.IntN(60) {
		word := w.pick(words...)
		switch w.IntN(14) {
		case 0:
			word = strings.ToUpper(word)
		case 1:
			word = w.pick("\n", "\r", "\r\n", "\n\n", "\n\r")
		case 2:
			word = w.pick("\x1b[31m", "\x1b[0m", "\x1b]0;foo\a", "\x1b]8;;foo\x1b\\", "\x1b(B", "\x1b", "\x1b[",
				"\x1b]bar",
				"\x1bP1\x1b\\", "\x18", "\x1bM", "\x1b\x1b")
		case 3:
			word = w.pick("\xff", "\xe2\x82", "\xc3", "\x00", "\xf0\x9f\x98", "€", "😀", "\u009b", "\x9b", "\ufffd")
		case 4:
			cut := w.IntN(len(word) + 1)
			word = word[:cut] + "\x1b[1m" + word[cut:]
		case 5, 6:
			word = "\n"
		}
		out.WriteString(word)
	}
	return out.String()
}

// Seen is what the reference says, whatever the chunks: so it cannot depend on
// them. RETRY_FUZZ_TIME=5m runs for that long.
func TestMatcherIsTheReference(t *testing.T) {
	end := time.Now().Add(300 * time.Millisecond)
	if d, err := time.ParseDuration(os.Getenv("RETRY_FUZZ_TIME")); err == nil {
		end = time.Now().Add(d)
	}
	var seed uint64
	n := 0
	for ; n < 500 || time.Now().Before(end); n++ {
		if n%2 == 0 {
			seed = uint64(n)
		} else {
			seed = rand.Uint64()
		}
		w := writer{rand.New(rand.NewPCG(seed, 0))}
		sources := make([]string, 1+w.IntN(6))
		for i := range sources {
			for {
				sources[i] = w.pattern(w.IntN(5))
				if _, err := Parse(sources[i]); err == nil {
					break
				}
			}
		}
		output := w.output()
		l, widest := small, 30
		if w.IntN(4) == 0 {
			l = usual
		}
		if w.IntN(3) == 0 {
			widest = 2
		}
		if diff := compare(sources, output, l, func() int { return w.IntN(widest) }); diff != "" {
			t.Fatalf("%s\npatterns %q\noutput %q\nseed %d", diff, sources, output, seed)
		}
	}
	t.Logf("%d rounds", n)
}
