package retryafter

// This file reads the reset fields of rate limits. A service may have several
// limits ("buckets": requests, tokens, by the minute, by the day), each with
// its own remaining and reset field, and shows all of them on every answer.
// Only those of a limit that is used up say how long to wait.

import (
	"bytes"
	"strings"
	"time"
)

// resetField is a reset field, from where its name begins: GitHub, GitLab,
// Discord and many others (x-ratelimit-reset), Twitter and Okta
// (x-rate-limit-reset), the older IETF draft (ratelimit-reset); with the bucket
// behind it OpenAI and Groq (x-ratelimit-reset-tokens), Cerebras
// (x-ratelimit-reset-requests-day); with the bucket in front of it Anthropic
// (anthropic-ratelimit-tokens-reset).
var resetField = lazy{pattern: fieldStart + `reset((?:-[a-z_]+)*)\\?["']?\s*[:=]\s*[\[("'\\]*(-?\w[^"'\]}<\r\n]{0,63})`}

// remainingField is the counter that belongs to it.
var remainingField = lazy{pattern: fieldStart + `remaining((?:-[a-z_]+)*)\\?["']?\s*[:=]\s*[\[("'\\]*(\d+)`}

const fieldStart = `^(?:[a-z0-9]+-)*?rate-?limit-((?:[a-z_]+-)*)`

// findReset returns the wait until the limit that was hit resets. Of one
// bucket the last field counts; one with something left is not believed; among
// those that are used up the longest wait counts, since the request needs them
// all; without a counter that says so, the last field does.
func findReset(t *output, now time.Time) (time.Duration, string) {
	longest, last, trouble := none, none, ""
	var left map[string]bool
	seen := map[string]bool{}
	for at := range t.occurrences("-reset") {
		m := t.field(&resetField, at)
		if m == nil {
			continue
		}
		if !t.limiting() && !t.isBare() {
			return none, "stands on an answer that shows no limit reached"
		}
		if left == nil {
			left = t.somethingLeft()
		}
		bucket, unit := bucketOf(m)
		if seen[bucket] {
			continue
		}
		wait, fault := readValue(string(m[3]), unit, now)
		some, known := left[bucket]
		if some && bucket != "" {
			wait, fault = none, "is that of a limit with something left ("+bucket+")"
		}
		if trouble == "" {
			trouble = fault
		}
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

// somethingLeft says of each bucket with a counter whether that is above zero.
func (t *output) somethingLeft() map[string]bool {
	left := map[string]bool{}
	for at := range t.occurrences("remaining") {
		m := t.field(&remainingField, at)
		if m == nil {
			continue
		}
		bucket, _ := bucketOf(m)
		if _, later := left[bucket]; !later {
			left[bucket] = len(bytes.Trim(m[3], "0")) > 0
		}
	}
	return left
}

// field matches the pattern from where the name around position i begins: a
// line may hold many fields (Go prints a header as one map).
func (t *output) field(pattern *lazy, i int) [][]byte {
	start := i
	for start > 0 && i-start < before && isNameByte(t.lower[start-1]) {
		start--
	}
	end := min(len(t.plain), i+after)
	if n := bytes.IndexAny(t.plain[i:end], "\r\n"); n >= 0 {
		end = i + n
	}
	return pattern.get().FindSubmatch(t.plain[start:end])
}

func isNameByte(c byte) bool {
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '_'
}

// bucketOf takes a field's name apart: the bucket, "" for the only one, and
// the unit of its value. "after" (Discord) and units name no bucket.
func bucketOf(m [][]byte) (bucket string, unit time.Duration) {
	unit = time.Second
	var words []string
	for word := range strings.SplitSeq(strings.ToLower(string(m[1])+string(m[2])), "-") {
		switch word {
		case "ms":
			unit = time.Millisecond
		case "", "after", "at", "in", "time", "seconds":
		default:
			words = append(words, word)
		}
	}
	return strings.Join(words, "-"), unit
}
