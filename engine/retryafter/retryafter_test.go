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
		want       time.Duration // none if nothing is to be found
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
		{"by the server's clock", "HTTP/1.1 503 x\r\nDate: Sun, 06 Nov 1994 09:00:00 GMT\r\nRetry-After: Sun, " +
			"06 Nov 1994 09:00:30 GMT\r\n", 30 * time.Second},
		{"by the server's clock below",
			"< HTTP/2 503\n< retry-after: Sun, 06 Nov 1994 09:00:30 GMT\n< date: Sun, 06 Nov 1994 09:00:00 GMT\n< \n",
			30 * time.Second},
		{"by the server's clock in a map",
			"map[Date:[Sun, 06 Nov 1994 09:00:00 GMT] Retry-After:[Sun, 06 Nov 1994 09:00:30 GMT]]", 30 * time.Second},
		{"a number needs no clock", "HTTP/1.1 503 x\r\nDate: Sun, 06 Nov 1994 09:00:00 GMT\r\nRetry-After: 30\r\n",
			30 * time.Second},
		{"the clock of another answer",
			"HTTP/1.1 302 x\nDate: Sun, 06 Nov 1994 07:00:00 GMT\n\nHTTP/1.1 503 x\nRetry-After: Sun, 06 Nov " +
				"1994 08:50:37 GMT\n", time.Minute},
		{"the clock of the answer before",
			"HTTP/1.1 302 x\nDate: Sun, 06 Nov 1994 07:00:00 GMT\nHTTP/1.1 503 x\nRetry-After: Sun, 06 Nov 1994 " +
				"08:50:37 GMT\n", time.Minute},
		{"past by the server's clock",
			"Date: Sun, 06 Nov 1994 09:00:00 GMT\nRetry-After: Sun, 06 Nov 1994 08:59:59 GMT\n", none},
		{"the clock of another answer below",
			"HTTP/1.1 503 x\nRetry-After: Sun, 06 Nov 1994 08:50:37 GMT\n\nDate: Sun, 06 Nov 1994 07:00:00 GMT\n",
			time.Minute},
		{"the clock of the answer behind",
			"HTTP/1.1 503 x\nRetry-After: Sun, 06 Nov 1994 08:50:37 GMT\nHTTP/1.1 200 x\nDate: Sun, 06 Nov 1994 " +
				"07:00:00 GMT\n", time.Minute},
		{"by the server's clock above, curl -v",
			"< HTTP/2 503\n< date: Sun, 06 Nov 1994 09:00:00 GMT\n< retry-after: Sun, 06 Nov 1994 09:00:30 GMT\n< \n",
			30 * time.Second},
		{"by the server's clock above, wget -S",
			"  HTTP/1.1 503 x\n  Date: Sun, 06 Nov 1994 09:00:00 GMT\n  Retry-After: Sun, 06 Nov 1994 09:00:30 GMT\n",
			30 * time.Second},
		{"now", "Retry-After: 0", 0},
		{"half a second", "Retry-After: 0.5", 500 * time.Millisecond},
		{"the longest that is believed", "Retry-After: 2678400", MaxBelieved},
		{"the latest date that is believed", "Retry-After: Wed, 07 Dec 1994 08:49:37 GMT", MaxBelieved},
		{"many milliseconds", "retry-after-ms: 3000000", 50 * time.Minute},
		{"blanks behind the value", "Retry-After: 120 \r\n", 2 * time.Minute},
		{"in round brackets", "level=warn retry-after=(30) trace", 30 * time.Second},
		{"behind one bracket", "(Retry-After: 30, trace: a1)", 30 * time.Second},
		{"a header has its whole line", "Retry-After: 120, trace: 7", none},
		{"JSON with a word behind", `"retry_after": 3; see the manual`, 3 * time.Second},
		{"JSON with a bare key behind", `{'retry_after': 3, global: false}`, 3 * time.Second},
		{"ISO 8601 of UTC without a zone", "Retry-After: 19941106T085037", time.Minute},
		{"four parts", "Retry-After: 1 day 2 hours 3 minutes 4 seconds", 26*time.Hour + 3*time.Minute + 4*time.Second},
		{"five parts", "Retry-After: 1 day 2 hours 3 minutes 4 seconds 5 seconds", none},
		{"a part below 0", "Retry-After: -5m", none},
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
		{"403 with words", "HTTP/1.1 403 Forbidden\nx-ratelimit-reset: 30\nYou have exceeded a secondary rate limit",
			30 * time.Second},
		{"403 without words", "HTTP/1.1 403 Forbidden\nx-ratelimit-reset: 30\n", none},
		{"reset after", "HTTP 429\nX-RateLimit-Reset-After: 1.5\n", 1500 * time.Millisecond},
		{"reset duration", "HTTP 429\nx-ratelimit-reset-tokens: 6m0s\n", 6 * time.Minute},
		{"one of two buckets used up",
			"HTTP/2 429\nx-ratelimit-remaining-requests: 0\nx-ratelimit-remaining-tokens: 149984\n" +
				"x-ratelimit-reset-requests: 1s\nx-ratelimit-reset-tokens: 6m0s\n", time.Second},
		{"the other of two buckets", "HTTP/2 429\nx-ratelimit-remaining-requests: 12\n" +
			"x-ratelimit-remaining-tokens: 0\nx-ratelimit-reset-requests: 1s\nx-ratelimit-reset-tokens: 6m0s\n",
			6 * time.Minute},
		{"both buckets used up", "HTTP/2 429\nx-ratelimit-remaining-tokens: 0\nx-ratelimit-remaining-requests: " +
			"0\nx-ratelimit-reset-tokens: 20s\nx-ratelimit-reset-requests: 1s\n", 20 * time.Second},
		{"no bucket used up", "HTTP/2 429\nx-ratelimit-remaining-tokens: 9\nx-ratelimit-reset-tokens: 20s\n", none},
		{"no bucket used up, but a sentence",
			"HTTP/2 429\nx-ratelimit-remaining-tokens: 9\nx-ratelimit-reset-tokens: 20s\n\nPlease try again in 6ms.",
			6 * time.Millisecond},
		{"buckets without counters: the last",
			"HTTP/2 429\nx-ratelimit-reset-requests: 1s\nx-ratelimit-reset-tokens: 6s\n", 6 * time.Second},
		{"bucket with an underscore", "HTTP/2 429\nx-ratelimit-remaining-tokens_usage_based: 0\n" +
			"x-ratelimit-reset-tokens_usage_based: 9s\n", 9 * time.Second},
		{"bucket of two words", "HTTP/2 429\nx-ratelimit-remaining-requests-day: 0\n" +
			"x-ratelimit-remaining-tokens-minute: 5\nx-ratelimit-reset-requests-day: 33.5\n" +
			"x-ratelimit-reset-tokens-minute: 7.5\n", 33500 * time.Millisecond},
		{"bucket in front", "HTTP/2 429\nanthropic-ratelimit-requests-remaining: 49\n" +
			"anthropic-ratelimit-requests-reset: 1994-11-06T08:49:38Z\nanthropic-ratelimit-tokens-remaining: " +
			"0\nanthropic-ratelimit-tokens-reset: 1994-11-06T08:50:37Z\n" +
			"anthropic-ratelimit-output-tokens-remaining: 8000\nanthropic-ratelimit-output-tokens-reset: " +
			"1994-11-06T08:49:37Z\n", time.Minute},
		{"bucket in front, used up, without a status",
			"x-ratelimit-requests-remaining: 0\nx-ratelimit-requests-reset: 5\n", 5 * time.Second},
		{"buckets in a Go header map",
			"429 map[X-Ratelimit-Remaining-Requests:[0] X-Ratelimit-Remaining-Tokens:[88] " +
				"X-Ratelimit-Reset-Requests:[1s] X-Ratelimit-Reset-Tokens:[6m0s]]", time.Second},
		{"buckets, the answers of two attempts",
			"HTTP/2 429\nx-ratelimit-remaining-requests: 7\nx-ratelimit-reset-requests: 9s\nHTTP/2 429\n" +
				"x-ratelimit-remaining-requests: 0\nx-ratelimit-reset-requests: 2s\n", 2 * time.Second},
		{"one limit with some left and a 429", "HTTP/2 429\nx-ratelimit-remaining: 3\nx-ratelimit-reset: 30\n",
			30 * time.Second},
		{"a word that is no field behind a field",
			"HTTP 429\nx-ratelimit-reset: 30\ncurl: connection-reset by peer\n", 30 * time.Second},
		{"a reset that can not be read behind one that can",
			"HTTP 429\nx-ratelimit-reset: 30\nx-ratelimit-reset: soon\n", 30 * time.Second},
		{"a reset right now", "HTTP 429\nx-ratelimit-reset: 0\n", 0},
		{"buckets without counters, the last is shorter",
			"HTTP/2 429\nx-ratelimit-reset-requests: 9s\nx-ratelimit-reset-tokens: 6s\n", 6 * time.Second},
		{"buckets without counters, the last resets right now",
			"HTTP/2 429\nx-ratelimit-reset-requests: 9s\nx-ratelimit-reset-tokens: 0s\n", 0},
		{"the bucket that is used up resets right now",
			"HTTP/2 429\nx-ratelimit-remaining-tokens: 0\nx-ratelimit-reset-tokens: 0s\n" +
				"x-ratelimit-reset-requests: 9s\n", 0},
		{"a reset in milliseconds", "HTTP 429\nx-ratelimit-reset-ms: 1500\n", 1500 * time.Millisecond},
		{"a reset without a value", "HTTP 429\nx-ratelimit-reset:\n30 files\n", none},
		{"a counter without a value", "x-ratelimit-remaining:\n0 files\nx-ratelimit-reset: 30\n", none},
		{"the name of the field is no word about a limit", "HTTP/1.1 503 x\nRateLimit-Reset: 30\n", none},
		{"older draft", "HTTP/2 429\nRateLimit-Reset: 11\n", 11 * time.Second},
		{"older draft in one", "RateLimit: limit=10, remaining=0, reset=50", 50 * time.Second},
		{"newer draft", `RateLimit: "default";r=0;t=40`, 40 * time.Second},
		{"newer draft with some left", `RateLimit: "default";r=9;t=40`, none},
		{"RetryInfo in JSON", `"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "7.5s"`,
			7500 * time.Millisecond},
		{"RetryInfo in text", "retry_delay {\n  seconds: 7\n  nanos: 500000000\n}", 7500 * time.Millisecond},
		{"RetryInfo as an object", `"retryDelay": {"seconds": "7", "nanos": 500000000}`, 7500 * time.Millisecond},
		{"RetryInfo as Node prints it", "retryDelay: { seconds: 7n, nanos: 5 }", 7*time.Second + 5},
		{"RetryInfo on one line", "retry_delay:{seconds:7}", 7 * time.Second},
		{"RetryInfo below a second", "retry_delay { nanos: 500000000 }", 500 * time.Millisecond},
		{"RetryInfo of 0 seconds and a part", "retry_delay { seconds: 0 nanos: 500000000 }", 500 * time.Millisecond},
		{"RetryInfo below 0", "retry_delay { seconds: -1 nanos: 500000000 }", none},
		{"RetryInfo with too many nanoseconds", "retry_delay { seconds: 7 nanos: 99999999999 }", 7 * time.Second},
		{"RetryInfo on lines of Windows", "retry_delay {\r\n  seconds: 7\r\n  nanos: 500000000\r\n}",
			7500 * time.Millisecond},
		{"RetryInfo over five lines", "retry_delay {\n\n  seconds: 7\n\n}", 7 * time.Second},
		{"RetryInfo over more lines", "retry_delay {\n\n  seconds: 7\n\n\n}", none},
		{"pushback", "grpc-retry-pushback-ms: 250", 250 * time.Millisecond},
		{"sentence", "Rate limited. Please try again in 7.5s.", 7500 * time.Millisecond},
		{"sentence with units", "please retry after 2 minutes", 2 * time.Minute},
		{"sentence with two units", "Please retry in 1 minute and 30 seconds", 90 * time.Second},
		{"sentence with a duration", "Please retry in 1m30s", 90 * time.Second},
		{"sentence with a date", "too many certificates, retry after 1994-11-06T08:50:37Z: see", time.Minute},
		{"sentence with another date", "retry after 1994-11-06 08:50:37 UTC: see https://x", time.Minute},
		{"sentence with a date and a full stop", "retry after 1994-11-06T08:50:37Z.", time.Minute},
		{"sentence with a date and a dash", "retry after 1994-11-06 08:50:37 - too many requests", time.Minute},
		{"sentence with a date and a dash at its end", "retry after 1994-11-06 08:50:37 -", time.Minute},
		{"sentence with a date and a digit", "retry after 1994-11-06T08:50:370Z", none},
		{"sentence with a date and a zone of a form that is not known", "retry after 1994-11-06 08:50:37 +1:00", none},
		{"sentence with a date and a negative one", "retry after 1994-11-06 08:50:37 -1:00", none},
		{"sentence with a date and one by name", "retry after 1994-11-06 08:50:37 GMT+2", none},
		{"sentence with one", "try again in a minute", time.Minute},
		{"sentence with milliseconds", "try again in 900000 ms", 15 * time.Minute},
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
		"HTTP 429\nx-ratelimit-reset: 1700000090":    90 * time.Second,
		"HTTP 429\nx-ratelimit-reset: 1700000090500": 90500 * time.Millisecond,
		"HTTP 429\nX-Rate-Limit-Reset: 1700000090":   90 * time.Second,
		// the server's clock is a minute behind
		"HTTP 429\nDate: Tue, 14 Nov 2023 22:12:20 GMT\nx-ratelimit-reset: 1700000090": 150 * time.Second,
		"HTTP 429\nx-ratelimit-reset: 2023-11-14T22:14:50Z":                            90 * time.Second,
		"HTTP 429\nRetry-After: 1700000090":                                            90 * time.Second,
		"HTTP 429\nx-ratelimit-reset: 1700000090.5":                                    90500 * time.Millisecond,
		"HTTP 429\nx-ratelimit-reset: 1700000090.999":                                  90999 * time.Millisecond,
		"x-ratelimit-remaining: 0\nx-ratelimit-reset: 60000":                           60000 * time.Second,
	} {
		if wait, ok, ignored := Find(nil, []byte(text), now); !ok || wait != want {
			t.Errorf("Find(%q) = %v %v %q, want %v", text, wait, ok, ignored, want)
		}
	}
}

// Numbers from 10^9 on are epochs in seconds, from 10^12 on in milliseconds.
func TestWhereEpochsBegin(t *testing.T) {
	for _, text := range []string{"Retry-After: 1000000000", "Retry-After: 1000000000000"} {
		if wait, ok, ignored := Find(nil, []byte(text), time.Unix(1e9-60, 0)); !ok || wait != time.Minute {
			t.Errorf("Find(%q) = %v %v %q", text, wait, ok, ignored)
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
		"HTTP 429\nx-ratelimit-remaining-tokens: 9\nx-ratelimit-reset-tokens: 20s": "rate limit reset " +
			"is that of a limit with something left (tokens)",
		"HTTP/1.1 404 Not Found\nx-ratelimit-reset: 30": "rate limit reset " +
			"stands on an answer that shows no limit reached",
		"Retry-After: 5": "",
		"Retry-After: " + strings.Repeat("9", 19):            "Retry-After is absurd (" + strings.Repeat("9", 19) + ")",
		"Retry-After: " + strings.Repeat("9", 20):            "Retry-After is a number of 20 digits",
		"Retry-After: 1000000000000000":                      "Retry-After is absurd (1000000000000000)",
		"Retry-After: 2678401":                               "Retry-After is absurd (2678401)",
		"Retry-After: Wed, 07 Dec 1994 08:49:38 GMT":         "Retry-After is absurd (744h0m0s)",
		"Retry-After: 310 days":                              "Retry-After is absurd (7440h0m0s)",
		"Retry-After: 311 days":                              "Retry-After is neither a number nor a date",
		"Retry-After: -5m":                                   "Retry-After is neither a number nor a date",
		"HTTP/1.1 404 x\ncurl: connection-reset by peer":     "",
		"Retry-After: soon\nRetry-After: -5":                 "Retry-After is negative",
		"Retry-After: soon\nplease try again in 99 days":     "Retry-After is neither a number nor a date",
		"Retry-After: 7\nRetry-After: -5\nRetry-After: soon": "Retry-After is neither a number nor a date",
	} {
		if _, _, ignored := Find(nil, []byte(text), now); ignored != want {
			t.Errorf("Find(%q) ignored %q, want %q", text, ignored, want)
		}
	}
}

func TestFindPattern(t *testing.T) {
	long := strings.Repeat("x", 300)
	for _, c := range []struct {
		pattern, text string
		want          time.Duration
		ignored       string // behind "the match of --retry-after "
	}{
		{`cool-down=(\S+)`, "cool-down=5\ncool-down=8", 8 * time.Second, ""},
		{`cool-down=(\S+)`, "cool-down=5\ncool-down=0", 0, ""},
		{`cool-down=(\S+)`, "cool-down=1m30s", 90 * time.Second, ""},
		{`cool-down=(.*)`, "cool-down=Sun, 06 Nov 1994 08:50:37 GMT", time.Minute, ""},
		{`cool-down=(.*)`, "cool-down=1994-11-06T08:50:37Z, see " + long, time.Minute, ""},
		{`cool-down=(.*)`, "cool-down= \"5\" ", 5 * time.Second, ""},
		{`\d+ms`, "wait 250ms", 250 * time.Millisecond, ""},
		{`cool-down=(\S+)`, "nothing", none, ""},
		{`cool-down=(\S*)`, "cool-down=", none, "is neither a number nor a date"},
		{`a(b)?`, "a", none, "is neither a number nor a date"},
		{`in (\d+)s|after (\d+)s`, "in 5s, after 9s", 9 * time.Second, ""},
		{`in (\d+)s|after (\d+)s`, "after 9s, in 5s", 5 * time.Second, ""},
		{`(in|after) (\d+)s`, "in 5s", none, "is neither a number nor a date"},
		{`cool-down=(\S+)`, "cool-down=5\ncool-down=soon\ncool-down=-8", 5 * time.Second, "is negative"},
	} {
		if c.ignored != "" {
			c.ignored = "the match of --retry-after " + c.ignored
		}
		if wait, ok, ignored := Find(regexp.MustCompile(c.pattern), []byte(c.text), now); wait != c.want ||
			ok != (c.want != none) || ignored != c.ignored {
			t.Errorf("Find(%q, %q) = %v %q, want %v %q", c.pattern, c.text, wait, ignored, c.want, c.ignored)
		}
	}
}

// However often a word stands in an output, so many of its last places are looked at, and so
// much text at each.
func TestWorkIsBounded(t *testing.T) {
	const word = "retry"
	for name, text := range map[string]string{
		"words": strings.Repeat(word, 1<<16), "lines": strings.Repeat(word+"\n", 1<<16),
		"ends of lines": word + strings.Repeat("\r", 1<<20), "one line": word + strings.Repeat("x", 1<<20) + word,
		"answers": strings.Repeat("HTTP/2 503\n"+word+"\n\n", 1<<14),
		"header":  word + strings.Repeat("\ndate: x", 1<<16),
	} {
		o := &shown{plain: []byte(text), lower: []byte(text)}
		places := 0
		for at := range o.occurrences(word) {
			places++
			if seen := len(o.window(at, 4)); seen > before+after {
				t.Errorf("%s: %d bytes around %d are looked at", name, seen, at)
			}
			if seen := len(o.answer(at)); seen > 2*answerSize {
				t.Errorf("%s: an answer of %d bytes around %d", name, seen, at)
			}
		}
		if want := min(strings.Count(text, word), maxSeen); places != want {
			t.Errorf("%s: %d places are looked at, want %d", name, places, want)
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
