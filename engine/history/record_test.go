package history

import (
	"encoding/json"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/event"
)

var start = time.Date(2026, 11, 24, 1, 54, 7, 123_000_000, time.UTC)

// full has every field.
func full() *Record {
	return &Record{
		Version: 1, Time: Moment{start}, RunID: "1b4e28ba", ParentRunID: "0", Depth: 2, Name: "näme\t\"x\"",
		Command: []string{"a b", "<&>", "\x7f", "\u2028"},
		Cwd:     "/tmp", Key: "k", Policy: "p", Outcome: "exhausted", ExitCode: 3, AttemptCount: 2, ElapsedMS: 12.345,
		WaitedMS: 1,
		Commit:   "c", CI: "github", Host: "h", UntilFailure: true, Repeat: true, Rehearsed: true, Redriven: true,
		Attempts: []Attempt{
			{ExitCode: 137, Signal: "SIGKILL", MS: 0.001, Verdict: "unknown", Rule: "r", Reason: "why",
				FP: "a SIGKILL", JitteredMS: new(2.0), SleptMS: new(3.5)},
			{ExitCode: 0, MS: 7, Success: true, TimedOut: true},
		},
	}
}

func TestEncodeIsJSONAndParsesBack(t *testing.T) {
	want := full()
	line := want.Encode()
	var fields map[string]any
	if err := json.Unmarshal(line, &fields); err != nil {
		t.Fatal(err)
	}
	if fields["name"] != want.Name || fields["time"] != "2026-11-24T01:54:07.123Z" || fields["exit_code"] != 3.0 {
		t.Errorf("%s", line)
	}
	var got, decoded Record
	if !Parse(line, &got) || !reflect.DeepEqual(&got, want) {
		t.Errorf("parsed back:\n%+v\nwant\n%+v", got, want)
	}
	if err := json.Unmarshal(line, &decoded); err != nil || !reflect.DeepEqual(&decoded, want) { // as others read it
		t.Errorf("decoded:\n%+v\nwant\n%+v, %v", decoded, want, err)
	}
}

func TestEncodeLeavesOutWhatDoesNotApply(t *testing.T) {
	r := Record{Version: 1, Time: Moment{start}, RunID: "i", Depth: 1, Name: "n", Outcome: "succeeded"}
	want := `{"v":1,"time":"2026-11-24T01:54:07.123Z","run_id":"i","depth":1,"name":"n","outcome":"succeeded",` +
		`"exit_code":0,"attempts":[],"attempt_count":0,"elapsed_ms":0,"waited_ms":0}` + "\n"
	if got := string(r.Encode()); got != want {
		t.Errorf("got  %swant %s", got, want)
	}
}

// A line has at most 64 KiB, whatever is large.
func TestEncodeCuts(t *testing.T) {
	long := func(unit string) string { return strings.Repeat(unit, 70_000/len(unit)) } // more than a line has
	for name, change := range map[string]func(*Record){
		"a word":        func(r *Record) { r.Command = []string{long("x")} },
		"many words":    func(r *Record) { r.Command = strings.Split(long("ab,"), ",") },
		"wide words":    func(r *Record) { r.Command = []string{long("ä€𝄞")} },
		"escapes":       func(r *Record) { r.Command, r.Cwd = []string{long("\x01")}, long("\x02") },
		"no UTF-8":      func(r *Record) { r.Name, r.Key, r.Host = long("\xff"), long("\xe2\x82"), long("\x80") },
		"many attempts": func(r *Record) { r.Attempts = make([]Attempt, 201) },
		"long reasons": func(r *Record) {
			r.Attempts = make([]Attempt, 100)
			for i := range r.Attempts {
				r.Attempts[i] = Attempt{Reason: strings.Repeat("\x03", 1000), FP: strings.Repeat("f", 700), Rule: "r",
					Verdict: "unknown"}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, before := full(), full()
			change(r)
			change(before)
			line := r.Encode()
			if !reflect.DeepEqual(r, before) {
				t.Error("the record itself is cut")
			}
			var got Record
			if len(line) >= 64<<10 || !Parse(line, &got) || !got.Cut || len(got.Attempts) > 100 {
				t.Errorf("%d bytes, cut %v, %d attempts", len(line), got.Cut, len(got.Attempts))
			}
			if strings.Contains(string(line), `\ufffd`) != (name == "no UTF-8") {
				t.Errorf("a character is cut in two: %q", line[:100])
			}
			if got.RunID != r.RunID || got.Outcome != r.Outcome {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestEncodeCutsNoMore: what just fits stays whole, and a text keeps what fits.
func TestEncodeCutsNoMore(t *testing.T) {
	sized := func(size int) *Record { // of a line with its newline
		r := &Record{Version: 1, Time: Moment{start}, RunID: "i", Outcome: "o"}
		r.Cwd = strings.Repeat("x", size-len(r.Encode())-len(`,"cwd":""`))
		return r
	}
	for size, cut := range map[int]bool{1000: false, longestLine - 1: false, longestLine: true} {
		line := sized(size).Encode()
		var got Record
		if !Parse(line, &got) || got.Cut != cut || !cut && len(line) != size {
			t.Errorf("%d bytes: cut %v, %d bytes", size, got.Cut, len(line))
		}
		if cut && len(got.Cwd) != longestLine/2 { // the first limit that fits
			t.Errorf("%d bytes of a text are left", len(got.Cwd))
		}
	}
	for n, want := range map[int]int{99: 99, 100: 100, 101: 100, 250: 100} {
		r := full()
		r.Attempts = nil
		for i := range n {
			r.Attempts = append(r.Attempts, Attempt{ExitCode: i})
		}
		var got Record
		if !Parse(r.Encode(), &got) || len(got.Attempts) != want || got.Cut != (n > want) {
			t.Fatalf("%d attempts: %d, cut %v", n, len(got.Attempts), got.Cut)
		}
		if got.Attempts[49].ExitCode != 49 || got.Attempts[50].ExitCode != 50+n-want ||
			got.Attempts[want-1].ExitCode != n-1 {
			t.Errorf("of %d attempts not the first and the last are kept: %+v", n, got.Attempts)
		}
		if len(r.Attempts) != n || r.Cut {
			t.Error("the record itself is cut")
		}
	}
	// The words of a command have four times as many bytes as one text, and the word that
	// reaches them.
	r := Record{Command: slices.Repeat([]string{strings.Repeat("w", 10)}, 9)}
	for limit, want := range map[int]int{10: 5, 9: 5, 100: 9, 1: 5} {
		if got := len(r.limited(limit).Command); got != want {
			t.Errorf("limit %d: %d words, not %d", limit, got, want)
		}
	}
}

func TestParseRefusesWhatIsNoRecord(t *testing.T) {
	for line, want := range map[string]bool{
		`{"v":1,"run_id":"i","outcome":"o"}`:                                         true,
		` { "v" : 1 , "run_id" : "i" , "outcome" : "o" , "x" : [ 1, {} ] } `:         true,
		`{"v":7,"run_id":"i","outcome":"o","attempts":"none","name":5,"new":[{}]}`:   true,
		`{"v":1,"run_id":"i","outcome":"o","attempts":[1,{"ms":"x"}],"time":"soon"}`: true,
		`{"v":1.0,"run_id":"i","outcome":"o"}`:                                       false,
		`{"v":0,"run_id":"i","outcome":"o"}`:                                         false,
		`{"v":-1,"run_id":"i","outcome":"o"}`:                                        false,
		`{"v":"1","run_id":"i","outcome":"o"}`:                                       false,
		`{"run_id":"i","outcome":"o"}`:                                               false,
		`{"v":1,"run_id":"","outcome":"o"}`:                                          false,
		`{"v":1,"run_id":"i"}`:                                                       false,
		`{"v":1,"run_id":"i","outcome":"o"`:                                          false,
		`{"v":1,"run_id":"i","outcome":"o"}}`:                                        false,
		`{"v":1,"run_id":"i","outcome":"o",}`:                                        false,
		`{"v":01,"run_id":"i","outcome":"o"}`:                                        false,
		"{\"v\":1,\"run_id\":\"i\n\",\"outcome\":\"o\"}":                             false,
		`[]`: false, ``: false, `null`: false,
		`{"v":1,"run_id":"i","outcome":"o","x":` + strings.Repeat("[", 1<<20) + `}`: false,
	} {
		if got := Parse([]byte(line), &Record{}); got != want {
			t.Errorf("%.80q: %v", line, got)
		}
	}
}

func TestNumber(t *testing.T) {
	number := func(text string) float64 {
		var r Record
		if !Parse([]byte(`{"v":1,"run_id":"i","outcome":"o","elapsed_ms":`+text+`}`), &r) {
			t.Errorf("%s is not read", text)
		}
		return r.ElapsedMS
	}
	for _, text := range []string{"0", "7", "1812.345", "0.001", "123456789012.345", "99999999999999.9", "1e3",
		"1.5E-3", "1e15"} {
		want, err := strconv.ParseFloat(text, 64)
		if got := number(text); err != nil || got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
	for text, want := range map[string]float64{"12345678901234567890": mostMillis, "1e999": 0, "-1": 0, `"1"`: 0} {
		if got := number(text); got != want {
			t.Errorf("%s is read as %v", text, got)
		}
	}
}

// FuzzParse: what is read is JSON, has no time that is out of bounds, and can be written and
// read again.
func FuzzParse(f *testing.F) {
	f.Add(full().Encode())
	f.Add([]byte(`{"v":1,"run_id":"\ud834\udd1e\ud834x","outcome":"\u00e9\/\b","command":["a"],"exit_code":1e2,` +
		`"waited_ms":1.5E-3}`))
	f.Add([]byte(`{"v":2e400,"run_id":"i","outcome":"o"}`))
	f.Add([]byte(`{"v":1,"run_id":"i","outcome":"o","attempts":[{"ms":1},{}]}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		var r, again Record
		if !Parse(line, &r) {
			return
		}
		if !json.Valid(line) {
			t.Fatalf("%q is taken for JSON", line)
		}
		used := *full()
		if Parse(line, &used); !slices.Equal(used.Encode(), r.Encode()) {
			t.Fatalf("%q read after another line is %+v, by itself %+v", line, used, r)
		}
		if r.ElapsedMS < 0 || math.IsNaN(r.ElapsedMS) || math.IsInf(r.ElapsedMS, 0) {
			t.Fatalf("%q: %v", line, r.ElapsedMS)
		}
		if !Parse(r.Encode(), &again) || r.RunID != again.RunID || r.Outcome != again.Outcome ||
			r.ExitCode != again.ExitCode {
			t.Fatalf("%q is read as %+v, and that as %+v", line, r, again)
		}
	})
}

func TestFingerprint(t *testing.T) {
	for line, want := range map[string]string{
		"": "curl 7",
		"curl: (7) Failed to connect to db.example.com port 5432 after 12 ms": "curl 7: " +
			"curl: (<n>) Failed to connect to <addr> port <n> after <n> ms",
		"dial tcp 10.0.0.7:443: connect: connection refused": "curl 7: " +
			"dial tcp <addr>: connect: connection refused",
		"dial tcp [2001:db8::1]:443: refused": "curl 7: dial tcp [<addr>]:<n>: refused",
		"GET https://api.test/v1/users?id=7: 503 Service Unavailable": "curl 7: " +
			"GET <addr>: <n> Service Unavailable",
		"error: unable to open /var/lib/app/data.db: locked":         "curl 7: error: unable to open <path>: locked",
		"src/main.go:12:7: undefined: x":                             "curl 7: <path>: undefined: x",
		"job 1b4e28ba-2fa1-11d2-883f-0016d3cca427 failed":            "curl 7: job <id> failed",
		"commit 9fceb02d0ae598e95dc970b74767f19372d61af8 is missing": "curl 7: commit <id> is missing",
		"pod/web-7d4b9c6f5-x2x9z: request req_01HZX3T9K2M4N5P6Q7 at 2026-11-24T01:54:07Z failed 3 times": "curl 7: " +
			"pod/<id>: request req_<id> at <n>-<n>-<n>T<n>:<n>:<n>Z failed <n> times",
		"container a1b2c3 exited, sha256sum and base64 did not": "curl 7: " +
			"container <id> exited, sha<n>sum and base<n> did not",
		"read/write of HTTP/1.1 broke.":                    "curl 7: read/write of HTTP/<n>.<n> broke.",
		"host web-3.internal: no route":                    "curl 7: host <addr>: no route",
		"\x1b[31mred\x1b[0m\tred":                          "curl 7: [<n>mred [<n>m red",
		"mail to user@example.com bounced":                 "curl 7: mail to <addr> bounced",
		"Error: ENOENT: no such file, open 'C:\\a\\b.txt'": "curl 7: Error: ENOENT: no such file, open '<path>'",
	} {
		if got := Fingerprint("curl", "7", line); got != want {
			t.Errorf("%q\ngot  %q\nwant %q", line, got, want)
		}
	}
	for fp, want := range map[string][2]string{
		"curl 7: a: b":                   {"curl", "a: b"},
		"curl 7":                         {"curl", ""},
		"a:_b 7: line":                   {"a:_b", "line"},
		"curl exit 7: x":                 {"curl", "x"},
		Fingerprint("my tool", "7", "x"): {"my_tool", "x"},
		" 7: x":                          {"", "x"},
	} {
		if tool, line := (&Attempt{ExitCode: 7, FP: fp}).toolAndLine(); tool != want[0] || line != want[1] {
			t.Errorf("%q: %q, %q", fp, tool, line)
		}
	}
	if got := Fingerprint("a", "1", strings.Repeat("word 7 ", 1000)); len(got) > longestFP+len("a 1: ") ||
		strings.HasSuffix(got, "<") {
		t.Errorf("%d bytes: %q", len(got), got)
	}
}

func TestRecorder(t *testing.T) {
	h := func(n int, at time.Duration) event.Header {
		return event.Header{Time: start.Add(at), Elapsed: at, Attempt: n, RunID: "i"}
	}
	finished := func(n int, at time.Duration, code int) *event.AttemptFinished {
		return &event.AttemptFinished{
			Header:    h(n, at),
			Result:    attempt.Result{ExitCode: code, Duration: time.Millisecond},
			Success:   code == 0,
			Judgement: event.Judgement{Verdict: event.Unknown, Reason: "exit", Line: "line 7"},
		}
	}
	r := &Recorder{Host: "h", Tool: func() string { return "tool" }}
	var run event.Run
	for _, ev := range []event.Event{
		&event.RunStarted{Header: h(0, 0), Name: "n", Depth: 1, Command: []string{"tool", "http://u:secret@h/"}},
		&event.AttemptStarted{Header: h(1, 0)}, finished(1, time.Millisecond, 3),
		&event.RetryScheduled{Header: h(1, time.Millisecond), Wait: event.Wait{Jittered: 5 * time.Millisecond}},
		&event.RetryWaited{Header: h(1, 7*time.Millisecond), Slept: 6 * time.Millisecond},
		&event.AttemptStarted{Header: h(2, 7*time.Millisecond)}, finished(2, 8*time.Millisecond, 0),
		&event.RetryScheduled{Header: h(2, 8*time.Millisecond), Wait: event.Wait{Jittered: time.Second}},
		&event.RunFinished{Header: h(2, 18*time.Millisecond), ExitCode: 130,
			Ending: event.Ending{Outcome: event.Cancelled}},
	} {
		run.Add(ev)
	}
	got := r.Record(&run)
	want := &Record{
		Version: 1, Time: Moment{start}, RunID: "i", Depth: 1, Name: "n",
		Command: []string{"tool", "http://u:xxxxx@h/"}, Outcome: "cancelled", ExitCode: 130, Host: "h",
		AttemptCount: 2, ElapsedMS: 18, WaitedMS: 16,
		Attempts: []Attempt{
			{ExitCode: 3, MS: 1, Verdict: "unknown", Reason: "exit", FP: "tool 3: line <n>", JitteredMS: new(5.0),
				SleptMS: new(6.0)},
			{MS: 1, Success: true, JitteredMS: new(1000.0), SleptMS: new(10.0)},
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// Of a hedged attempt the copy counts that ended last, and of an endless run the
// first and the last attempts.
func TestRecorderKeepsOneOfEachAttempt(t *testing.T) {
	r := &Recorder{Tool: func() string { return "t" }}
	var run event.Run
	run.Add(&event.RunStarted{Header: event.Header{RunID: "i"}})
	run.Add(&event.AttemptStarted{Header: event.Header{Attempt: 1}, Which: event.Which{Hedged: true}})
	run.Add(&event.AttemptFinished{Header: event.Header{Attempt: 1}, Which: event.Which{Hedged: true},
		Result: attempt.Result{ExitCode: 1}})
	run.Add(&event.AttemptFinished{Header: event.Header{Attempt: 1}, Which: event.Which{Hedged: true, Copy: 1},
		Success: true})
	for n := 2; n <= 1000; n++ {
		run.Add(&event.AttemptStarted{Header: event.Header{Attempt: n}})
		run.Add(&event.AttemptFinished{Header: event.Header{Attempt: n}, Result: attempt.Result{ExitCode: n % 256}})
	}
	run.Add(&event.RunFinished{Ending: event.Ending{Outcome: event.Exhausted}})
	got := r.Record(&run)
	var parsed Record
	line := got.Encode()
	if !Parse(line, &parsed) || parsed.AttemptCount != 1000 || len(parsed.Attempts) != 100 || !parsed.Cut {
		t.Fatalf("%d attempts of %d, cut %v", len(parsed.Attempts), parsed.AttemptCount, parsed.Cut)
	}
	if !parsed.Attempts[0].Success || parsed.Attempts[49].ExitCode != 50 || parsed.Attempts[50].ExitCode != 951%256 ||
		parsed.Attempts[99].ExitCode != 1000%256 {
		t.Errorf("%+v", parsed.Attempts)
	}
}

// TestWordsOfAFingerprint holds what of a word is masked: what differs between two failures of one
// kind is, what names the kind is not.
func TestWordsOfAFingerprint(t *testing.T) {
	for want, words := range map[string]string{
		"<addr>": "http://x://  a@b localhost:80 db-1:5432 db1:5432 example.com web.internal a.b.cc x.yz:80 " +
			"1.2.3.4 1.2.3.4:80 [::1]:80 ::1:80 fe80::a 2001:db8::1 a-1.example",
		"<path>": "/a ./ ~/ ./a ../a ~/a C:\\a C:/a a/b/c a/b.c \\\\host\\x a\\b.c src/x.y2",
		"<id>": "1234abc abc-1234 12abcd ab12cd 0x11 0x1 abcdefghi123 abc-def-ghi-123 " +
			"1b4e28ba-2fa1-11d2-883f-0016d3cca427 DEADBEEF1",
		"<n>":     "7 0 123456789012 007",
		"<n>-<n>": "1-2 12-34", "<n>.<n>.<n>": "1.2.3", "<n>.<n>.<n>.<n>.<n>": "1.2.3.4.5", "v<n>.<n>": "v1.2",
		"<n>:<n>:<n>": "12:34:56", "<n>.com": "3.com",
		"abcd<n>e": "abcd1e", "a<n>bcde": "a1bcde", "ghi<n>": "ghi1 ghi12", "defghijklm<n>": "defghijklm12",
		"xyzxyzxy<n>": "xyzxyzxy123", "<n>xff": "0xff",
		"k=<n>": "k=7", "k=<addr>": "k=http://h/", "k=v=<n>": "k=v=1", "<addr>.": "example.com.", "<n>!?:": "7!?:",
	} {
		for _, word := range strings.Fields(words) {
			if got := maskWord(word); got != want {
				t.Errorf("%s: %s, not %s", word, got, want)
			}
		}
	}
	for _, word := range strings.Fields("localhost db:x db: @b b@ ... a..com A.com a.b a.c main.go x.CO / " +
		"read/write a/.b abcdefg abcdef-abc a=b. :: [] file.txt HTTP/x é.com") {
		if got := maskWord(word); got != word {
			t.Errorf("%s: %s", word, got)
		}
	}
}

// TestLongLinesOfAFingerprint: a line is cut at a blank, and no character in two.
func TestLongLinesOfAFingerprint(t *testing.T) {
	for name, c := range map[string]struct{ line, want string }{
		"the longest":                  {strings.Repeat("x", longestFP), strings.Repeat("x", longestFP)},
		"one more":                     {strings.Repeat("x", longestFP+1), strings.Repeat("x", longestFP)},
		"a blank":                      {"word " + strings.Repeat("x", longestFP), "word"},
		"a blank at the end":           {strings.Repeat("x", longestFP-1) + " y", strings.Repeat("x", longestFP-1)},
		"a blank behind the end":       {strings.Repeat("x", longestFP) + " y", strings.Repeat("x", longestFP)},
		"a blank at the begin":         {" " + strings.Repeat("x", longestFP+5), strings.Repeat("x", longestFP)},
		"a wide character":             {strings.Repeat("x", longestFP-1) + "ä", strings.Repeat("x", longestFP-1)},
		"a wider one":                  {strings.Repeat("x", longestFP-3) + "𝄞", strings.Repeat("x", longestFP-3)},
		"what is not read is not seen": {strings.Repeat("1", 4*longestFP) + "!", maskNumber},
		"what is read is":              {strings.Repeat("1", 4*longestFP-1) + "!", maskNumber + "!"},
	} {
		if got := maskLine(c.line); got != c.want {
			t.Errorf("%s: %q (%d bytes), not %q", name, got, len(got), c.want)
		}
	}
}

// TestPatternsMatchTheirLines: the pattern of a fingerprint matches each line that has it.
func TestPatternsMatchTheirLines(t *testing.T) {
	for _, line := range []string{
		"curl: (7) Failed to connect to db.example.com port 5432 after 12 ms",
		"job 1b4e28ba-2fa1-11d2-883f-0016d3cca427 failed [a.b]",
		"open /var/lib/app/data.db: locked (1+1)?", "GET https://api.test/v1?id=7&b=xxxxx 503",
	} {
		pattern := "^" + patternFor(maskLine(line)) + "$"
		if !regexp.MustCompile(pattern).MatchString(line) {
			t.Errorf("%s does not match %s", pattern, line)
		}
	}
	for pattern, other := range map[string]string{patternFor("a <n> b"): "a x b", patternFor("<id>."): "a b",
		patternFor("to <addr>, x"): "to a, y, x", patternFor("key " + maskSecret): "key"} {
		if regexp.MustCompile("^" + pattern + "$").MatchString(other) {
			t.Errorf("%s matches %s", pattern, other)
		}
	}
}
