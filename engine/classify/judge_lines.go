package classify

// This file tells lines that speak of the failure from those that do not.

import (
	"slices"
	"strings"

	"github.com/retrysh/retry/engine/event"
)

// lineKind says how much a line is worth as evidence.
type lineKind int

const (
	plainLine   lineKind = iota
	warningLine          // something that the tool itself took lightly
	helpLine             // an option and its meaning, from a usage text
	usageLine            // how a usage text begins: it speaks of wrong use only
	quotedLine           // a line of a program that a compiler or interpreter shows
	testLine             // the name of a test, or what a parser points at
	frameLine            // a call on the stack, from a backtrace
	settingLine          // a setting in a dump of an object
	guessLine            // one of several causes that the tool thinks of
	passedLine           // a test or a step that went well
)

// counts reports whether a line of the kind is any evidence for the rule.
func (r *Rule) counts(kind lineKind) bool {
	switch kind {
	case helpLine, quotedLine, frameLine, settingLine, passedLine:
		return false
	case guessLine:
		return r.Verdict == event.Transient
	case usageLine, testLine:
		return r.Verdict == event.Permanent
	case warningLine:
		return len(r.Tools) > 0 || r.Strength != Weak || r.Verdict != event.Permanent
	}
	return true
}

// kind says what the line is that the text from start to end belongs to.
func (o *output) kind(start, end int) lineKind {
	if o.isQuoted(start, end) {
		return quotedLine
	}
	kind := kindOf(o.lower[start:end])
	if kind == plainLine || kind == warningLine {
		return o.kindByAbove(start, end, kind)
	}
	return kind
}

// messageKeys are keys of an object whose values tell of the failure.
var messageKeys = []string{"err", "received", "actual", "got", "message", "msg", "reason", "cause", "code", "status", "syscall", "name", "type", "detail", "body", "data", "description", "title", "state", "result"}

// isSetting recognises a setting in a dump of an object, such as the request that
// a JavaScript program prints with its error: "  timeout: 0,", "  aborted: false",
// "  'user-agent': 'a/1.2 b/5.2.2',".
func isSetting(line string) bool {
	trimmed := strings.TrimLeft(line, " \t")
	key, value, found := strings.Cut(trimmed, ":")
	key = strings.Trim(key, `"'`)
	if !found || trimmed == line || key == "" || strings.ContainsAny(key, " ./()[]{}") {
		return false
	}
	value = strings.TrimSuffix(strings.TrimSpace(value), ",")
	switch value {
	case "false", "null", "undefined":
		return true
	}
	if key == "user-agent" {
		return true
	}
	if holds(key, messageKeys...) {
		return false
	}
	return value == "{" || value == "[" || value == "{}" || value == "[]" || strings.Contains(value, "[function") || value != "" && strings.Trim(value, "0123456789.-") == ""
}

// kindOf looks at a line in lower case.
func kindOf(line string) lineKind {
	trimmed := strings.TrimLeft(line, " \t[(<*#>!-")
	if strings.HasPrefix(trimmed, "usage:") || strings.HasPrefix(trimmed, "usage :") || strings.Contains(line, "did you mean") {
		return usageLine
	}
	if isHelp(line) {
		return helpLine
	}
	text := strings.TrimLeft(line, " \t")
	if isPassed(text) {
		return passedLine
	}
	if isTestName(text) || strings.HasPrefix(trimmed, "expected:") || isPointer(line) {
		return testLine
	}
	if isFrame(line) {
		return frameLine
	}
	if isSetting(line) {
		return settingLine
	}
	if isGuess(line) {
		return guessLine
	}
	if (isWarning(trimmed) || isHandled(line)) && !isLastTry(line) {
		return warningLine
	}
	return plainLine
}

// isQuoted recognises the line of a program that the output shows from start to
// end: behind its number and a bar, with marks below it, in a Python traceback or
// behind pytest's mark; and the row of a table, such as that of a scanner's
// findings. What such a line speaks of has not happened.
func (o *output) isQuoted(start, end int) bool {
	line := o.lower[start:end]
	if isNumbered(line) || strings.HasPrefix(line, ">       ") || strings.Count(line, "│") >= 4 {
		return true
	}
	first, last := o.line(start)
	if last < len(o.lower) {
		from, to := o.line(last + 1)
		if below := strings.TrimSpace(o.lower[from:to]); isMarks(below) || below == "" && to-from > maxLine/4 {
			return true // Node.js cuts the line of marks below one of minified source
		}
	}
	if first == 0 {
		return false
	}
	from, to := o.line(first - 1)
	above := o.lower[from:to]
	return strings.HasPrefix(strings.TrimLeft(above, " "), `file "`) && strings.Contains(above, ", line ") && columns(line) > columns(above)
}

// isNumbered recognises "  12 | code" and "> 12 | code", behind "[error]" or not.
func isNumbered(line string) bool {
	if strings.HasPrefix(line, "[") {
		_, line, _ = strings.Cut(line, "]")
	}
	rest := strings.TrimLeft(line, " >=")
	code := strings.TrimLeft(rest, "0123456789")
	return code != rest && strings.HasPrefix(strings.TrimLeft(code, " "), "|")
}

// isMarks recognises "^", "^~~~~" and "~~~^^^~~~", with a word behind it or not.
func isMarks(line string) bool {
	marks, _, _ := strings.Cut(line, " ")
	return strings.Contains(marks, "^") && strings.Trim(marks, "^~-") == ""
}

// isPassed recognises how test runners name a test that went well: Jest, Vitest,
// Mocha, pytest, go test, and those that speak the Test Anything Protocol.
func isPassed(trimmed string) bool {
	number, ok := strings.CutPrefix(trimmed, "ok ")
	return ok && number != "" && isDigit(number[0]) ||
		begins(trimmed, "✓ ", "✔ ", "√ ", "--- pass: ", "pass ", "(pass) ") ||
		strings.HasSuffix(trimmed, " passed") && strings.Contains(trimmed, "::test")
}

// isTestName recognises how test runners name a test that failed: Jest, Vitest,
// Mocha, RSpec, Minitest, Bun, pytest, go test and those that speak the Test
// Anything Protocol. What the test is about has not happened.
func isTestName(trimmed string) bool {
	rest := strings.TrimLeft(trimmed, "0123456789")
	return rest != trimmed && strings.HasPrefix(rest, ") ") ||
		begins(trimmed, "● ", "✕ ", "not ok ", "--- fail: ", "rspec ./", "failed test", "fail test", "fail src/", "fail spec/", "(fail) ", "# subtest: ") ||
		strings.Contains(trimmed, "#test_") || strings.Contains(trimmed, ") = ") && strings.Contains(trimmed, ", want ")
}

// isPointer recognises "     ^ unexpected EOF", by which a parser shows a place in
// its input.
func isPointer(line string) bool {
	_, words, found := strings.Cut(line, "^ ")
	return found && strings.Trim(line[:len(line)-len(words)], " \t|^~-") == "" && words != ""
}

// isFrame recognises how Java, JavaScript, .NET, Python, Lua, Erlang and Ruby
// print a call on the stack: what it is named for need not have failed.
func isFrame(line string) bool {
	trimmed := strings.TrimLeft(line, " \t")
	if trimmed == line {
		return false
	}
	return strings.HasPrefix(trimmed, "at ") && (strings.HasSuffix(trimmed, ")") || strings.Contains(trimmed, ":line ")) ||
		strings.HasPrefix(trimmed, `file "`) && strings.Contains(trimmed, `", line `) ||
		strings.HasPrefix(trimmed, "in call from ") || strings.HasPrefix(trimmed, "in function ") || strings.HasPrefix(trimmed, "from /") ||
		strings.Contains(trimmed, ": in function ") || strings.Contains(trimmed, ": in main chunk") || trimmed == "[c]: in ?"
}

// isHelp recognises "  -t, --timeout <T>  ...", "  +[no]timeout=T  ...",
// "--timeout=T<tab>-T T<tab>..." and "[--foo FOO] [--bar BAR]".
func isHelp(line string) bool {
	if line != "" && (line[0] == ' ' || line[0] == '\t') {
		option := strings.TrimLeft(line, " \t")
		rest := strings.TrimLeft(option, "-")
		dashes := len(option) - len(rest)
		if strings.HasPrefix(option, "+[") || (dashes == 1 || dashes == 2) && rest != "" && 'a' <= rest[0] && rest[0] <= 'z' {
			return true
		}
	}
	return strings.HasPrefix(line, "--") && strings.Contains(line, "\t-") || strings.Count(line, "[-") >= 3
}

// warnings are how tools mark the lines that did not make them fail: syslog's
// severities below error, and apt's and npm's marks.
var warnings = []string{
	"warning", "warn:", "warn ", "warn]", "warn\t", "npm warn", "notice", "info:", "info ", "info]", "debug", "trace:", "trace ", "hint:", "note:", "w: ", "n: ",
	"deprecat", "(node:", "yarn warn",
	// Advice to whomever it concerns.
	"if you", "if this", "if the ", "in case ", "make sure",
}

func isWarning(trimmed string) bool {
	if begins(trimmed, warnings...) {
		return true
	}
	for _, field := range []string{"level=warn", "level=info", "level=debug", `"level":"warn`, `"level":"info`, `"level":"debug`, " warn ", " info ", " [warn", " [info", " warning:", "-warning **:", "-critical **:"} {
		if i := strings.Index(trimmed, field); i >= 0 && i < 48 && !strings.Contains(trimmed[:i], "error") {
			return true
		}
	}
	return false
}

func isHandled(line string) bool {
	return holds(line, "falling back", "using built", "using default", "using the default", "using cache", "using the cache", "from cache", "ignoring", "ignored", "continuing", "no matching credentials were found", "non-fatal", "not fatal", "skipping", "skipped", "creating it", "will be created", "nothing to move", "nothing to migrate", "nothing to remove", "nothing to clean", "deferred to ") ||
		holds(line, "future ") && holds(line, "release", "version")
}

// isLastTry recognises a warning that tells why an attempt of the tool's own
// failed: that is the cause itself.
func isLastTry(line string) bool {
	return holds(line, "retr", "attempt", "giving up", "caused by", "tries") && !strings.Contains(line, "deprecat")
}

// begins reports whether the line begins with one of the words.
func begins(line string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(line, w) })
}

// holds reports whether one of the words stands in the line.
func holds(line string, words ...string) bool {
	for _, w := range words {
		if strings.Contains(line, w) {
			return true
		}
	}
	return false
}
