package manual

import "testing"

// TestRoffProtectsText: no text begins a request or ends an escape.
func TestRoffProtectsText(t *testing.T) {
	for text, want := range map[string]string{
		".TH at the start":  `\&.TH at the start`,
		"a\n'quote\n.dot":   "a\n" + `\&'quote` + "\n" + `\&.dot`,
		`C:\dir --flag`:     `C:\edir \-\-flag`,
		"in the . middle '": "in the . middle '",
	} {
		if got := roff(text); got != want {
			t.Errorf("roff(%q) = %q, want %q", text, got, want)
		}
	}
}
