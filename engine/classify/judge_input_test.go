package classify

import (
	"slices"
	"testing"
)

func TestHidesDownload(t *testing.T) {
	for _, c := range []struct {
		argv   []string
		output string
		want   bool
	}{
		{argv: []string{"sh", "-c", "curl -s https://h.test/a | jq ."}, want: true},
		{argv: []string{"bash", "-c", "set -e; curl --silent -L h.test/a -o a; tar xf a"}, want: true},
		{argv: []string{"bash", "-c", "v=$(curl -sL h.test/latest)\necho $v"}, want: true},
		{argv: []string{"sh", "-c", "wget -qO- h.test/a.tar.xz | tar xJ"}, want: true},
		{argv: []string{"sh", "-c", "curl -sLO h.test/a && tar xf a"}, want: true}, // an error page is saved, too
		{argv: []string{"sh", "-c", "curl -fsSLO h.test/a && tar xf a"}},
		{argv: []string{"sh", "-c", "wget -q h.test/a && sh a"}},
		{argv: []string{"sh", "-c", "wget -q h.test/a; sh a"}, want: true},
		{argv: []string{"sh", "-ec", "wget2 -q -O a.gz h.test/a.gz; gunzip a.gz"}, want: true}, // ends with 0 on a 5xx
		{argv: []string{"sh", "-c", "curl https://h.test/a | jq ."}},                           // its progress and its error show
		{argv: []string{"sh", "-c", "jq . a; curl -s https://h.test/a"}},
		{argv: []string{"curl", "-s", "https://h.test/a;b"}},
		{argv: []string{"sh", "-c", "libcurl -s x | jq ."}},
		{argv: []string{"make"}, output: "curl -sL h.test/a.tgz | tar xz\ngzip: stdin: unexpected end of file\n", want: true},
		{argv: []string{"sh", "-x", "get"}, output: "+ curl -s h.test/a ; tar xf a\n", want: true},
		{argv: []string{"make"}, output: "wget -q h.test/a\nmake: *** [fetch] Error 8\n"},
		{argv: []string{"man"}, output: "pipe it: curl -s h.test/a | jq .\n"},
	} {
		if got := hidesDownload(c.argv, newOutput(nil, []byte(c.output))); got != c.want {
			t.Errorf("%q, %q: %v, want %v", c.argv, c.output, got, c.want)
		}
	}
}

// TestOfInputExists: the rules that are named are in the table.
func TestOfInputExists(t *testing.T) {
	for _, id := range slices.Concat(ofInput, inVain, untrusted) {
		if !slices.ContainsFunc(BuiltIn().Rules(), func(r *Rule) bool { return r.ID == id }) {
			t.Errorf("there is no rule %q", id)
		}
	}
}
