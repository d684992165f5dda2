// Package retryafter reads from a failed command's output when a server asked to be
// tried again.
//
// What it believes: Retry-After (RFC 9110, section 10.2.3) as headers and JSON
// fields show it, the rate-limit reset fields of the large services and of the
// IETF draft, gRPC's RetryInfo and push-back, and sentences that address the
// reader ("try again in 7.5s"). What it never takes for a hint: a client's
// notice of its own back-off ("retrying in 2s", "will retry in 5s").
//
// The package is pure: the time against which dates are read is an argument.
// It limits nothing by policy; whether a hint is too long to follow is for the
// caller to say.
package retryafter

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/retrysh/retry/engine/linematch"
)

// Hint is what a server asked for.
type Hint struct {
	// Wait is how long it asked to wait, from the time given to Find; 0 where
	// it named a moment that has passed.
	Wait time.Duration
	// Source names where that stood, such as "Retry-After".
	Source string
}

// MaxBelieved is the longest wait that is believed: longer ones are broken
// clocks, other units or jokes. Quotas by the month do exist.
const MaxBelieved = 31 * 24 * time.Hour

// maxSeen bounds how many occurrences of one word are looked at, the last ones
// first.
const maxSeen = 64

// Find reads what a server asked for from the output of a failed attempt; now
// is the time against which dates are read.
//
// Among several forms the order is Retry-After, gRPC, rate-limit reset,
// sentence; among several of one form the last counts, among the resets of
// several limits the longest of those that are used up. ignored says in words
// which hint-like thing was seen and not taken as it stood: one that is absurd
// or malformed is dropped; a moment in the past counts as a wait of 0, since
// the server does not mind being asked now. It is "" if there was none.
func Find(text []byte, now time.Time) (h Hint, ok bool, ignored string) {
	t := newText(text)
	for i := range finders {
		f := &finders[i]
		wait, trouble := f.last(t, now)
		if trouble != "" && ignored == "" {
			ignored = f.source + " " + trouble
		}
		if wait >= 0 {
			return Hint{Wait: wait, Source: f.source}, true, ignored
		}
	}
	return Hint{}, false, ignored
}

// last returns the last wait of this form that can be read, and the first
// trouble met on the way there.
func (f *finder) last(t *output, now time.Time) (wait time.Duration, ignored string) {
	if f.find != nil {
		return f.find(t, now)
	}
	for at := range t.occurrences(f.word) {
		m := f.pattern.get().FindSubmatch(t.window(at, f.lines))
		if m == nil {
			continue
		}
		wait, trouble := none, "stands on an answer that shows no limit reached"
		if !f.limited || t.limiting() {
			wait, trouble = f.read(m, now, t)
		}
		if ignored == "" {
			ignored = trouble
		}
		if wait >= 0 {
			return wait, ignored
		}
	}
	return none, ignored
}

// FindPattern reads the last match of re in the text: the first capture group
// that takes part in it, or the whole match where re has no group, as seconds,
// as a Go duration, as a duration in words, or as a date. The results are those
// of Find.
func FindPattern(re *regexp.Regexp, text []byte, now time.Time) (h Hint, ok bool, ignored string) {
	all := re.FindAllSubmatch(text, -1)
	for i := len(all) - 1; i >= 0; i-- {
		value := all[i][0]
		if groups := all[i][1:]; len(groups) > 0 {
			value = nil
			if n := slices.IndexFunc(groups, func(g []byte) bool { return g != nil }); n >= 0 {
				value = groups[n]
			}
		}
		wait, trouble := readValue(string(value), time.Second, now)
		if trouble != "" && ignored == "" {
			ignored = "the match of --retry-after " + trouble
		}
		if wait >= 0 {
			return Hint{Wait: wait, Source: "pattern"}, true, ignored
		}
	}
	return Hint{}, false, ignored
}

// none stands for a wait that was not read.
const none time.Duration = -1

// finder is one form of hint.
type finder struct {
	source string
	// word is in lower case and part of every match; the pattern is tried on
	// the text around it only, which reaches over this many more lines.
	word    string
	lines   int
	pattern lazy
	// limited: a field that stands on every answer, and is believed where the
	// output shows a limit.
	limited bool
	// read turns a match into a wait, or none, and says what was wrong.
	read func(m [][]byte, now time.Time, t *output) (time.Duration, string)
	// find, where a form needs more than its last match, takes the place of
	// all of the above but the source.
	find func(t *output, now time.Time) (time.Duration, string)
}

// lazy compiles a pattern, without regard to case, at its first use.
type lazy struct {
	pattern  string
	once     sync.Once
	compiled *regexp.Regexp
}

func (l *lazy) get() *regexp.Regexp {
	l.once.Do(func() { l.compiled = regexp.MustCompile("(?i)" + l.pattern) })
	return l.compiled
}

// output is the output with its lower-case copy.
type output struct {
	plain, lower []byte
	limiting     func() bool
}

func newText(b []byte) *output {
	plain := linematch.Visible(nil, b)
	t := &output{plain: plain, lower: lower(plain)}
	t.limiting = sync.OnceValue(t.isLimited)
	return t
}

// lower keeps every byte's place, which bytes.ToLower does not promise.
func lower(b []byte) []byte {
	out := make([]byte, len(b))
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		out[i] = c
	}
	return out
}

// occurrences yields where the word stands, from the end of the text.
func (t *output) occurrences(word string) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		rest := t.lower
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

// window returns the line around position i, cut where it is long, and so
// many lines after it.
func (t *output) window(i, lines int) []byte {
	start := max(0, i-before)
	if n := bytes.LastIndexAny(t.plain[start:i], "\r\n"); n >= 0 {
		start += n + 1
	}
	end := i
	for {
		limit := min(len(t.plain), i+after)
		n := bytes.IndexAny(t.plain[end:limit], "\r\n")
		if n < 0 {
			return t.plain[start:limit]
		}
		end += n
		if lines == 0 {
			return t.plain[start:end]
		}
		end++
		lines--
	}
}

// limitWords say that a refusal is about a rate.
var limitWords = lazy{pattern: `rate.?limit|too many requests|throttl|quota|slow ?down|secondary rate|abuse detection`}

// limitStatus is a status that may speak of a rate.
var limitStatus = lazy{pattern: `\b(?:http/[0-9.]+ |status(?: ?code)?[ :=]*|error[ :]*|http |code[" :=]*)(403|503)\b`}

// tooMany is the status that always does (RFC 6585, section 4).
var tooMany = lazy{pattern: `\b429\b|too many requests`}

// isBare says whether the output shows neither a status nor a counter: then a
// reset field was written out by itself, to be followed.
func (t *output) isBare() bool {
	return !bytes.Contains(t.lower, []byte("remaining")) && !anyStatus.get().Match(t.lower)
}

// anyStatus is a status of whatever meaning.
var anyStatus = lazy{pattern: `\b(?:http/[0-9.]+ |status(?: ?code)?[ :=]*|error[ :]*|http |code[" :=]*)[1-5]\d\d\b|\b[1-5]\d\d [a-z]{2}`}

// noneLeft is the counter at nothing.
var noneLeft = lazy{pattern: `rate-?limit-(?:[a-z_]+-)*remaining[a-z_-]*["']?\s*[:=]\s*[\["']*0\b|\bratelimit["']?\s*:.*?(?:\bremaining=0\b|;\s*r=0\b)`}

// isLimited says whether the output shows that a limit was hit. Services put
// reset fields on every answer, on an ordinary 404 too; only here they mean
// something.
func (t *output) isLimited() bool {
	seen := func(words []string, pattern *lazy) bool {
		for _, w := range words {
			for at := range t.occurrences(w) {
				if pattern.get().Match(t.window(at, 0)) {
					return true
				}
			}
		}
		return false
	}
	if seen([]string{"-remaining", "ratelimit:", "ratelimit\":"}, &noneLeft) || seen([]string{"429", "too many requests"}, &tooMany) {
		return true
	}
	prose := bytes.ReplaceAll(t.lower, []byte("x-ratelimit"), nil)
	prose = bytes.ReplaceAll(prose, []byte("ratelimit-"), nil)
	return seen([]string{"403", "503"}, &limitStatus) && limitWords.get().Match(prose)
}

// trimValue drops what stands around a value in headers and JSON.
func trimValue(s string) string { return strings.Trim(s, " \t\"'[](){}\\,;") }
