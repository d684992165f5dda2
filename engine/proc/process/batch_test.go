package process

import (
	"strings"
	"testing"
)

func TestBatchLine(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"plain": "plain", "a b": `"a b"`, "": `""`, "a&b": `"a&b"`, "a>b": `"a>b"`, "a|b": `"a|b"`, "a^b": `"a^b"`,
		"%X%": `"%%cd:~,%X%%cd:~,%"`,
		`a"b`: `"a""b"`, `"`: `""""`, `a\`: `"a\\"`, `a\b`: `a\b`, `a\"b`: `"a\\""b"`, `a\\"`: `"a\\\\"""`,
		"!X!": `"!X!"`, "ü漢": "ü漢", "a=b": `"a=b"`, "(a)": `"(a)"`,
	} {
		got, err := batchLine(`C:\x y\z.bat`, []string{word})
		if want = `cmd.exe /e:on /v:off /d /s /c ""C:\x y\z.bat" ` + want + `"`; got != want || err != nil {
			t.Errorf("%q:\n%s, %v; want\n%s", word, got, err, want)
		}
	}
	for _, word := range []string{"a\nb", "a\rb", "a\x00b"} {
		if got, err := batchLine("z.bat", []string{word}); err == nil {
			t.Errorf("%q: %s", word, got)
		}
	}
	if got, err := batchLine(`a"b.bat`, nil); err == nil {
		t.Errorf("%s", got)
	}
	for path, want := range map[string]bool{"a.bat": true, `C:\x\a.CMD`: true, "a.bat. .": true, "a.exe": false,
		"bat": false, "a.bat.exe": false, "a.cmd ": true} {
		if isBatch(path) != want {
			t.Errorf("isBatch(%q) is %v", path, !want)
		}
	}
}

// FuzzBatchWord reads a line as cmd.exe does: outside of quotes there is nothing that it
// would take for a command, and no variable is left.
func FuzzBatchWord(f *testing.F) {
	for _, seed := range []string{"a&b", `"&calc`, `\"`, "%X%", "^", "a b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, word string) {
		got, err := batchWord(word)
		if err != nil {
			return
		}
		inside := false
		for _, r := range got {
			if r == '"' {
				inside = !inside
			} else if !inside && strings.ContainsRune("&|<>^() \t,;=!`'", r) {
				t.Errorf("%q is written %s", word, got)
			}
		}
		if inside || strings.Count(strings.ReplaceAll(got, "%%cd:~,%", ""), "%") > 0 {
			t.Errorf("%q is written %s", word, got)
		}
	})
}
