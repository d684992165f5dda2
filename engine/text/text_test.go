package text

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf8"
)

func TestCut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in     string
		most   int
		cut    string
		middle string
	}{
		{"", 0, "", ""},
		{"abc", 3, "abc", "abc"},
		{"abcdef", 4, "abcd", "ab ... ef"},
		{"äöü", 3, "ä", " ... "},
		{"äöü", 5, "äö", "ä ... ü"},
		{"\xff\xff\xff", 2, "\xff\xff", "\xff ... \xff"},
	} {
		if got := Cut(c.in, c.most); got != c.cut {
			t.Errorf("Cut(%q, %d) = %q, want %q", c.in, c.most, got, c.cut)
		}
		if got := CutMiddle(c.in, c.most); got != c.middle {
			t.Errorf("CutMiddle(%q, %d) = %q, want %q", c.in, c.most, got, c.middle)
		}
	}
}

func FuzzCut(f *testing.F) {
	f.Add("äöü", 3)
	f.Fuzz(func(t *testing.T, s string, most int) {
		most = min(max(most, 0), 1000)
		got, middle := Cut(s, most), CutMiddle(s, most)
		if len(got) > most || !strings.HasPrefix(s, got) || len(middle) > max(most, len(s)) && len(middle) > most+
			len(" ... ") {
			t.Errorf("Cut(%q, %d) = %q, %q", s, most, got, middle)
		}
		if utf8.ValidString(s) && !(utf8.ValidString(got) && utf8.ValidString(middle)) {
			t.Errorf("Cut(%q, %d) = %q, %q", s, most, got, middle)
		}
	})
}

func TestWrap(t *testing.T) {
	t.Parallel()
	for in, want := range map[string][]string{
		"":                     {""},
		"one two three":        {"one two", "three"},
		" one  two ":           {"one two"},
		"a verylongword b c d": {"a", "verylongword", "b c d"},
	} {
		if got := Wrap(in, 7); !slices.Equal(got, want) {
			t.Errorf("Wrap(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestOneLine(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		" a\tb\r\nc\x00 ": "a b  c", "caf\xe9": "caf\uFFFD", "a\u2028b\u0085c": "a b c", "": "",
	} {
		if got := OneLine(in); got != want {
			t.Errorf("OneLine(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestQuote(t *testing.T) {
	t.Parallel()
	if got := Quote("a\"b"); got != `"a\"b"` {
		t.Error(got)
	}
	if got := Quote(strings.Repeat("ä", 1000)); got != `"`+strings.Repeat("ä", longestQuote/2)+`"...` {
		t.Error(got)
	}
}

func TestMilliseconds(t *testing.T) {
	t.Parallel()
	if got := Milliseconds(1500*time.Microsecond + 400); got != 1.5 {
		t.Error(got)
	}
}

func TestWriteJSON(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	if err := WriteJSON(&b, map[string]string{"a": "<&>"}); err != nil || b.String() != "{\"a\":\"<&>\"}\n" {
		t.Errorf("%q, %v", b.String(), err)
	}
}

func TestReadUpTo(t *testing.T) {
	failing := errors.New("broken")
	for _, c := range []struct {
		r    io.Reader
		data string
		more bool
		err  error
	}{
		{strings.NewReader("abc"), "abc", false, nil},
		{strings.NewReader("abcd"), "abcd", false, nil},
		{strings.NewReader("abcde"), "abcd", true, nil},
		{io.MultiReader(strings.NewReader("ab"), iotest.ErrReader(failing)), "ab", false, failing},
		{io.MultiReader(strings.NewReader("abcde"), iotest.ErrReader(failing)), "abcd", true, nil},
	} {
		if data, more, err := ReadUpTo(c.r, 4); string(data) != c.data || more != c.more || err != c.err {
			t.Errorf("%q, %v, %v; want %q, %v, %v", data, more, err, c.data, c.more, c.err)
		}
	}
}
