package human

import (
	"slices"
	"testing"
)

// A column is counted as a terminal draws it: Han takes two, a combining accent none.
func TestColumns(t *testing.T) {
	for text, want := range map[string]string{
		"abcdef":           "abcd",
		"漢字漢字":             "漢字",
		"a漢字":              "a漢",
		"e\u0301e\u0301ab": "e\u0301e\u0301ab",
		"ⴰⴱⴲⴳⴴ":            "ⴰⴱⴲⴳ",
	} {
		if got := fit(text, 4); got != want {
			t.Errorf("of %q, %q fits into 4 columns, not %q", text, want, got)
		}
	}
	if got := wrap("123456789 漢字 漢字", 15); !slices.Equal(got, []string{"123456789 漢字", indent + "漢字"}) {
		t.Errorf("%q", got)
	}
}

func TestTargetsThatDoNotFitAreCounted(t *testing.T) {
	texts := []string{"tcp://a:1: refused", "tcp://b:2", "file:///c"}
	for columns, want := range map[int]string{
		0:  "tcp://a:1: refused; tcp://b:2; file:///c",
		40: "tcp://a:1: refused; tcp://b:2; file:///c",
		39: "tcp://a:1: refused; tcp://b:2; 1 more",
		36: "tcp://a:1: refused; 2 more",
		20: "tcp://a:1: r; 2 more",
		18: "tcp://a:1; 2 more",
		1:  "; 2 more",
	} {
		if got := counted(texts, columns); got != want {
			t.Errorf("%d columns: %q, want %q", columns, got, want)
		}
	}
}
