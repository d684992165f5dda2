package classify

// This file hears what a command says of its input: that it is damaged, cut, no
// archive, not there. That is nothing in a script that goes on after a download
// that keeps silent:
//
//	curl -s https://host/app.tgz | tar xz
//	gzip: stdin: unexpected end of file

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/retrysh/retry/engine/event"
)

// ofInput are the built-in rules whose evidence may be about an input.
var ofInput = []string{damaged, "integrity-sums", "syntax", "not-a-thing", "file-missing", "file-missing-errno", "gone-missing", "exec-missing", "usage", "unknown-thing", "make-failed"}

// isOfInput reports whether the finding may be about an input.
func (f *finding) isOfInput() bool {
	return f.rule.builtIn && f.rule.Verdict == event.Permanent && f.line >= 0 && slices.Contains(ofInput, f.rule.ID)
}

// quiet finds a download that keeps silent and what follows it: curl(1), -s, and
// wget(1), -q.
var quiet = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[\s;&|(])(curl|wget2?)(\s(?:[^|;&\n]*\s)?(?:-[a-zA-Z]*[sq]\S*|--silent|--quiet)\s[^|;&\n]*)(&&|[|;&\n)])`)
})

// failing is the option by which curl ends with an error where the server does.
var failing = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\s(?:-[a-zA-Z]*f|--fail)`) })

// goesOn recognises a script that goes on after a download whose failure shows
// neither in its output nor in its exit code: behind "&&" nothing but an error page
// can follow.
func goesOn(script string) bool {
	for _, m := range quiet().FindAllStringSubmatch(script, -1) {
		if program, options, next := m[1], m[2], m[3]; next != "&&" || program == "curl" && !failing().MatchString(options) {
			return true
		}
	}
	return false
}

// hidesDownload reports whether the command is such a script, or the output shows
// that one was run, as make(1) and sh -x do.
func hidesDownload(argv []string, out *output) bool {
	for _, arg := range argv {
		if strings.ContainsAny(arg, "|;&\n") && goesOn(arg) {
			return true
		}
	}
	if !strings.Contains(out.text, "curl ") && !strings.Contains(out.text, "wget ") {
		return false
	}
	for line := range strings.Lines(out.text) {
		line = strings.Trim(line, "+ \n")
		if (strings.HasPrefix(line, "curl ") || strings.HasPrefix(line, "wget ")) && goesOn(line) {
			return true
		}
	}
	return false
}
