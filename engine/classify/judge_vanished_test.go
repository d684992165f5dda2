package classify

import (
	"strings"
	"testing"
)

func TestVanished(t *testing.T) {
	for _, c := range []struct {
		argv, line string
		want       bool
	}{
		{"cp -r src dst", "cp: cannot stat 'src/page-7.html': No such file or directory", true},
		{"sudo cp -a src/ dst", "cp: cannot stat 'src/page-7.html': No such file or directory", true},
		{"rm -r cache", "rm: cannot remove 'cache/a/b': No such file or directory", true},
		{"grep -r x .", "grep: ./a: No such file or directory", true},
		{"find /srv -delete", "find: ‘/srv/a’: No such file or directory", true},
		{"find ./ -delete", "find: ‘./a’: No such file or directory", true},
		{"cp -r src dst", "cp: cannot stat 'src': No such file or directory", false},
		{"cp -r src dst", "cp: cannot stat 'src-2/a': No such file or directory", false},
		{"cp -r src dst", "cp: cannot stat 'src/a': Permission denied", false},
		{"cp -rL src dst", "cp: cannot stat 'src/link': No such file or directory", false},
		{"grep -R x .", "grep: ./link: No such file or directory", false},
		{"grep -c x logs/a.log logs", "grep: logs/a.log: No such file or directory", false},
		{"tar xf a.tar -C out", "tar: out/x: Cannot open: No such file or directory", false},
		{"python3 app", "python3: can't open file 'app/x.py': No such file or directory", false},
	} {
		if got := vanished(strings.Fields(c.argv), c.line); got != c.want {
			t.Errorf("%s, %s: %v, want %v", c.argv, c.line, got, c.want)
		}
	}
}
