package telemetry

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/event"
)

// recorded is a run of three attempts, the second of them hedged, that ends well.
func recorded(name string) *run {
	start := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	r := &run{Run: &event.Run{}}
	emit := func(after time.Duration, n int, e event.Event) {
		h := e.Head()
		h.Time, h.RunID, h.TraceID, h.Attempt, h.MaxAttempts = start.Add(after), "run",
			"0123456789abcdef0123456789abcdef", n, 5
		r.Add(e)
		r.Emit(e)
	}
	ended := func(code int, took time.Duration) attempt.Result {
		return attempt.Result{ExitCode: code, Duration: took}
	}
	emit(0, 0, &event.RunStarted{Name: name, Sampled: true, SpanID: "00000000000000aa",
		ParentSpanID: "00000000000000bb", Command: []string{"curl", "-f"}})
	emit(0, 1, &event.AttemptStarted{Which: event.Which{SpanID: "01"}})
	emit(time.Second, 1, &event.AttemptFinished{Which: event.Which{SpanID: "01"}, Result: ended(7, time.Second),
		Judgement: event.Judgement{Verdict: event.Transient, Rule: "curl", Ended: "exit 7"}})
	emit(time.Second, 1, &event.RetryScheduled{Wait: event.Wait{Delay: time.Second, Jittered: 400 * time.Millisecond}})
	emit(1400*time.Millisecond, 1, &event.RetryWaited{Slept: 400 * time.Millisecond})
	for copy := range 2 {
		emit(1400*time.Millisecond, 2,
			&event.AttemptStarted{Which: event.Which{Hedged: true, Copy: copy, SpanID: fmt.Sprint("2", copy)}})
	}
	emit(2*time.Second, 2, &event.AttemptFinished{Which: event.Which{Hedged: true, Copy: 1}, Success: true,
		Result: ended(0, 500*time.Millisecond)})
	emit(2*time.Second, 2, &event.AttemptCancelled{Which: event.Which{Hedged: true, SpanID: "20"},
		Result: attempt.Result{ExitCode: 143, Signal: "SIGTERM", Duration: 600 * time.Millisecond}})
	emit(2*time.Second, 2, &event.GuardRefused{Guard: "budget"})
	emit(2*time.Second, 3, &event.AttemptStarted{})
	emit(2*time.Second, 3, &event.AttemptFinished{Result: attempt.Result{NotRun: true, DeadlinePassed: true,
		ExitCode: 124}})
	emit(2500*time.Millisecond, 3,
		&event.RunFinished{Attempts: 2, ExitCode: 124, Ending: event.Ending{Outcome: event.Deadline}})
	return r
}

func TestMetrics(t *testing.T) {
	m := metrics{}
	m.add(recorded(`a"b\c` + "\n").metrics)
	m.add(recorded("plain").metrics)
	m.add(recorded("plain").metrics)
	text := string(m.encode())
	for _, line := range []string{
		`retry_runs_total{name="plain",outcome="deadline"} 2`,
		`retry_runs_total{name="a\"b\\c\n",outcome="deadline"} 1`,
		`retry_attempts_total{name="plain",result="success"} 2`,
		`retry_attempts_total{name="plain",result="failure"} 2`,
		`retry_attempts_total{name="plain",result="cancelled"} 2`,
		`retry_run_attempts_bucket{name="plain",outcome="deadline",le="1"} 0`,
		`retry_run_attempts_bucket{name="plain",outcome="deadline",le="2"} 2`,
		`retry_run_attempts_count{name="plain",outcome="deadline"} 2`,
		`retry_delay_seconds_bucket{name="plain",le="0.5"} 2`,
		`retry_delay_seconds_sum{name="plain"} 0.8`,
		`retry_attempt_duration_seconds_bucket{name="plain",le="+Inf"} 6`,
		`retry_refused_total{name="plain",guard="budget"} 2`,
		`retry_last_run_timestamp_seconds{name="plain",outcome="deadline"} 1795521602.5`,
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("%s is missing in\n%s", line, text)
		}
	}
	back, err := decode([]byte(text))
	if err != nil || !reflect.DeepEqual(back, m) {
		t.Errorf("read back %v, %v", back, err)
	}
}

func TestNamesAreLimited(t *testing.T) {
	m := metrics{}
	for i := range mostNames + 5 {
		m.add(recorded(fmt.Sprint("name", i)).metrics)
	}
	m.add(recorded("name3").metrics)
	if n := len(m.of(runs)); n != mostNames+1 {
		t.Errorf("%d names", n)
	}
	if got := m[series{runs, otherName, "deadline"}]; len(got) != 1 || got[0] != 5 {
		t.Errorf("%s has %v runs", otherName, got)
	}
	if got := m[series{runs, "name3", "deadline"}][0]; got != 2 {
		t.Errorf("name3 has %v runs", got)
	}
}

func TestForeignFilesAreLeft(t *testing.T) {
	for name, text := range map[string]string{
		"a timestamp":       `retry_runs_total{name="a",outcome="b"} 1 1795521602` + "\n",
		"NaN":               `retry_runs_total{name="a",outcome="b"} NaN` + "\n",
		"a series twice":    strings.Repeat(`retry_runs_total{name="a",outcome="b"} 1`+"\n", 2),
		"a comment":         "# mine\n",
		"another family":    "node_load1 1\n",
		"another type":      "# TYPE retry_runs_total gauge\n",
		"other labels":      `retry_runs_total{outcome="b",name="a"} 1` + "\n",
		"half a histogram":  `retry_delay_seconds_sum{name="a"} 1` + "\n",
		"a foreign bucket":  `retry_delay_seconds_bucket{name="a",le="7"} 1` + "\n",
		"no end of labels":  `retry_runs_total{name="a",outcome="b`,
		"a negative count":  `retry_runs_total{name="a",outcome="b"} -1` + "\n",
		"more than 8 MiB":   strings.Repeat("\n", largestFile+1),
		"not the last line": "\n\nx",
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "a.prom")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := addToFile(context.Background(), file, recorded("a")); err == nil {
				t.Error("no error")
			}
			if after, err := os.ReadFile(file); err != nil || string(after) != text {
				t.Errorf("%v; the file was changed", err)
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	// Short seeds of each kind: with a whole file, the fuzzer spends its time on one input.
	for _, seed := range []string{
		`retry_runs_total{name="a",outcome="b"} 1e3` + "\n",
		`retry_refused_total{name="a\n\"b\\",guard="budget"} 2` + "\n",
		"# HELP retry_delay_seconds x\n# TYPE retry_delay_seconds histogram\n",
		`retry_run_attempts_bucket{name="a",outcome="b",le="+Inf"} 1` + "\n",
		`retry_last_run_timestamp_seconds{name="",outcome=""} 0.5` + "\n\n", `retry_delay_seconds_sum{name="a"} 1`,
	} {
		f.Add([]byte(seed))
	}
	whole := metrics{}
	for le := range len(families[runAttempts].bounds) + 1 {
		whole.values(series{runAttempts, "a", "b"}, 1)[le] = 2
	}
	f.Add(whole.encode())
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := decode(data)
		if err != nil {
			return
		}
		again, err := decode(m.encode())
		if err != nil || !reflect.DeepEqual(again, m) {
			t.Errorf("%v became %v, %v", m, again, err)
		}
	})
}

func TestStatsD(t *testing.T) {
	want := []string{
		"retry.runs:1|c|#name:a_b,outcome:deadline",
		"retry.attempts:1|c|#name:a_b,result:cancelled", "retry.attempts:1|c|#name:a_b,result:failure",
		"retry.attempts:1|c|#name:a_b,result:success",
		"retry.run.duration:2500|ms|#name:a_b,outcome:deadline", "retry.delay:400|ms|#name:a_b",
	}
	if got := recorded("a b").statsd(); !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
	if got := datagrams([]string{"aa", "bb", "cccc"}, 5); len(got) != 2 || string(got[0]) != "aa\nbb" {
		t.Errorf("%q", got)
	}
}

func TestManyWaitsAreSampled(t *testing.T) {
	r := &run{Run: &event.Run{}}
	emit := func(e event.Event) {
		r.Add(e)
		r.Emit(e)
	}
	emit(&event.RunStarted{Command: []string{"x"}})
	for i := range 350 {
		emit(&event.RetryScheduled{})
		emit(&event.RetryWaited{Slept: time.Duration(i+1) * time.Millisecond})
	}
	if r.every != 4 || len(r.samples) != 87 || r.samples[0] != 4*time.Millisecond ||
		r.samples[86] != 348*time.Millisecond {
		t.Errorf("every %d, %v", r.every, r.samples)
	}
	emit(&event.RunFinished{})
	if last := r.statsd(); !strings.HasSuffix(last[len(last)-1], "retry.delay:348|ms|@0.25|#name:") {
		t.Errorf("%q", last[len(last)-1])
	}
}

func TestStatsDAddresses(t *testing.T) {
	for text, want := range map[string]StatsD{
		"localhost:8125": {"udp", "localhost:8125"}, "[::1]:8125": {"udp", "[::1]:8125"},
		"unix:///run/s": {"unixgram", "/run/s"}, "unix:/run/s": {"unixgram", "/run/s"},
		"": {}, "localhost": {}, "localhost:0": {}, "localhost:x": {}, ":8125": {}, "unix:": {}, "unix:run": {},
		"udp://localhost:8125": {}, "unix:///": {},
	} {
		if got, err := ParseStatsD(text); got != want || (err == nil) != (want.address != "") {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

// posted is what a collector was sent.
type posted struct {
	path, authorization, header string
	body                        map[string]any
}

// collector answers every request as answer does and keeps what it was sent.
func collector(t *testing.T, answer http.HandlerFunc) (url string, all func() []posted) {
	var mutex sync.Mutex
	var got []posted
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := posted{path: r.URL.Path, authorization: r.Header.Get("Authorization"), header: r.Header.Get("X-Key")}
		data, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(data, &p.body); err != nil {
			t.Errorf("%v in %s", err, data)
		}
		mutex.Lock()
		got = append(got, p)
		mutex.Unlock()
		answer(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL, func() []posted {
		mutex.Lock()
		defer mutex.Unlock()
		return got
	}
}

func variables(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

// sent sends a run and returns the warnings.
func sent(c Config, r *run) (warnings []string) {
	c.Warn, c.Detail = func(s string) { warnings = append(warnings, s) }, func(string) {}
	if c.Lookup == nil {
		c.Lookup = variables()
	}
	if c.OTLPTimeout == 0 {
		c.OTLPTimeout = 5 * time.Minute
	}
	s := &Sink{Config: c}
	s.run = *r
	s.Send(context.Background())
	return warnings
}

func TestOTLPIsPosted(t *testing.T) {
	base, got := collector(t, func(http.ResponseWriter, *http.Request) {})
	address := strings.Replace(base, "://", "://user:p%40ss@", 1) + "/otel"
	if c := sent(Config{OTLP: address, OTLPArgs: true,
		Lookup: variables("OTEL_METRICS_EXPORTER", "otlp", "OTEL_EXPORTER_OTLP_HEADERS", "x-key=a%20b,bad=%0a")},
		recorded("a")); len(c) != 1 || !strings.Contains(c[0], `"bad"`) {
		t.Errorf("%q", c)
	}
	paths := map[string]posted{}
	for _, p := range got() {
		paths[p.path] = p
	}
	traces, metrics := paths["/otel/v1/traces"], paths["/otel/v1/metrics"]
	if traces.body == nil || metrics.body == nil || traces.authorization != "Basic dXNlcjpwQHNz" ||
		traces.header != "a b" {
		t.Fatalf("%+v", paths)
	}
	resource := traces.body["resourceSpans"].([]any)[0].(map[string]any)
	spans := resource["scopeSpans"].([]any)[0].(map[string]any)["spans"].([]any)
	if len(spans) != 4 {
		t.Fatalf("%d spans", len(spans))
	}
	run, first := spans[0].(map[string]any), spans[1].(map[string]any)
	if run["name"] != "retry a" || run["spanId"] != "00000000000000aa" || run["parentSpanId"] != "00000000000000bb" ||
		first["parentSpanId"] != "00000000000000aa" || first["spanId"] != "01" ||
		run["endTimeUnixNano"] != "1795521602500000000" {
		t.Errorf("%v\n%v", run, first)
	}
	var text bytes.Buffer
	_ = json.NewEncoder(&text).Encode(run)
	for _, part := range []string{`"retry.wait"`, `{"key":"retry.slept_ms","value":{"doubleValue":400}}`,
		`"process.command_args"`, `"code":2,"message":"deadline"`} {
		if !strings.Contains(text.String(), part) {
			t.Errorf("%s is missing in %s", part, text.String())
		}
	}
}

func TestWhereOTLPGoes(t *testing.T) {
	for name, c := range map[string]struct {
		flag            string
		variables       []string
		traces, metrics string
	}{
		"nothing set": {flag: Auto},
		"a base": {Auto, []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://h:4318/x/"},
			"http://h:4318/x/v1/traces", ""},
		"an endpoint": {Auto, []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://h",
			"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://t/y"}, "http://t/y", ""},
		"metrics too": {Auto, []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://h", "OTEL_METRICS_EXPORTER",
			"console,otlp"}, "http://h/v1/traces", "http://h/v1/metrics"},
		"grpc": {Auto, []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://h",
			"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"}, "", ""},
		"grpc for others": {Auto, []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://h",
			"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/json"},
			"http://h/v1/traces", ""},
		"grpc and an address": {"http://h", []string{"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"}, "http://h/v1/traces", ""},
		"disabled":            {"http://h", []string{"OTEL_SDK_DISABLED", "TRUE"}, "", ""},
		"no spans":            {"http://h", []string{"OTEL_TRACES_EXPORTER", "none"}, "", ""},
		"a bad endpoint":      {Auto, []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "h:4317"}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			o := otlpFrom(&Config{OTLP: c.flag, OTLPTimeout: time.Second}, &reader{lookup: variables(c.variables...)})
			var traces, metrics string
			if o != nil && o.traces != nil {
				traces = o.traces.String()
			}
			if o != nil && o.metrics != nil {
				metrics = o.metrics.String()
			}
			if traces != c.traces || metrics != c.metrics {
				t.Errorf("traces %q, metrics %q", traces, metrics)
			}
		})
	}
}

// TestBadCollectors: each costs one line that shows no secret, and no more time
// than the limit.
func TestBadCollectors(t *testing.T) {
	endless := func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			_, _ = fmt.Fprintln(w, strings.Repeat("x", 1<<10))
		}
	}
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   string // in the line, "" for none
	}{
		"busy": {func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, `{"message":"slow\ndown\u001b[31m"}`, http.StatusServiceUnavailable)
		}, "HTTP status 503: slow down"},
		"redirecting": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/", http.StatusTemporaryRedirect)
		}, "HTTP status 307"},
		"garbled": {func(w http.ResponseWriter, _ *http.Request) { hijack(w, "garbage\r\n\r\n") }, "malformed"},
		"endless headers": {func(w http.ResponseWriter, _ *http.Request) {
			hijack(w, "HTTP/1.1 200 OK\r\n"+strings.Repeat("A: "+strings.Repeat("b", 1000)+"\r\n", 200))
		}, "headers exceeded"},
		"endless": {endless, ""},
		"rejecting": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"partialSuccess":{"rejectedSpans":"2","errorMessage":"too old"}}`)
		}, "2 rejected: too old"},
		"rejecting points": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"partialSuccess":{"rejectedSpans":"0","rejectedDataPoints":1200000}}`)
		}, ": 1200000 rejected"},
		"rejecting none": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"partialSuccess":{"rejectedSpans":null,"rejectedDataPoints":0}}`)
		}, ""},
		"warning": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"partialSuccess":{"errorMessage":"careful"}}`)
		}, ""},
		"accepting": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(202) }, ""},
		"silent": {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
			"no answer within 500ms"},
		"closing the door": {func(w http.ResponseWriter, _ *http.Request) { hijack(w, "") }, "EOF"},
		"in plain text": {func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, strings.Repeat("a long line\n", 30)+"first cause\n\n\x1b[31mlast cause\n",
				http.StatusBadGateway)
		}, "a long line first cause [31mlast cause"},
		"in HTML": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			http.Error(w, "", http.StatusBadGateway)
		}, "HTTP status 502"},
		"switching": {func(w http.ResponseWriter, r *http.Request) {
			conn, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\n"+
					"Upgrade: x\r\n\r\n")
				_, _ = io.Copy(io.Discard, conn) // until the client closes it
				_ = conn.Close()
			}
		}, "HTTP status 101"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base, _ := collector(t, c.answer)
			limit := 5 * time.Minute
			if name == "silent" {
				limit = 500 * time.Millisecond
			}
			got := sent(Config{OTLP: strings.Replace(base, "://", "://u:secret@", 1) + "?key=secret",
				OTLPTimeout: limit}, recorded("a"))
			if c.want == "" && len(got) == 0 {
				return
			}
			if len(got) != 1 || !strings.Contains(got[0], c.want) || c.want == "" ||
				strings.Contains(got[0], "secret") || strings.ContainsAny(got[0], "\n\x1b") {
				t.Errorf("%q; want one with %q", got, c.want)
			}
		})
	}
}

// A file of certificates is read to a limit, and only if it is a regular file.
func TestCertificates(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, size int64) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("no certificate"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for path, want := range map[string]string{
		write("large", 1<<40): "has more than 8388608 bytes",
		write("other", 10):    "holds no PEM certificate",
		dir:                   "is not a regular file",
		os.DevNull:            "is not a regular file",
		dir + "/absent":       "no such file",
	} {
		got := sent(Config{OTLP: "https://127.0.0.1:1", Lookup: variables("OTEL_EXPORTER_OTLP_CERTIFICATE", path)},
			recorded("a"))
		if len(got) != 1 || !strings.Contains(got[0], want) && runtime.GOOS != "windows" {
			t.Errorf("%s: %q; want one with %q", path, got, want)
		}
	}
}

// FuzzAnswer gives an answer of a collector: what is said of it is one short line.
func FuzzAnswer(f *testing.F) {
	f.Add(503, "application/json", []byte(`{"message":"slow\ndown"}`))
	f.Add(200, "", []byte(`{"partialSuccess":{"rejectedSpans":"2","errorMessage":"x"}}`))
	f.Add(502, "text/plain; charset=utf-8", []byte("a\nb\r\n\x1b[31m\xff\n"))
	f.Add(101, "text/html", []byte("<html>"))
	f.Fuzz(func(t *testing.T, status int, kind string, body []byte) {
		err := judge("http://h", status, kind, body)
		if err == nil && status/100 != 2 {
			t.Error("no error")
		}
		if err != nil && (strings.ContainsAny(err.Error(), "\n\r\x1b\u202e") ||
			utf8.RuneCountInString(err.Error()) > 2*mostQuoted+100) {
			t.Errorf("%q", err)
		}
	})
}

// FuzzStatsDAddress: what is no address is an error that shows no password.
func FuzzStatsDAddress(f *testing.F) {
	for _, seed := range []string{"h:8125", "[::1]:8125", "unix:///run/s", "unix:/run/s", "u:S3CRET@h:1", "h:0", ":",
		"unix:"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := ParseStatsD(s)
		if (err == nil) != (got.address != "") || err == nil && got.network != "udp" && got.network != "unixgram" {
			t.Errorf("%q: %+v, %v", s, got, err)
		}
		if err == nil && got.network == "udp" {
			if _, port, e := net.SplitHostPort(got.address); e != nil || port == "" {
				t.Errorf("%q: %v", s, e)
			}
		}
	})
}

// FuzzVariables: whatever the variables of OpenTelemetry hold, what is read of them can be
// sent, warnings are lines, and no value of a header is shown.
func FuzzVariables(f *testing.F) {
	f.Add("http://h:4318/base?a=b#c", "a=b,c=%20d, e = f", "service.name=x,k=v", "grpc", "500")
	f.Add("h:4318", "=,x=%zz,a\nb=c,A=1,a=2", "=,%,k=%00", "", "-1")
	f.Add("https://u:p@[::1]:0", "authorization=Bearer%20x", "telemetry.sdk.name=x", "http/json", "99999999999")
	f.Fuzz(func(t *testing.T, endpoint, headers, resource, protocol, timeout string) {
		r := &reader{lookup: variables(
			"OTEL_EXPORTER_OTLP_ENDPOINT", endpoint, "OTEL_EXPORTER_OTLP_HEADERS", headers,
			"OTEL_RESOURCE_ATTRIBUTES", resource,
			"OTEL_EXPORTER_OTLP_PROTOCOL", protocol, "OTEL_EXPORTER_OTLP_TIMEOUT", timeout, "OTEL_METRICS_EXPORTER",
			"otlp",
		)}
		o := otlpFrom(&Config{OTLP: Auto, OTLPTimeout: time.Second}, r)
		for _, line := range slices.Concat(r.warnings, r.notes) {
			if strings.ContainsAny(line, "\n\r\x1b") || !utf8.ValidString(line) {
				t.Errorf("%q", line)
			}
		}
		if o == nil {
			return
		}
		if o.timeout <= 0 || o.timeout > time.Second {
			t.Errorf("a timeout of %v", o.timeout)
		}
		for _, to := range []*url.URL{o.traces, o.metrics} {
			if to == nil {
				continue
			}
			request, err := http.NewRequest(http.MethodPost, to.String(), http.NoBody)
			if err != nil {
				t.Fatalf("%q: %v", to, err)
			}
			for _, h := range o.headers {
				request.Header.Set(h.name, h.value)
			}
			if err := request.Write(io.Discard); err != nil {
				t.Errorf("%q %q: %v", to, o.headers, err)
			}
		}
	})
}

func hijack(w http.ResponseWriter, text string) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		_, _ = io.WriteString(conn, text)
		_ = conn.Close()
	}
}

func TestACancelledRunIsSilent(t *testing.T) {
	r := recorded("a")
	r.End.Outcome = event.Cancelled
	l, err := net.Listen("tcp", "127.0.0.1:0") // accepts and never answers
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	if got := sent(Config{OTLP: "http://" + l.Addr().String(), OTLPTimeout: time.Millisecond}, r); got != nil {
		t.Errorf("%q", got)
	}
}

// A call that has run into its limit is repeated, twice at most: the program may not have run
// meanwhile.
func TestInTime(t *testing.T) {
	ended, end := context.WithCancel(context.Background())
	end()
	late, refused := os.ErrDeadlineExceeded, errors.New("refused")
	for name, c := range map[string]struct {
		ctx    context.Context
		errs   []error // of the calls, one after the other
		called int
		want   error
	}{
		"at once":         {t.Context(), []error{nil}, 1, nil},
		"late once":       {t.Context(), []error{late, nil}, 2, nil},
		"late":            {t.Context(), []error{late, late, late, nil}, 3, late},
		"refused":         {t.Context(), []error{refused, nil}, 1, refused},
		"late, refused":   {t.Context(), []error{late, refused, nil}, 2, refused},
		"late at the end": {ended, []error{late, nil}, 1, late},
	} {
		called := 0
		err := inTime(c.ctx, func() error {
			called++
			return c.errs[called-1]
		})
		if called != c.called || err != c.want {
			t.Errorf("%s: %v after %d calls; want %v after %d", name, err, called, c.want, c.called)
		}
	}
}
