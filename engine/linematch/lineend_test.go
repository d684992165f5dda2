package linematch

import "testing"

func TestPatternsThatMatchNoLine(t *testing.T) {
	for src, want := range map[string]bool{
		`a\nb`: true, `\r\n`: true, `[\n\r]`: true, `(a\n)+b`: true, `a\n|b\n`: true, `(?i)a\nb{2}`: true,
		`(a\n){2,}`: true,
		`a|b\n`:     false, `a\n?`: false, `a\n*b`: false, `[^x]`: false, `[\s]`: false, `a$`: false, ``: false,
		`(a\n){0,2}`: false, `.`: false, `(?s).`: false, `\x{a0}`: false,
	} {
		if _, err := Parse(src); (err != nil) != want {
			t.Errorf("%q: %v", src, err)
		}
	}
}
