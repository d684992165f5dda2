package history

// This file names a failure by what it has in common with its like: the tool, its
// result, and the line of output with numbers, ids, addresses and paths masked.

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/retrysh/retry/engine/text"
)

// The masks.
const (
	maskNumber  = "<n>"
	maskID      = "<id>"
	maskAddress = "<addr>"
	maskPath    = "<path>"
	maskSecret  = text.Mask
)

// longestFP is how many bytes of a line a fingerprint has.
const longestFP = 200

// Fingerprint is the name of a failure: the tool, whose blanks become "_", its
// result, and behind ": " the line, "" for none.
func Fingerprint(tool, result, line string) string {
	head := strings.ReplaceAll(text.OneLine(tool), " ", "_") + " " + result
	if line = maskLine(line); line == "" {
		return head
	}
	return head + ": " + line
}

// result is an attempt's code, signal or timeout.
func (a *Attempt) result() string {
	switch {
	case a.TimedOut:
		return "timeout"
	case a.Signal != "":
		return a.Signal
	}
	return strconv.Itoa(a.ExitCode)
}

// toolAndLine takes the fingerprint of an attempt apart.
func (a *Attempt) toolAndLine() (tool, line string) {
	head, line, _ := strings.Cut(a.FP, ": ")
	if result := " " + a.result() + ": "; strings.Contains(a.FP, result) { // the tool's name may hold ": "
		head, line, _ = strings.Cut(a.FP, result)
	}
	tool, _, _ = strings.Cut(head, " ")
	return tool, line
}

// maskLine masks what differs between two failures of one kind. A long line is cut
// at a blank.
func maskLine(line string) string {
	const read = 4 * longestFP
	line = text.OneLine(line[:min(len(line), read)])
	var b strings.Builder
	for len(line) > 0 {
		end := strings.IndexAny(line, " \"'`<>()[]{},;|")
		if end < 0 {
			end = len(line)
		}
		b.WriteString(maskWord(line[:end]))
		if end < len(line) {
			b.WriteByte(line[end])
			end++
		}
		line = line[end:]
	}
	masked := b.String()
	if len(masked) > longestFP {
		masked = masked[:longestFP]
		for !utf8.ValidString(masked) {
			masked = masked[:len(masked)-1]
		}
		if at := strings.LastIndexByte(masked, ' '); at > 0 {
			masked = masked[:at]
		}
	}
	return strings.TrimSpace(masked)
}

// maskWord masks a word; what ends a sentence stays behind it.
func maskWord(word string) string {
	if name, value, ok := strings.Cut(word, "="); ok && !strings.Contains(name, "/") {
		return maskWord(name) + "=" + maskWord(value)
	}
	core := strings.TrimRight(word, ".:!?")
	end := word[len(core):]
	switch {
	case core == "":
	case isAddress(core):
		core = maskAddress
	case isPath(core):
		core = maskPath
	default:
		core = maskParts(core)
	}
	return core + end
}

// maskParts masks the parts of a word by themselves, as in pod/web-7d4b9c6f5-x2x9z.
func maskParts(word string) string {
	var b strings.Builder
	for {
		end := strings.IndexAny(word, "/:_#@+~")
		part := word
		if end >= 0 {
			part = word[:end]
		}
		if isID(part) {
			b.WriteString(maskID)
		} else {
			b.WriteString(maskNumbers(part))
		}
		if end < 0 {
			return b.String()
		}
		b.WriteByte(word[end])
		word = word[end+1:]
	}
}

// isAddress reports whether a word is a URL, an IP address or the full name of a
// host, each with a port or without, or a mail address.
func isAddress(word string) bool {
	if strings.Contains(word, "://") {
		return true
	}
	if at := strings.LastIndexByte(word, '@'); at > 0 && at+1 < len(word) {
		return true
	}
	host := word
	if at := strings.LastIndexByte(word, ':'); at > 0 && digits(word[at+1:]) == len(word)-at-1 && at+1 < len(word) {
		host = word[:at]
	}
	host = strings.Trim(host, "[]")
	if strings.Count(host, ":") > 1 { // IPv6
		return strings.Trim(host, "0123456789abcdefABCDEF:.%") == "" &&
			strings.ContainsAny(host, "0123456789abcdefABCDEF")
	}
	labels := strings.Split(host, ".")
	if len(labels) == 1 {
		return host != word && (host == "localhost" || strings.ContainsAny(host, "-0123456789") && letters(host))
	}
	numbers := 0
	for _, label := range labels {
		if label == "" || strings.Trim(strings.ToLower(label), "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
			return false
		}
		if digits(label) == len(label) {
			numbers++
		}
	}
	last := labels[len(labels)-1]
	name := len(labels) > 2 || host != word || isTop(last)
	if numbers > 0 {
		return numbers == 4 && len(labels) == 4
	}
	return name && letters(last) && digits(last) == 0 && len(last) > 1 && host == strings.ToLower(host)
}

// isTop reports whether a label ends the names of hosts more often than those of
// files.
func isTop(label string) bool {
	switch label {
	case "com", "net", "org", "io", "dev", "edu", "gov", "local", "internal", "invalid", "test", "example", "lan",
		"corp":
		return true
	}
	return false
}

func letters(s string) bool {
	return s != "" && (s[0] >= 'a' && s[0] <= 'z' || s[0] >= 'A' && s[0] <= 'Z')
}

// isPath reports whether a word names a file by more than its name.
func isPath(word string) bool {
	slash := strings.IndexAny(word, `/\`)
	switch {
	case slash < 0:
		return false
	case slash == 0, strings.HasPrefix(word, "./"), strings.HasPrefix(word, "../"), strings.HasPrefix(word, "~/"):
		return len(word) > 1
	case len(word) > 2 && word[1] == ':' && slash == 2: // C:\
		return true
	}
	name := word[strings.LastIndexAny(word, `/\`)+1:]
	dot := strings.LastIndexByte(name, '.')
	return strings.Count(word, "/") > 1 || dot > 0 && letters(name[dot+1:]) // src/a.go, and not read/write
}

// isID reports whether a word is drawn or counted rather than chosen: a UUID, a
// digest, or letters and digits that change often.
func isID(word string) bool {
	plain := strings.ReplaceAll(word, "-", "")
	n := digits(plain)
	if n == len(plain) || strings.Trim(strings.ToLower(plain), "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
		return false
	}
	hex := strings.Trim(strings.ToLower(plain), "abcdef0123456789") == ""
	if hex && (len(plain) >= 7 && n > 0 || len(plain) == 6 && n > 1) {
		return true
	}
	if strings.HasPrefix(plain, "0x") {
		return n > 1
	}
	return len(plain) >= 12 && n >= 3
}

// digits is how many characters of the text are digits.
func digits(s string) (n int) {
	for i := range len(s) {
		if s[i] >= '0' && s[i] <= '9' {
			n++
		}
	}
	return n
}

// maskNumbers masks each row of digits.
func maskNumbers(word string) string {
	var b strings.Builder
	for i := range len(word) {
		switch {
		case digits(word[i:i+1]) == 0:
			b.WriteByte(word[i])
		case i == 0 || digits(word[i-1:i]) == 0:
			b.WriteString(maskNumber)
		}
	}
	return b.String()
}

// patternFor is a regular expression that matches the lines of a fingerprint.
func patternFor(line string) string {
	const number, id, word, secret = `[0-9]+`, `[0-9A-Za-z-]+`, `[^\s,;"'()<>]+`, `\S+`
	masks := strings.NewReplacer(maskNumber, number, maskID, id, maskAddress, word, maskPath, word, maskSecret, secret)
	return masks.Replace(regexp.QuoteMeta(line))
}
