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
	"sync"
	"time"

	"github.com/retrysh/retry/engine/linematch"
	"github.com/retrysh/retry/engine/text"
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

// none stands for a wait that was not read.
const none time.Duration = -1

// Find reads what a server asked for from the output of a failed attempt; now
// is the time against which dates are read.
//
// Among several forms the order is Retry-After, gRPC, rate-limit reset,
// sentence; among several of one form the last counts, among the resets of
// several limits the longest of those that are used up. ignored says in words
// which hint-like thing was seen and not taken as it stood: one that is absurd
// or malformed is dropped; a moment in the past counts as a wait of 0, since
// the server does not mind being asked now. It is "" if there was none.
func Find(output []byte, now time.Time) (h Hint, ok bool, ignored string) {
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
			return Hint{Wait: wait, Source: f.source}, true, ignored
		}
	}
	return Hint{}, false, ignored
}

// last returns the last wait of this form that can be read, and the first
// trouble met on the way there.
func (f *finder) last(o *shown, now time.Time) (wait time.Duration, ignored string) {
	for at := range o.occurrences(f.word) {
		m := f.pattern.get().FindSubmatch(o.window(at, f.lines))
		if m == nil {
			continue
		}
		wait, trouble := none, noLimit
		if !f.limited || o.limited() {
			wait, trouble = f.read(m, now)
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
func FindPattern(re *regexp.Regexp, output []byte, now time.Time) (h Hint, ok bool, ignored string) {
	for _, m := range slices.Backward(re.FindAllSubmatch(output, -1)) {
		value := m[0]
		if len(m) > 1 {
			value = nil
			if n := slices.IndexFunc(m[1:], func(group []byte) bool { return group != nil }); n >= 0 {
				value = m[1+n]
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

// shown is the output without escape sequences, and its lower-case copy.
type shown struct {
	plain, lower []byte
	limited      func() bool // whether it shows that a limit was hit
}

// occurrences yields where the word stands, from the end of the text.
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

// window returns the line around position i, cut where it is long, and so
// many lines after it.
func (o *shown) window(i, lines int) []byte {
	start := max(0, i-before)
	start += bytes.LastIndexAny(o.plain[start:i], "\r\n") + 1
	return o.plain[start:o.end(i, lines)]
}

// end returns where a line ends that is so many lines after position i.
func (o *shown) end(i, lines int) int {
	limit := min(len(o.plain), i+after)
	for ; ; i++ {
		n := bytes.IndexAny(o.plain[i:limit], "\r\n")
		if n < 0 {
			return limit
		}
		i += n
		if lines == 0 {
			return i
		}
		lines--
	}
}
