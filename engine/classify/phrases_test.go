package classify

// This file judges the established wordings of causes as the tools of strangers
// would print them: what the standard libraries, protocols and services say, by
// themselves and between the words of a tool that has no rule.

import (
	"bufio"
	"os"
	"strings"
	"testing"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/testdata/tries"
)

// phraseIn are what a tool puts around a phrase, which is %s there.
var phraseIn = []string{
	"%s",
	"frobd: %s",
	"Error: %s.",
	`{"level":"error","ts":1763640001.2,"caller":"frob/sync.go:112","msg":"%s"}`,
	"Traceback (most recent call last):\n  File \"/opt/frob/sync.py\", line 12, in run\n    self.frob(widget)\n" +
		"frob.errors.FrobError: %s",
	"##[error]%s\n##[error]Process completed with exit code 1.",
}

// phrases reads a file of phrases, without its headings.
func phrases(t testing.TB, path string) (all []string) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for s := bufio.NewScanner(file); s.Scan(); {
		if line := s.Text(); line != "" && !strings.HasPrefix(line, "# ") {
			all = append(all, line)
		}
	}
	return all
}

func TestPhrases(t *testing.T) {
	if testing.Short() {
		t.Skip("judges thousands of failures")
	}
	table := BuiltIn()
	every := tries.Every(3)
	for _, x := range []struct {
		path string
		want event.Verdict
	}{{"testdata/phrases-transient.txt", event.Transient}, {"testdata/phrases-permanent.txt", event.Permanent}} {
		var total, right, opposite int
		for i, phrase := range phrases(t, x.path) {
			bad := map[string]int{}
			for n, in := range phraseIn {
				if (i+n)%every > 0 {
					continue
				}
				text := strings.ReplaceAll(in, "%s", phrase)
				j := table.Judge(Failure{Argv: []string{"frob", "sync"}, Result: attempt.Result{ExitCode: 1},
					Stderr: []byte(text + "\n")})
				total++
				switch j.Verdict {
				case x.want:
					right++
				case event.Unknown:
					bad["unknown "+j.Rule]++
				default:
					opposite++
					bad["WRONG "+j.Rule]++
				}
			}
			if len(bad) > 0 && testing.Verbose() {
				t.Logf("%.110s: %v", phrase, bad)
			}
		}
		t.Logf("%s: %.3f right, %.3f opposite", x.path, share(right, total), share(opposite, total))
		if share(right, total) < 0.96 || share(opposite, total) > 0.002 {
			t.Errorf("%s: the table has become worse on established wordings", x.path)
		}
	}
}

// statusIn are the ways in which tools print the status of an HTTP answer: %d is
// the code and %s its reason phrase.
var statusIn = []string{
	"HTTP/1.1 %d %s", "HTTP/2 %d", "HTTP %d", "HTTP %d: %s", "HTTP status %d", "HTTP status: %d", "HTTP code %d",
	"HTTP error %d", "HTTP Error %d: %s",
	"HTTP response code %d", "HTTP response: %d", "HTTPError: %d", "http_code=%d", "http_status=%d",
	"HttpStatusCode: %d", "httpStatus=%d",
	"status code: %d", "status code %d", "status=%d", "statusCode: %d", "StatusCode: %d", "status_code=%d",
	`"status": %d`, `"status":"%d"`, `"code":%d`, `"statusCode":%d`,
	"Status: %d", "status %d", "response status is %d", "response.status: %d", "Response code: %d", "ResponseCode=%d",
	"response code %d (%s)", "errorCode: %d",
	"code=%d", "code: %d", "Error code: %d", "ERR %d", "error %d: %s", "Error: %d %s", "ERROR: %d", "[%d] %s",
	"(%d) %s", "%d: %s", "%d - %s", "%d %s", "<h1>%d %s</h1>", "<title>%d %s</title>",
	"server returned %d", "server returned HTTP status code %d",
	"Server returned HTTP response code: %d for URL: https://h.test/a", "Server returned %d (%s)",
	"unexpected status code %d", "unexpected status: %d %s", "unexpected status %d", "unexpected response: %d",
	"unexpected HTTP response code %d", "unexpected http status: %d",
	"wrong status code: %d", "bad status: %d %s", "bad status code: %d", "bad response: %d", "bad http code: %d",
	"invalid status code %d", "invalid response code: %d", "Invalid response status code: %d",
	"got status %d", "got HTTP %d", "got status code %d", "got a %d response", "got response code %d",
	"received %d from server", "received status %d", "received HTTP %d", "received unexpected status %d",
	"responded with %d", "responded with status %d", "replied with %d", "answered with %d", "returned %d",
	"returned status %d", "returned HTTP %d", "returned code %d", "returned an error: %d",
	"non-200 response: %d", "returned non-200 status %d", "non-200 status code: %d", "non-OK status: %d",
	"non-2xx status code: %d", "non-success status code %d", "not OK: %d",
	"expected 200, got %d", "expected status 200, got %d", "expected 200 OK but got %d", "want 200, got %d",
	"status is %d, expected 200",
	"request failed with status code %d", "request failed with %d", "request failed: %d %s", "Request failed (%d)",
	"failed with status %d", "failed with HTTP status %d", "failed with error code %d", "failed: %d %s",
	"failed (%d)", "failed, status code %d", "failed with response code %d",
	"GET https://h.test/a: %d", "GET https://h.test/a: %d %s", "GET https://h.test/a returned %d",
	"GET https://h.test/a %d (%s)", "GET /a => %d", "POST /v1/a -> %d", `"GET /a HTTP/1.1" %d 12`,
	"https://h.test/a: %d %s", "https://h.test/a %d", "https://h.test/a returned %d", "https://h.test/a => %d",
	"https://h.test/a (%d)", "%d %s for url: https://h.test/a", "%d https://h.test/a",
	"%d response from https://h.test/a", "[HTTP %d]", "(HTTP %d)", "(status %d)", "(status code %d)", "(code: %d)",
	"(code %d)", "status: %d, body: oops",
	"Response status code does not indicate success: %d (%s).", "The remote server returned an error: (%d) %s.",
	"API error (%d): oops", "API error %d", "API returned %d", "api responded with status %d",
	"error response from server: %d", "The server responded with a status of %d (%s)", "Server responded with %d",
	"download failed: HTTP %d", "download error: %d", "fetch failed with status %d", "upload failed with %d",
	"error downloading https://h.test/a: %d", "could not download https://h.test/a (%d)",
	"Failed to load resource: the server responded with a status of %d ()", "StatusCodeError: %d - oops",
	"ResponseError(%d)", "Status(%d)", "StatusCode(%d)", "status: %d %s", "HTTP/1.0 %d %s", "HTTP/3 %d", "http: %d",
	"http %d", "http-status: %d", "E%d", "HTTP_%d", "err=%d",
}

func TestStatuses(t *testing.T) {
	if testing.Short() {
		t.Skip("judges thousands of failures")
	}
	table := BuiltIn()
	var total, right, opposite int
	for _, x := range []struct {
		code   string
		reason string
		want   event.Verdict
	}{
		{"500", "Internal Server Error", event.Transient}, {"502", "Bad Gateway", event.Transient},
		{"503", "Service Unavailable", event.Transient}, {"504", "Gateway Timeout", event.Transient},
		{"429", "Too Many Requests", event.Transient}, {"408", "Request Timeout", event.Transient},
		{"400", "Bad Request", event.Permanent}, {"401", "Unauthorized", event.Permanent},
		{"403", "Forbidden", event.Permanent}, {"404", "Not Found", event.Permanent},
		{"405", "Method Not Allowed", event.Permanent},
		{"410", "Gone", event.Permanent}, {"413", "Content Too Large", event.Permanent},
		{"415", "Unsupported Media Type", event.Permanent}, {"422", "Unprocessable Content", event.Permanent},
		{"501", "Not Implemented", event.Permanent},
	} {
		for _, form := range statusIn {
			phrase := strings.NewReplacer("%d", x.code, "%s", x.reason).Replace(form)
			for _, in := range phraseIn[:3] {
				j := table.Judge(Failure{Argv: []string{"frob", "sync"}, Result: attempt.Result{ExitCode: 1},
					Stderr: []byte(strings.ReplaceAll(in, "%s", phrase) + "\n")})
				total++
				switch j.Verdict {
				case x.want:
					right++
				case event.Unknown:
				default:
					opposite++
				}
				if j.Verdict != x.want && in == "frobd: %s" && testing.Verbose() {
					t.Logf("map[ %s %s %.80s: %s by %q", x.code, form, phrase, j.Verdict, j.Rule)
				}
			}
		}
	}
	t.Logf("%.3f right, %.3f opposite", share(right, total), share(opposite, total))
	if share(right, total) < 0.99 || opposite > 0 {
		t.Error("a form of a status is not understood")
	}
}
