package retryafter

// This file reads the reset fields of rate limits. A service may have several limits
// ("buckets": requests, tokens, by the minute, by the day), each with a remaining and a
// reset field, and send them in every answer. Only those of a limit that is used up count.

import (
	"bytes"
	"cmp"
	"strings"
	"time"
)

// resetField is a reset field: x-ratelimit-reset (GitHub, GitLab, Discord and many others),
// x-rate-limit-reset (Twitter, Okta), ratelimit-reset (the older IETF draft), with a bucket
// x-ratelimit-reset-tokens (OpenAI, Groq), x-ratelimit-reset-requests-day (Cerebras) and
// anthropic-ratelimit-tokens-reset.
var resetField = lazy{pattern: fieldStart + `reset((?:-[a-z_]+)*)\\?["']?\s*[:=]\s*[\[("'\\]*(-?\w[^"'\]}<\r\n]{0,63})`}

// remainingField is the counter that belongs to it.
var remainingField = lazy{pattern: fieldStart + `remaining((?:-[a-z_]+)*)\\?["']?\s*[:=]\s*[\[("'\\]*(\d+)`}

const fieldStart = `^(?:[a-z0-9]+-)*?rate-?limit-((?:[a-z_]+-)*)`

const noLimit = "stands on an answer that shows no limit reached"

// findReset returns the wait until the limit that was hit resets. Of one bucket the last
// field counts, of several that are used up the longest wait, since the request needs all.
// A bucket that is not used up does not count. Without counters the last field does.
func findReset(o *shown, now time.Time) (time.Duration, string) {
	longest, last, trouble := none, none, ""
	var left map[string]bool
	seen := map[string]bool{}
	for at := range o.occurrences("-reset") {
		bucket, value, unit, ok := o.field(&resetField, at)
		if !ok {
			continue
		}
		if !o.limited() && !o.isBare() {
			return none, noLimit
		}
		if left == nil {
			left = o.somethingLeft()
		}
		if seen[bucket] {
			continue
		}
		wait, fault := readValue(value, unit, o.clock(at, now))
		some, known := left[bucket]
		if some && bucket != "" {
			wait, fault = none, "is that of a limit with something left ("+bucket+")"
		}
		trouble = cmp.Or(trouble, fault)
		if wait < 0 {
			continue
		}
		seen[bucket] = true
		if known && !some {
			longest = max(longest, wait)
		} else if last < 0 {
			last = wait
		}
	}
	if longest >= 0 {
		return longest, trouble
	}
	return last, trouble
}

// somethingLeft returns, for each bucket with a counter, whether that is above 0.
func (o *shown) somethingLeft() map[string]bool {
	left := map[string]bool{}
	for at := range o.occurrences("remaining") {
		bucket, value, _, ok := o.field(&remainingField, at)
		if _, later := left[bucket]; ok && !later {
			left[bucket] = strings.Trim(value, "0") != ""
		}
	}
	return left
}

// nameBytes are the bytes of a field's name in lower case.
const nameBytes = "abcdefghijklmnopqrstuvwxyz0123456789-_"

// field reads the field of a rate limit around position i: its bucket, "" for the only one,
// its value and the unit of that. The pattern is matched at the beginning of the name: a
// line may have many fields (Go prints a header as one map). "after" (Discord) and units in
// the name are no bucket.
func (o *shown) field(pattern *lazy, i int) (bucket, value string, unit time.Duration, ok bool) {
	start := max(0, i-before)
	start += len(bytes.TrimRight(o.lower[start:i], nameBytes))
	m := pattern.get().FindSubmatch(o.plain[start:o.end(i, 0)])
	if m == nil {
		return "", "", 0, false
	}
	var words []string
	unit = time.Second
	for word := range strings.SplitSeq(strings.ToLower(string(m[1])+string(m[2])), "-") {
		switch word {
		case "ms":
			unit = time.Millisecond
		case "", "after", "at", "in", "time", "seconds":
		default:
			words = append(words, word)
		}
	}
	return strings.Join(words, "-"), string(m[3]), unit, true
}

// The signs that a limit was hit.
var (
	// limitWords are of refusals because of a rate.
	limitWords = lazy{pattern: `rate.?limit|too many requests|throttl|quota|slow ?down|secondary rate|abuse detection`}
	// limitStatus is a status that may be because of a rate.
	limitStatus = lazy{pattern: status + `(403|503)\b`}
	// tooMany is the status that always is (RFC 6585, section 4).
	tooMany   = lazy{pattern: `\b429\b|too many requests`}
	anyStatus = lazy{pattern: status + `[1-5]\d\d\b|\b[1-5]\d\d [a-z]{2}`}
	// noneLeft is a counter of 0.
	noneLeft = lazy{pattern: `rate-?limit-(?:[a-z_]+-)*remaining[a-z_-]*["']?\s*[:=]\s*[\["']*0\b|` +
		`\bratelimit["']?\s*:.*?(?:\bremaining=0\b|;\s*r=0\b)`}
)

const status = `\b(?:http/[0-9.]+ |status(?: ?code)?[ :=]*|error[ :]*|http |code[" :=]*)`

// findLimit reports whether the output shows that a limit was hit.
func (o *shown) findLimit() bool {
	shows := func(pattern *lazy, words ...string) bool {
		for _, w := range words {
			for at := range o.occurrences(w) {
				if pattern.get().Match(o.window(at, 0)) {
					return true
				}
			}
		}
		return false
	}
	if shows(&noneLeft, "-remaining", "ratelimit:", "ratelimit\":") || shows(&tooMany, "429", "too many requests") {
		return true
	}
	prose := bytes.ReplaceAll(o.lower, []byte("x-ratelimit"), nil)
	prose = bytes.ReplaceAll(prose, []byte("ratelimit-"), nil)
	return shows(&limitStatus, "403", "503") && limitWords.get().Match(prose)
}

// isBare reports whether the output has neither a status nor a counter: then a reset field
// was written on purpose.
func (o *shown) isBare() bool {
	return !bytes.Contains(o.lower, []byte("remaining")) && !anyStatus.get().Match(o.lower)
}
