package retryafter

import (
	"regexp"
	"strings"
	"testing"
	"time"
)

// now is the moment of RFC 9110's own example of a date.
var now = time.Date(1994, 11, 6, 8, 49, 37, 0, time.UTC)

func TestFind(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       time.Duration // none where nothing is to be found
	}{
		{"header", "HTTP/1.1 503 x\r\nRetry-After: 120\r\n", 120 * time.Second},
		{"curl -v", "< retry-after: 3\r\n", 3 * time.Second},
		{"wget -S", "  Retry-After: 7\n", 7 * time.Second},
		{"Go header map", "map[Retry-After:[9] Server:[x]]", 9 * time.Second},
		{"date", "Retry-After: Sun, 06 Nov 1994 08:50:37 GMT", time.Minute},
		{"date of RFC 850", "Retry-After: Sunday, 06-Nov-94 08:50:37 GMT", time.Minute},
		{"date of asctime", "Retry-After: Sun Nov  6 08:50:37 1994", time.Minute},
		{"date in the past", "Retry-After: Sun, 06 Nov 1994 08:49:00 GMT", none},
		{"this very moment", "Retry-After: Sun, 06 Nov 1994 08:49:37 GMT", 0},
		{"date with UTC", "Retry-After: Sun, 06 Nov 1994 08:50:37 UTC", time.Minute},
		{"date with a numeric zone", "Retry-After: Sun, 06 Nov 1994 09:50:37 +0100", time.Minute},
		{"date of RFC 850 with a numeric zone", "Retry-After: Sunday, 06-Nov-94 07:50:37 -01:00", time.Minute},
		{"date of asctime with UTC", "Retry-After: Sun Nov  6 08:50:37 UTC 1994", time.Minute},
		{"ISO 8601", "Retry-After: 1994-11-06T08:50:37Z", time.Minute},
		{"ISO 8601 with a zone", "Retry-After: 1994-11-06T09:50:37.5+01:00", time.Minute + 500*time.Millisecond},
		{"ISO 8601 with a short zone", "Retry-After: 1994-11-06 09:50:37+01", time.Minute},
		{"ISO 8601 without seconds", "Retry-After: 1994-11-06T08:51Z", 83 * time.Second},
		{"basic ISO 8601", "Retry-After: 19941106T085037Z", time.Minute},
		{"a zone that is only a name", "Retry-After: Sun, 06 Nov 1994 08:50:37 CET", none},
		{"a date and more", "Retry-After: Sun, 06 Nov 1994 08:50:37 GMT; soon", none},
		{"a duration", "Retry-After: 1m30s", 90 * time.Second},
		{"a duration and more", "Retry-After: 90 seconds from now", none},
		{"a number and more", "Retry-After: 120; 3 left", none},
		{"two numbers", "Retry-After: 120, 130", none},
		{"a number beside another field", "error 429 (Retry-After: 30, trace: a1)", 30 * time.Second},
		{"logfmt", "level=warn retry_after=30 attempt=1", 30 * time.Second},
		{"JSON beside another key", `{"retry_after": 3, "global": false}`, 3 * time.Second},
		{"Python's dictionary", "{'Retry-After': '120', 'Server': 'x'}", 2 * time.Minute},
		{"by the server's clock", "HTTP/1.1 503 x\r\nDate: Sun, 06 Nov 1994 09:00:00 GMT\r\nRetry-After: Sun, 06 Nov 1994 09:00:30 GMT\r\n", 30 * time.Second},
		{"by the server's clock below", "< HTTP/2 503\n< retry-after: Sun, 06 Nov 1994 09:00:30 GMT\n< date: Sun, 06 Nov 1994 09:00:00 GMT\n< \n", 30 * time.Second},
		{"by the server's clock in a map", "map[Date:[Sun, 06 Nov 1994 09:00:00 GMT] Retry-After:[Sun, 06 Nov 1994 09:00:30 GMT]]", 30 * time.Second},
		{"a number needs no clock", "HTTP/1.1 503 x\r\nDate: Sun, 06 Nov 1994 09:00:00 GMT\r\nRetry-After: 30\r\n", 30 * time.Second},
		{"the clock of another answer", "HTTP/1.1 302 x\nDate: Sun, 06 Nov 1994 07:00:00 GMT\n\nHTTP/1.1 503 x\nRetry-After: Sun, 06 Nov 1994 08:50:37 GMT\n", time.Minute},
		{"the clock of the answer before", "HTTP/1.1 302 x\nDate: Sun, 06 Nov 1994 07:00:00 GMT\nHTTP/1.1 503 x\nRetry-After: Sun, 06 Nov 1994 08:50:37 GMT\n", time.Minute},
		{"past by the server's clock", "Date: Sun, 06 Nov 1994 09:00:00 GMT\nRetry-After: Sun, 06 Nov 1994 08:59:59 GMT\n", none},
		{"seconds in quotes", "Please try again after '372' seconds", 372 * time.Second},
		{"minutes in quotes", "Try again in '4' minutes.", 4 * time.Minute},
		{"JSON number", `{"message":"slow down","retry_after": 7.25}`, 7250 * time.Millisecond},
		{"JSON string", `{"retryAfter":"7s"}`, 7 * time.Second},
		{"escaped JSON", `"{\"retry_after\": 4}"`, 4 * time.Second},
		{"milliseconds", "retry-after-ms: 1500", 1500 * time.Millisecond},
		{"Azure", "x-ms-retry-after-ms: 20", 20 * time.Millisecond},
		{"the last counts", "Retry-After: 1\nRetry-After: 2\n", 2 * time.Second},
		{"coloured", "\x1b[36mretry-after\x1b[0m: 5", 5 * time.Second},
		{"epoch with limit", "HTTP/1.1 429 Too Many\nx-ratelimit-reset: 784111807\n", none},
		{"a reset alone", "x-ratelimit-reset: 30\n", 30 * time.Second},
		{"a reset alone, of a success", "HTTP/2 200\nx-ratelimit-reset: 30\n", none},
		{"remaining 0", "x-ratelimit-remaining: 0\nx-ratelimit-reset: 30\n", 30 * time.Second},
		{"remaining 12", "HTTP/1.1 404 Not Found\nx-ratelimit-remaining: 12\nx-ratelimit-reset: 30\n", none},
		{"403 with words", "HTTP/1.1 403 Forbidden\nx-ratelimit-reset: 30\nYou have exceeded a secondary rate limit", 30 * time.Second},
		{"403 without words", "HTTP/1.1 403 Forbidden\nx-ratelimit-reset: 30\n", none},
		{"reset after", "HTTP 429\nX-RateLimit-Reset-After: 1.5\n", 1500 * time.Millisecond},
		{"reset duration", "HTTP 429\nx-ratelimit-reset-tokens: 6m0s\n", 6 * time.Minute},
		{"one of two buckets used up", "HTTP/2 429\nx-ratelimit-remaining-requests: 0\nx-ratelimit-remaining-tokens: 149984\nx-ratelimit-reset-requests: 1s\nx-ratelimit-reset-tokens: 6m0s\n", time.Second},
		{"the other of two buckets", "HTTP/2 429\nx-ratelimit-remaining-requests: 12\nx-ratelimit-remaining-tokens: 0\nx-ratelimit-reset-requests: 1s\nx-ratelimit-reset-tokens: 6m0s\n", 6 * time.Minute},
		{"both buckets used up", "HTTP/2 429\nx-ratelimit-remaining-tokens: 0\nx-ratelimit-remaining-requests: 0\nx-ratelimit-reset-tokens: 20s\nx-ratelimit-reset-requests: 1s\n", 20 * time.Second},
		{"no bucket used up", "HTTP/2 429\nx-ratelimit-remaining-tokens: 9\nx-ratelimit-reset-tokens: 20s\n", none},
		{"no bucket used up, but a sentence", "HTTP/2 429\nx-ratelimit-remaining-tokens: 9\nx-ratelimit-reset-tokens: 20s\n\nPlease try again in 6ms.", 6 * time.Millisecond},
		{"buckets without counters: the last", "HTTP/2 429\nx-ratelimit-reset-requests: 1s\nx-ratelimit-reset-tokens: 6s\n", 6 * time.Second},
		{"bucket with an underscore", "HTTP/2 429\nx-ratelimit-remaining-tokens_usage_based: 0\nx-ratelimit-reset-tokens_usage_based: 9s\n", 9 * time.Second},
		{"bucket of two words", "HTTP/2 429\nx-ratelimit-remaining-requests-day: 0\nx-ratelimit-remaining-tokens-minute: 5\nx-ratelimit-reset-requests-day: 33.5\nx-ratelimit-reset-tokens-minute: 7.5\n", 33500 * time.Millisecond},
		{"bucket in front", "HTTP/2 429\nanthropic-ratelimit-requests-remaining: 49\nanthropic-ratelimit-requests-reset: 1994-11-06T08:49:38Z\nanthropic-ratelimit-tokens-remaining: 0\nanthropic-ratelimit-tokens-reset: 1994-11-06T08:50:37Z\nanthropic-ratelimit-output-tokens-remaining: 8000\nanthropic-ratelimit-output-tokens-reset: 1994-11-06T08:49:37Z\n", time.Minute},
		{"bucket in front, used up, without a status", "x-ratelimit-requests-remaining: 0\nx-ratelimit-requests-reset: 5\n", 5 * time.Second},
		{"buckets in a Go header map", "429 map[X-Ratelimit-Remaining-Requests:[0] X-Ratelimit-Remaining-Tokens:[88] X-Ratelimit-Reset-Requests:[1s] X-Ratelimit-Reset-Tokens:[6m0s]]", time.Second},
		{"buckets, the answers of two attempts", "HTTP/2 429\nx-ratelimit-remaining-requests: 7\nx-ratelimit-reset-requests: 9s\nHTTP/2 429\nx-ratelimit-remaining-requests: 0\nx-ratelimit-reset-requests: 2s\n", 2 * time.Second},
		{"one limit with some left and a 429", "HTTP/2 429\nx-ratelimit-remaining: 3\nx-ratelimit-reset: 30\n", 30 * time.Second},
		{"older draft", "HTTP/2 429\nRateLimit-Reset: 11\n", 11 * time.Second},
		{"older draft in one", "RateLimit: limit=10, remaining=0, reset=50", 50 * time.Second},
		{"newer draft", `RateLimit: "default";r=0;t=40`, 40 * time.Second},
		{"newer draft with some left", `RateLimit: "default";r=9;t=40`, none},
		{"RetryInfo in JSON", `"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "7.5s"`, 7500 * time.Millisecond},
		{"RetryInfo in text", "retry_delay {\n  seconds: 7\n  nanos: 500000000\n}", 7500 * time.Millisecond},
		{"RetryInfo as an object", `"retryDelay": {"seconds": "7", "nanos": 500000000}`, 7500 * time.Millisecond},
		{"RetryInfo as Node prints it", "retryDelay: { seconds: 7n, nanos: 5 }", 7*time.Second + 5},
		{"RetryInfo on one line", "retry_delay:{seconds:7}", 7 * time.Second},
		{"pushback", "grpc-retry-pushback-ms: 250", 250 * time.Millisecond},
		{"sentence", "Rate limited. Please try again in 7.5s.", 7500 * time.Millisecond},
		{"sentence with units", "please retry after 2 minutes", 2 * time.Minute},
		{"sentence with two units", "Please retry in 1 minute and 30 seconds", 90 * time.Second},
		{"sentence with a duration", "Please retry in 1m30s", 90 * time.Second},
		{"sentence with a date", "too many certificates, retry after 1994-11-06T08:50:37Z: see", time.Minute},
		{"sentence with another date", "retry after 1994-11-06 08:50:37 UTC: see https://x", time.Minute},
		{"wait before", "Please wait 30 seconds before retrying your request", 30 * time.Second},
		{"wait before trying", "Please wait 30 seconds before you try again", 30 * time.Second},
		{"throttled", "Request was throttled. Expected available in 12 seconds.", 12 * time.Second},
		{"client: retrying in", "retrying in 2s", none},
		{"client: retrying after", "Retrying after 1 seconds", none},
		{"client: will retry", "request failed, will retry in 5s", none},
		{"client: next retry", "next retry in 5s", none},
		{"client: counted", "Retry in 5s (attempt 2/5)", none},
		{"no unit", "retry after 3 attempts", none},
		{"40 digits", "Retry-After: " + strings.Repeat("9", 40), none},
		{"absurd", "Retry-After: 99999999", none},
		{"negative", "Retry-After: -5", none},
		{"words", "Retry-After: soon", none},
		{"with an exponent", "Retry-After: 1e3", none},
		{"hexadecimal", "Retry-After: 0x1F", none},
		{"a word behind it", "Retry-After: 9 soon", none},
		{"nothing", "connection refused", none},
		{"empty", "", none},
	} {
		if wait, ok, _ := Find(nil, []byte(c.text), now); wait != c.want || ok != (c.want != none) {
			t.Errorf("%s: Find(%q) = %v, want %v", c.name, c.text, wait, c.want)
		}
	}
}

func TestFindEpochs(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	for text, want := range map[string]time.Duration{
		"HTTP 429\nx-ratelimit-reset: 1700000090":                                      90 * time.Second,
		"HTTP 429\nx-ratelimit-reset: 1700000090500":                                   90500 * time.Millisecond,
		"HTTP 429\nX-Rate-Limit-Reset: 1700000090":                                     90 * time.Second,
		"HTTP 429\nDate: Tue, 14 Nov 2023 22:12:20 GMT\nx-ratelimit-reset: 1700000090": 150 * time.Second, // the server's clock is a minute behind
		"HTTP 429\nx-ratelimit-reset: 2023-11-14T22:14:50Z":                            90 * time.Second,
		"HTTP 429\nRetry-After: 1700000090":                                            90 * time.Second,
		"HTTP 429\nx-ratelimit-reset: 1700000090.5":                                    90500 * time.Millisecond,
		"x-ratelimit-remaining: 0\nx-ratelimit-reset: 60000":                           60000 * time.Second,
	} {
		if wait, ok, ignored := Find(nil, []byte(text), now); !ok || wait != want {
			t.Errorf("Find(%q) = %v %v %q, want %v", text, wait, ok, ignored, want)
		}
	}
}

func TestIgnoredSaysWhy(t *testing.T) {
	for text, want := range map[string]string{
		"Retry-After: " + strings.Repeat("9", 40):    "Retry-After is a number of 40 digits",
		"Retry-After: 99999999":                      "Retry-After is absurd (99999999)",
		"Retry-After: -5":                            "Retry-After is negative",
		"Retry-After: soon":                          "Retry-After is neither a number nor a date",
		"Retry-After: Sun, 06 Nov 1994 08:49:00 GMT": "Retry-After names a moment in the past",
		"Retry-After: 1e3":                           "Retry-After is neither a number nor a date",
		"HTTP 429\nx-ratelimit-remaining-tokens: 9\nx-ratelimit-reset-tokens: 20s": "rate limit reset is that of a limit with something left (tokens)",
		"HTTP/1.1 404 Not Found\nx-ratelimit-reset: 30":                            "rate limit reset stands on an answer that shows no limit reached",
		"Retry-After: 5": "",
	} {
		if _, _, ignored := Find(nil, []byte(text), now); ignored != want {
			t.Errorf("Find(%q) ignored %q, want %q", text, ignored, want)
		}
	}
}

func TestFindPattern(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          time.Duration
	}{
		{`cool-down=(\S+)`, "cool-down=5\ncool-down=8", 8 * time.Second},
		{`cool-down=(\S+)`, "cool-down=1m30s", 90 * time.Second},
		{`cool-down=(.*)`, "cool-down=Sun, 06 Nov 1994 08:50:37 GMT", time.Minute},
		{`\d+ms`, "wait 250ms", 250 * time.Millisecond},
		{`cool-down=(\S+)`, "nothing", none},
		{`cool-down=(\S*)`, "cool-down=", none},
		{`a(b)?`, "a", none},
		{`in (\d+)s|after (\d+)s`, "in 5s, after 9s", 9 * time.Second},
		{`in (\d+)s|after (\d+)s`, "after 9s, in 5s", 5 * time.Second},
		{`(in|after) (\d+)s`, "in 5s", none},
	} {
		if wait, ok, _ := Find(regexp.MustCompile(c.pattern), []byte(c.text), now); wait != c.want || ok != (c.want != none) {
			t.Errorf("Find(%q, %q) = %v, want %v", c.pattern, c.text, wait, c.want)
		}
	}
}

func FuzzFind(f *testing.F) {
	f.Add("Retry-After: 120\n", int64(0))
	f.Add("HTTP 429\nx-ratelimit-reset: 1700000090\n", int64(1_700_000_000))
	f.Add("HTTP 429\nx-ratelimit-remaining-a: 0\nx-ratelimit-reset-a: 9s\nx-ratelimit-b-reset-ms: 1e3\n", int64(0))
	f.Add("retry_delay {\n seconds: 9223372036854775807\n nanos: 2147483647\n}", int64(0))
	f.Add("try again in 99999999999999999999999999d", int64(-1))
	f.Add("\x1b[31mretry in a minute and 1e309s", int64(1<<40))
	f.Fuzz(func(t *testing.T, text string, at int64) {
		wait, ok, _ := Find(nil, []byte(text), time.Unix(at%(1<<40), 0))
		if ok && (wait < 0 || wait > 2*MaxBelieved) {
			t.Errorf("Find(%q) = %v", text, wait)
		}
	})
}
