package rotate

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestWords(t *testing.T) {
	use := taken(New(parse(t, "HOST=a.example,b", "my-port={HOST}", "x=1")))
	for word, want := range map[string]string{
		"https://{HOST}/":           "https://a.example/",
		"{HOST}{HOST}":              "a.examplea.example",
		"{HOST}:{my-port}":          "a.example:{HOST}", // a value is not looked at again
		`{"host":"{HOST}","x":{x}}`: `{"host":"a.example","x":1}`,
		// The braces of others: find and xargs, fd, the shell, awk, JSON, templates.
		"{}":                "{}",
		"{/}":               "{/}",
		"${HOST}":           "${HOST}",
		"${HOST:-{HOST}}":   "${HOST:-a.example}",
		"{host}":            "{host}",
		"{ HOST }":          "{ HOST }",
		"{HOST":             "{HOST",
		"HOST}":             "HOST}",
		"{HOST,b}":          "{HOST,b}",
		"{print $1}":        "{print $1}",
		`{"a":{"b":[1,2]}}`: `{"a":{"b":[1,2]}}`,
		"{{.Names}}":        "{{.Names}}",
		"{OTHER}":           "{OTHER}",
		"":                  "",
		"\xff{HOST}\xfe":    "\xffa.example\xfe",
		"{HOST{HOST}":       "{HOSTa.example",
	} {
		if got := use.Words([]string{"cmd", word})[1]; got != want {
			t.Errorf("%q becomes %q, want %q", word, got, want)
		}
	}
}

// The words of the caller are not written to, and not copied without a rotation.
func TestWordsAreNotTouched(t *testing.T) {
	use := taken(New(parse(t, "HOST=a")))
	words := []string{"curl", "{HOST}", "{}"}
	if got := use.Words(words); !slices.Equal(got, []string{"curl", "a", "{}"}) || words[1] != "{HOST}" {
		t.Errorf("%q became %q", words, got)
	}
	if got := Use(nil).Words(words); &got[0] != &words[0] {
		t.Error("words were copied for no rotation")
	}
}

func TestVariable(t *testing.T) {
	for name, want := range map[string]string{"host": "RETRY_USE_HOST", "my-Host_2": "RETRY_USE_MY_HOST_2"} {
		if got := (&List{Name: name}).Variable(); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestCheckUsed(t *testing.T) {
	l := &List{Name: "HOST"}
	for _, words := range [][]string{
		{"curl", "{HOST}"}, {"{HOST}"}, {"sh", "-c", "curl $RETRY_USE_HOST"},
		{"sh", "-c", `curl "${RETRY_USE_HOST-x}"`}, {"x{HOST}{HOSTS}"},
	} {
		if err := l.CheckUsed(words); err != nil {
			t.Errorf("%q: %v", words, err)
		}
	}
	for _, words := range [][]string{
		{"curl", "HOST"}, {"{HOSTS}"}, {"${HOST}"}, {"$RETRY_USE_HOSTS"}, {"MY_RETRY_USE_HOST"}, {"{host}"}, {},
	} {
		if err := l.CheckUsed(words); err == nil {
			t.Errorf("%q: no error", words)
		}
	}
}

// A script around the command learns the value by its variable alone.
func TestCheckUsedByScripts(t *testing.T) {
	l := &List{Name: "HOST"}
	if err := l.CheckUsed([]string{"true"}, "", `switch-to "$RETRY_USE_HOST"`); err != nil {
		t.Error(err)
	}
	if err := l.CheckUsed([]string{"true"}, "switch-to {HOST}"); err == nil {
		t.Error("braces in a script are not replaced, and that is no error")
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]List{
		"HOST=a":             {Name: "HOST", Values: []string{"a"}},
		"h-o_2=a, b ,c d":    {Name: "h-o_2", Values: []string{"a", "b", "c d"}},
		"U=https://x/?a=1,b": {Name: "U", Values: []string{"https://x/?a=1", "b"}},
		"2={HOST}":           {Name: "2", Values: []string{"{HOST}"}},
	} {
		got, err := Parse(text)
		if err != nil || got.Name != want.Name || !slices.Equal(got.Values, want.Values) {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "HOST", "=a", "@=a", "HOST=", "HOST=,", "HOST=a,", "HOST=,a", "HOST=a,,b",
		"HOST@=a", "HOST=a, ,b", "HO ST=a", "HÖST=a", "HOST@@=a", "{HOST}=a", "HO\x00ST=a", "A.B=c"} {
		if l, err := Parse(text); err == nil {
			t.Errorf("%q is taken for %+v", text, l)
		}
	}
}

// FuzzWords compares the replacement with that of a regular expression.
func FuzzWords(f *testing.F) {
	for _, word := range []string{"{A}", "${A}", "{{A}}", "{A{B}", "x{B}y{A}", "$", "{", "$${A}", "{A}{A}", "{a-b}"} {
		f.Add(word, "v")
	}
	braces := regexp.MustCompile(`\$\{(?:A|B|a-b)\}|\{(?:A|B|a-b)\}`)
	f.Fuzz(func(t *testing.T, word, value string) {
		lists := []List{{Name: "A", Values: []string{value}}, {Name: "B", Values: []string{"{A}"}},
			{Name: "a-b", Values: []string{""}}}
		values := map[string]string{"{A}": value, "{B}": "{A}", "{a-b}": ""}
		want := braces.ReplaceAllStringFunc(word, func(found string) string {
			if strings.HasPrefix(found, "$") {
				return found
			}
			return values[found]
		})
		if got := taken(New(lists)).Words([]string{word})[0]; got != want {
			t.Errorf("%q becomes %q, want %q", word, got, want)
		}
	})
}

// FuzzParse checks what every list that is taken promises.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"HOST=a,b", "H@=a", "H=", "=", "H=a, ,b", "a-b_2@=x=y,z", ","} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, err := Parse(text)
		if err != nil {
			return
		}
		name := regexp.MustCompile(`^[A-Za-z0-9_-]+$`)
		if !name.MatchString(l.Name) || len(l.Values) == 0 || slices.Contains(l.Values, "") {
			t.Errorf("%q is taken for %+v", text, l)
		}
		if l.CheckUsed([]string{"x{" + l.Name + "}"}) != nil || l.CheckUsed([]string{l.Variable()}) != nil ||
			l.CheckUsed([]string{"x"}) == nil {
			t.Errorf("%q: the check of %+v is wrong", text, l)
		}
	})
}

func taken(r Rotation) Use { return r.Take() }
