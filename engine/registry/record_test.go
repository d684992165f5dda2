package registry

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/event"
)

const sampleID = "1b4e28ba-2fa1-41d2-883f-0016d3cca427"

var start = time.Date(2026, 11, 24, 1, 54, 7, 250_000_000, time.UTC)

// at is what an event has so many seconds after the start, in an attempt.
func at(seconds, attempt int) event.Header {
	return event.Header{Time: start.Add(time.Duration(seconds) * time.Second), RunID: sampleID, Attempt: attempt,
		MaxAttempts: 5}
}

// emit has the run and its record take note of an event.
func emit(r *Record, e event.Event) {
	r.Run.Add(e)
	r.Emit(e)
}

// newRecord is a record below a directory of the test.
func newRecord(t testing.TB, named bool) *Record {
	dir := filepath.Join(t.TempDir(), "run")
	return &Record{
		Run: &event.Run{}, Named: named, Places: func() []Place { return []Place{{Path: dir, parents: true}} },
		Detail: func(line string) { t.Error(line) },
	}
}

func started() *event.RunStarted {
	return &event.RunStarted{Header: at(0, 0), Command: []string{"deploy", "--token", "abc", "a b"}, Name: "deploy",
		Depth: 1, Policy: "net", Deadline: start.Add(time.Hour)}
}

func failure(seconds, n int, reason string) *event.AttemptFinished {
	return &event.AttemptFinished{Header: at(seconds, n), Result: attempt.Result{ExitCode: 7},
		Judgement: event.Judgement{Verdict: event.Transient, Reason: reason, Rule: "net-reset"}}
}

// shown reads the record as others do, as JSON without what differs from machine to
// machine; "" if there is none.
func shown(t *testing.T, r *Record) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(r.Places()[0].Path, "*"))
	if err != nil || len(files) == 0 {
		return ""
	}
	raw, err := os.ReadFile(files[0])
	var run Run
	if err != nil || len(files) != 1 || filepath.Base(files[0]) != sampleID+recordEnd || !decode(raw, &run) {
		t.Fatalf("%v: %v", files, err)
	}
	if host, _ := os.Hostname(); run.PID != os.Getpid() || run.Host != host || run.Cwd == "" {
		t.Errorf("pid %d, host %q, directory %q", run.PID, run.Host, run.Cwd)
	}
	run.PID, run.Host, run.Cwd = 1, "h", "/"
	text, err := json.Marshal(run)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestRecord emits the events of a run, one after the other.
func TestRecord(t *testing.T) {
	const (
		head = `{"run_id":"1b4e28ba-2fa1-41d2-883f-0016d3cca427","name":"deploy","pid":1,"command":["deploy",` +
			`"--token","xxxxx","a b"],"cwd":"/","status":`
		mid  = `"max_attempts":5,"started_at":"2026-11-24T01:54:07.250Z","deadline_at":"2026-11-24T02:54:07.250Z",`
		tail = `"key":"","policy":"net","depth":1,"host":"h"}`
		none = `"next_attempt_at":null,"next_delay_ms":null,`
		ok   = `"last_exit":null,"last_reason":null,"verdict":null,"rule":null,`
		bad  = `"last_exit":7,"last_reason":"exit 7: password=xxxxx","verdict":"transient","rule":"net-reset",`
		one  = `{"attempt":1,"started_at":"2026-11-24T01:54:10.250Z","ended_at":"2026-11-24T01:54:12.250Z",` +
			`"exit_code":7,"reason":"exit 7: password=xxxxx"}`
	)
	r := newRecord(t, true)
	r.Targets = 2
	for i, step := range []struct {
		event event.Event
		want  string
	}{
		{started(), head + `"pending","attempt":0,` + mid + none + ok + `"attempts":[],` + tail},
		{&event.TargetReady{Header: at(1, 0)},
			head + `"pending","attempt":0,` + mid + none + ok + `"attempts":[],` + tail},
		{&event.TargetReady{Header: at(1, 0)},
			head + `"waiting","attempt":0,` + mid + none + ok + `"attempts":[],` + tail},
		{&event.InitialWait{Header: at(2, 0), Wait: 1500 * time.Microsecond},
			head + `"waiting","attempt":0,` + mid +
				`"next_attempt_at":"2026-11-24T01:54:09.251Z","next_delay_ms":1.5,` + ok + `"attempts":[],` + tail},
		{&event.InitialWaited{Header: at(3, 0)},
			head + `"waiting","attempt":0,` + mid +
				`"next_attempt_at":"2026-11-24T01:54:09.251Z","next_delay_ms":1.5,` + ok + `"attempts":[],` + tail},
		{&event.Blocking{}, head + `"waiting","attempt":0,` + mid + none + ok + `"attempts":[],` + tail},
		{&event.AttemptStarted{Header: at(3, 1)},
			head + `"running","attempt":1,` + mid + none + ok +
				`"attempts":[{"attempt":1,"started_at":"2026-11-24T01:54:10.250Z"}],` + tail},
		{failure(5, 1, "exit 7: password=hunter2"),
			head + `"running","attempt":1,` + mid + none + ok +
				`"attempts":[{"attempt":1,"started_at":"2026-11-24T01:54:10.250Z"}],` + tail},
		{&event.Blocking{}, head + `"running","attempt":1,` + mid + none + bad + `"attempts":[` + one + `],` + tail},
		{&event.RetryScheduled{Header: at(5, 1), Wait: event.Wait{Jittered: time.Minute}},
			head + `"waiting","attempt":1,` + mid +
				`"next_attempt_at":"2026-11-24T01:55:12.250Z","next_delay_ms":60000,` + bad + `"attempts":[` + one +
				`],` + tail},
		{&event.RetryWaited{Header: at(65, 1)},
			head + `"waiting","attempt":1,` + mid +
				`"next_attempt_at":"2026-11-24T01:55:12.250Z","next_delay_ms":60000,` + bad + `"attempts":[` + one +
				`],` + tail},
		{&event.Blocking{}, head + `"waiting","attempt":1,` + mid + none + bad + `"attempts":[` + one + `],` + tail},
		{&event.AttemptStarted{Header: at(70, 2)},
			head + `"running","attempt":2,` + mid + none + bad + `"attempts":[` + one +
				`,{"attempt":2,"started_at":"2026-11-24T01:55:17.250Z"}],` + tail},
		{&event.AttemptFinished{Header: at(71, 2), Success: true},
			head + `"running","attempt":2,` + mid + none + bad + `"attempts":[` + one +
				`,{"attempt":2,"started_at":"2026-11-24T01:55:17.250Z"}],` + tail},
		{&event.Blocking{}, head + `"running","attempt":2,` + mid + none + bad + `"attempts":[` + one +
			`,{"attempt":2,"started_at":"2026-11-24T01:55:17.250Z","ended_at":"2026-11-24T01:55:18.250Z",` +
			`"exit_code":0,"reason":""}],` + tail},
		{&event.RunFinished{Header: at(71, 2)}, ""},
	} {
		emit(r, step.event)
		if got := shown(t, r); got != step.want {
			t.Errorf("step %d: %T\n%s; want\n%s", i, step.event, got, step.want)
		}
	}
}

// TestFirstRetryRegisters: a run without a name touches nothing before.
func TestFirstRetryRegisters(t *testing.T) {
	r := newRecord(t, false)
	for _, e := range []event.Event{started(), &event.AttemptStarted{Header: at(0, 1)}, failure(1, 1, "exit 7")} {
		emit(r, e)
	}
	if _, err := os.Stat(r.Places()[0].Path); !os.IsNotExist(err) {
		t.Fatalf("the directory: %v", err)
	}
	emit(r, &event.RetryScheduled{Header: at(1, 1)})
	if got := shown(t, r); !strings.Contains(got, `"attempts":[{"attempt":1,`) ||
		!strings.Contains(got, `"status":"waiting"`) {
		t.Errorf("%s", got)
	}
}

// TestHedgedAttempt is one attempt, which runs until its copies have ended.
func TestHedgedAttempt(t *testing.T) {
	r := newRecord(t, true)
	emit(r, started())
	copies := event.Which{Hedged: true}
	emit(r, &event.AttemptStarted{Header: at(0, 1), Which: copies})
	emit(r, &event.AttemptStarted{Header: at(1, 1), Which: event.Which{Hedged: true, Copy: 1}})
	failed := failure(2, 1, "exit 7")
	failed.Which = copies
	emit(r, failed)
	if got := shown(t, r); !strings.Contains(got,
		`"attempts":[{"attempt":1,"started_at":"2026-11-24T01:54:07.250Z"}]`) {
		t.Errorf("while a copy runs: %s", got)
	}
	emit(r, &event.RetryScheduled{Header: at(2, 1)})
	if got := shown(t, r); !strings.Contains(got, `"ended_at":"2026-11-24T01:54:09.250Z","exit_code":7`) {
		t.Errorf("behind it: %s", got)
	}
}

// TestManyAttempts keeps the last ones, and as many as fit with their reasons.
func TestManyAttempts(t *testing.T) {
	for name, c := range map[string]struct {
		reason string
		most   int
	}{
		"short":              {"exit 7", mostAttempts},
		"long":               {strings.Repeat("ä", 1000), mostAttempts},
		"control characters": {strings.Repeat("\x01", 1000), mostAttempts - 1},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRecord(t, true)
			emit(r, started())
			for n := 1; n <= 40; n++ {
				emit(r, &event.AttemptStarted{Header: at(n, n)})
				emit(r, failure(n, n, c.reason))
			}
			emit(r, &event.Blocking{})
			var run Run
			if err := json.Unmarshal([]byte(shown(t, r)), &run); err != nil {
				t.Fatal(err)
			}
			if n := len(run.Attempts); n > c.most || n < 4 || c.most == mostAttempts && n != c.most ||
				run.Attempts[n-1].Attempt != 40 {
				t.Errorf("%d attempts, the last %d", n, run.Attempts[n-1].Attempt)
			}
		})
	}
}

// TestNoPlace: a run that cannot be registered says so once, and tries again.
func TestNoPlace(t *testing.T) {
	var notes []string
	file := filepath.Join(t.TempDir(), "file")
	place := []Place{{Path: filepath.Join(file, "run"), parents: true}}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r := &Record{Run: &event.Run{}, Named: true, Places: func() []Place { return place },
		Detail: func(line string) { notes = append(notes, line) }}
	emit(r, started())
	emit(r, &event.AttemptStarted{Header: at(0, 1)})
	if len(notes) != 1 || !strings.Contains(notes[0], file) {
		t.Errorf("%q", notes)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	emit(r, failure(1, 1, "exit 7"))
	emit(r, &event.Blocking{})
	if got := shown(t, r); !strings.Contains(got, `"last_exit":7`) {
		t.Errorf("%s", got)
	}
	emit(r, &event.RunFinished{})
}

// FuzzDecode reads anything without a panic.
func FuzzDecode(f *testing.F) {
	f.Add([]byte("retry r1"), []byte("{}"))
	f.Fuzz(func(_ *testing.T, slots, rest []byte) {
		raw := make([]byte, 2*slotSize)
		copy(raw, slots)
		decode(append(raw, rest...), new(Run))
		decode(slots, new(Run))
	})
}

func TestIsRunID(t *testing.T) {
	for id, want := range map[string]bool{
		sampleID: true, strings.ToUpper(sampleID): false, sampleID[1:]: false, sampleID + "0": false, "": false,
		strings.ReplaceAll(sampleID, "-", "0"): false, strings.Replace(sampleID, "1", "-", 1): false,
		strings.Replace(sampleID, "1", "/", 1): false,
	} {
		if isRunID(id) != want {
			t.Errorf("isRunID(%q) is %v", id, !want)
		}
	}
}

// BenchmarkRegister is a registration and its removal.
func BenchmarkRegister(b *testing.B) {
	dir := b.TempDir()
	for b.Loop() {
		r := &Record{Run: &event.Run{}, Named: true, Places: func() []Place { return []Place{{Path: dir}} }}
		emit(r, started())
		emit(r, &event.RunFinished{})
		r.file.Close()
	}
}

// BenchmarkChange is a change of a record with 32 attempts.
func BenchmarkChange(b *testing.B) {
	r := newRecord(b, true)
	emit(r, started())
	for n := range 40 {
		emit(r, &event.AttemptStarted{Header: at(n, n)})
		emit(r, failure(n, n, "exit 7"))
	}
	for b.Loop() {
		emit(r, &event.RetryScheduled{Header: at(65, 1)})
	}
}
