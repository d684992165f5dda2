// Package retryafter reads from a failed command's output when a server asked to be
// tried again: Retry-After (RFC 9110, section 10.2.3) in headers and JSON, the rate-limit
// reset fields of the large services and of the IETF draft, gRPC's RetryInfo and push-back,
// and sentences for the reader ("try again in 7.5s"). A client's notice of its own back-off
// ("retrying in 2s") is no hint.
//
// The package is pure. The caller decides whether a hint is too long.
package retryafter

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/retrysh/retry/engine/linematch"
	"github.com/retrysh/retry/engine/text"
)

// MaxBelieved is the longest plausible wait, of a quota by the month: longer ones are wrong
// clocks or other units.
const MaxBelieved = 31 * 24 * time.Hour

// maxSeen is how many occurrences of one word are read, from the last on.
const maxSeen = 64

// none is no wait.
const none time.Duration = -1

// Find reads from the output of a failed attempt which wait a server asked for. A time that
// has passed is none. A date counts from the Date of the same answer, if it has one.
//
// Of several forms the order is Retry-After, gRPC, rate-limit reset, sentence; of several
// of one form the last counts, of the resets of several limits the longest of those that
// are used up. A pattern replaces the forms if it is not nil. ignored says in words
// which hint was not plausible, or not used as it is; "" for none.
func Find(pattern *regexp.Regexp, output []byte, now time.Time) (wait time.Duration, ok bool, ignored string) {
	if pattern != nil {
		wait, ignored = findPattern(pattern, output, now)
		return wait, wait >= 0, ignored
	}
	plain := linematch.Visible(nil, output)
	o := &shown{plain: plain, lower: text.Lower(plain)}
	o.limited = sync.OnceValue(o.findLimit)
	for i := range finders {
		f := &finders[i]
		find := f.find
		if find == nil {
			find = f.last
		}
		wait, trouble := find(o, now)
		if trouble != "" && ignored == "" {
			ignored = f.source + " " + trouble
		}
		if wait >= 0 {
			return wait, true, ignored
		}
	}
	return none, false, ignored
}

// last returns the last wait of this form that can be read, and the first problem with
// later ones.
func (f *finder) last(o *shown, now time.Time) (wait time.Duration, ignored string) {
	for at := range o.occurrences(f.word) {
		m := f.pattern.get().FindSubmatch(o.window(at, f.lines))
		if m == nil {
			continue
		}
		wait, trouble := none, noLimit
		if !f.limited || o.limited() {
			wait, trouble = f.read(m, o.clock(at, now))
		}
		ignored = cmp.Or(ignored, trouble)
		if wait >= 0 {
			return wait, ignored
		}
	}
	return none, ignored
}

// findPattern reads the last match of re, the first capture group in it or the whole
// without a group, as seconds, a Go duration, a duration in words or a date.
func findPattern(re *regexp.Regexp, output []byte, now time.Time) (wait time.Duration, ignored string) {
	for _, m := range slices.Backward(re.FindAllSubmatch(output, -1)) {
		value := m[0]
		if groups := m[1:]; len(groups) > 0 {
			value = groups[max(0, slices.IndexFunc(groups, func(group []byte) bool { return group != nil }))]
		}
		wait, trouble := readValue(string(value), time.Second, now)
		if trouble != "" && ignored == "" {
			ignored = "the match of --retry-after " + trouble
		}
		if wait >= 0 {
			return wait, ignored
		}
	}
	return none, ignored
}

// shown is the output without escape sequences, and its lower-case copy.
type shown struct {
	plain, lower []byte
	limited      func() bool // whether it shows that a limit was hit
}

// occurrences yields the places of the word, from the last on.
func (o *shown) occurrences(word string) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		rest := o.lower
		for range maxSeen {
			i := bytes.LastIndex(rest, []byte(word))
			if i < 0 || !yield(i) {
				return
			}
			rest = rest[:i]
		}
	}
}

// The text around a word that a pattern sees.
const (
	before = 96
	after  = 240
)

// window returns the line around position i, cut if it is long, and so many lines after it.
func (o *shown) window(i, lines int) []byte {
	start := max(0, i-before)
	start += bytes.LastIndexAny(o.plain[start:i], "\r\n") + 1
	return o.plain[start:o.end(i, lines)]
}

// end returns the end of the line that is so many lines after position i.
func (o *shown) end(i, lines int) int {
	limit := min(len(o.plain), i+after)
	for {
		n := bytes.IndexAny(o.plain[i:limit], "\r\n")
		if n < 0 {
			return limit
		}
		i += n
		if lines == 0 {
			return i
		}
		lines--
		i++
		if bytes.HasPrefix(o.plain[i-1:limit], []byte("\r\n")) {
			i++
		}
	}
}

// answerSize is the most of an answer's header, before and after a field, in which its Date
// is looked for.
const answerSize = 8 << 10

var (
	// dateField is the Date of an answer, as a header, in a dump of headers, or in JSON.
	dateField = lazy{pattern: `(?:^|[^a-z0-9_-])date\\?["']?\s*:\s*[\["'\\]*(\w[^"'\]\r\n]{18,40})`}
	// answerStart is a line that begins another answer, or ends a header.
	answerStart = lazy{pattern: `^[<>*|\s]*(?:http/[0-9.]+ \d{3}\b.*)?$`}
)

// clock returns the time of the server that sent the field at position i, by the Date in the
// same answer, or else now.
func (o *shown) clock(i int, now time.Time) time.Time {
	if !bytes.Contains(o.lower, []byte("date")) {
		return now
	}
	for line := range bytes.Lines(o.answer(i)) {
		if m := dateField.get().FindSubmatch(line); m != nil {
			if when, _, ok := parseDate(trimValue(string(m[1]))); ok {
				return when
			}
		}
	}
	return now
}

// answer returns the lines of the header around position i: up to a blank line, and from the
// last status line on.
func (o *shown) answer(i int) []byte {
	start := max(0, i-answerSize)
	end := start
	for line := range bytes.Lines(o.plain[start:min(len(o.plain), i+answerSize)]) {
		if answerStart.get().Match(bytes.TrimRight(line, "\r\n")) {
			if end > i {
				break
			}
			start = end
		}
		end += len(line)
	}
	return o.plain[start:end]
}
