package queue

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"testing/quick"
	"time"

	"github.com/retrysh/retry/engine/rotate"
	"github.com/retrysh/retry/engine/text"
)

const (
	sampleRun = "1b4e28ba-2fa1-41d2-883f-0016d3cca427"
	sampleID  = "20261124T015407Z-1b4e28ba"
)

var failedAt = time.Date(2026, 11, 24, 1, 54, 7, 123e6, time.UTC)

// sample is a letter of a run that has failed twice.
func sample() *Letter {
	return &Letter{
		Version: Version, ID: NewID(failedAt, sampleRun), RunID: sampleRun, IdempotencyKey: sampleRun, Name: "import",
		Command: []Text{"sh", "-c", "exit 3"}, Cwd: "/srv", Umask: "0022", Policy: map[string][]Text{"attempts": {"2"}},
		Outcome: "exhausted", ExitCode: 3, Reason: "exit 3", Verdict: "unknown", Attempts: 2, MaxAttempts: 2,
		FirstFailedAt: text.Time{Time: failedAt}, LastFailedAt: text.Time{Time: failedAt.Add(time.Second)}, Count: 1,
		Env: map[string]Text{"PATH": "/bin"}, EnvNames: []Text{"HOME"}, Host: "h", User: "u",
	}
}

// parkedSample is one of a run that waits until a minute after it failed.
func parkedSample() *Letter {
	l := sample()
	due := text.Time{Time: failedAt.Add(time.Minute)}
	l.Outcome, l.DueAt, l.Schedule = "parked", &due, &Schedule{Step: 3, PreviousMs: 500, WaitMs: 59000}
	return l
}

func TestLetterKeepsEveryField(t *testing.T) {
	l := parkedSample()
	signal, rule := "SIGKILL", Text("--on-exit 3")
	l.Signal, l.Rule = &signal, &rule
	l.Command = append(l.Command, "bytes \xff\xfe", "two\nlines", "<&>\u2028", Text(strings.Repeat("x", 100<<10)))
	l.Cwd, l.IdempotencyKey = "/srv/\xe4", "\xf0key"
	l.Schedule.Rotation = map[string]rotate.Standing{"MIRROR": {Next: 1, Failures: []int{1, 0}}}
	data, err := l.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(l.ID, data)
	if err != nil || !reflect.DeepEqual(got, l) {
		t.Errorf("%+v, %v; want %+v", got, err, l)
	}
	for _, want := range []string{`"id": "20261124T015407Z-1b4e28ba"`, `"first_failed_at": "2026-11-24T01:54:07.123Z"`, `"base64": "L3Nydi/k"`, `"deadline_at": null`, `<&>`} {
		if !strings.Contains(string(data), want) {
			t.Errorf("%s is not in %s", want, data)
		}
	}
}

func TestTextComesBackAsItWas(t *testing.T) {
	same := func(s string) bool {
		data, err := json.Marshal(Text(s))
		var got Text
		return err == nil && json.Unmarshal(data, &got) == nil && string(got) == s
	}
	if err := quick.Check(func(b []byte) bool { return same(string(b)) }, nil); err != nil {
		t.Error(err)
	}
	if err := quick.Check(same, nil); err != nil {
		t.Error(err)
	}
}

func TestDecodeRefusesWhatCannotBeRun(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Letter)
		err    string
	}{
		"another version":      {func(l *Letter) { l.Version = 2 }, "version 2"},
		"another directory":    {func(l *Letter) { l.ID = "20261124T015407Z-00000000" }, "its id is"},
		"no command":           {func(l *Letter) { l.Command = nil }, "no command"},
		"an empty command":     {func(l *Letter) { l.Command = []Text{""} }, "no command"},
		"a NUL":                {func(l *Letter) { l.Command[1] = "a\x00b" }, "NUL"},
		"a relative directory": {func(l *Letter) { l.Cwd = "srv" }, "whole path"},
		"a bad umask":          {func(l *Letter) { l.Umask = "0999" }, "umask"},
		"a bad outcome":        {func(l *Letter) { l.Outcome = "succeeded" }, "outcome"},
		"negative attempts":    {func(l *Letter) { l.Attempts = -1 }, "at least 0"},
		"no time":              {func(l *Letter) { l.LastFailedAt = text.Time{} }, "when the run failed"},
		"no digest":            {func(l *Letter) { l.Stdin.Present = true }, "what its input is"},
		"a bad variable":       {func(l *Letter) { l.Env["A=B"] = "c" }, "not a variable"},
		"a bad run":            {func(l *Letter) { l.RunID = "../../x" }, "run_id"},
		"parked without a due": {func(l *Letter) { l.Outcome = "parked" }, "continues"},
		"parked without a run": {func(l *Letter) { *l = *parkedSample(); l.Attempts = 0 }, "continues"},
		"an endless wait":      {func(l *Letter) { *l = *parkedSample(); l.Schedule.WaitMs = 1 << 62 }, "continues"},
	} {
		t.Run(name, func(t *testing.T) {
			l := sample()
			c.change(l)
			data, err := l.Encode()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Decode(sampleID, data); err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%v; want %q", err, c.err)
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	for _, l := range []*Letter{sample(), parkedSample()} {
		data, _ := l.Encode()
		f.Add(data)
	}
	f.Add([]byte(`{"version":1,"command":[{"base64":"!"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := Decode(sampleID, data)
		if err != nil {
			return
		}
		again, err := l.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Decode(sampleID, again); err != nil {
			t.Errorf("%v of %s", err, again)
		}
	})
}

func TestDue(t *testing.T) {
	l := parkedSample()
	for after, want := range map[time.Duration]bool{time.Second: false, 59 * time.Second: false, time.Minute: true, time.Hour: true, -time.Hour: true} {
		if got := l.Due(failedAt.Add(after)); got != want {
			t.Errorf("due %v after the failure: %v", after, got)
		}
	}
	if sample().Due(failedAt.Add(time.Hour)) {
		t.Error("a run that gave up is due")
	}
}

func entries() []*Entry {
	var all []*Entry
	add := func(id, name, outcome string, redrives int, age time.Duration) {
		l := parkedSample()
		l.ID, l.Name, l.Redrives, l.FirstFailedAt = id, Text(name), redrives, text.Time{Time: failedAt.Add(-age)}
		if l.Outcome = outcome; outcome != "parked" {
			l.Schedule, l.DueAt = nil, nil
		}
		all = append(all, &Entry{ID: id, Letter: l})
	}
	add("20261124T015407Z-1b4e28ba", "import", "exhausted", 0, 0)
	add("20261124T015407Z-1b4e0000", "export", "parked", 0, time.Minute)
	add("20261124T015407Z-aaaaaaaa", "1b4f", "refused", 5, 0)
	add("20261124T015407Z-bbbbbbbb", "in[1]", "stopped", 4, time.Hour)
	return append(all, &Entry{ID: "20261124T015407Z-cccccccc", Problem: ErrGone})
}

func TestRedrivable(t *testing.T) {
	for _, c := range []struct {
		words, want, unmatched, err string
		after                       time.Duration
		limit                       int
	}{
		{words: "", after: time.Hour, want: "1b4e0000"},
		{words: "due", after: time.Second, want: ""},
		{words: "failed", after: time.Hour, want: "bbbbbbbb cccccccc 1b4e28ba"},
		{words: "failed", after: time.Hour, limit: -1, want: "bbbbbbbb cccccccc 1b4e28ba aaaaaaaa"},
		{words: "all", after: time.Hour, want: "bbbbbbbb 1b4e0000 cccccccc 1b4e28ba"},
		{words: "all", after: time.Second, want: "bbbbbbbb cccccccc 1b4e28ba"},
		{words: "1b4e0", after: time.Second, want: "1b4e0000"},
		{words: "aaaa", want: "aaaaaaaa"},
		{words: "*port", after: time.Second, want: "1b4e28ba"},
		{words: "in[1]", want: "bbbbbbbb"},
		{words: "1b4f", want: ""},
		{words: "20261124T015407Z-cccccccc unknown", want: "cccccccc", unmatched: "unknown"},
		{words: "1b4", unmatched: "1b4"},
		{words: "1b4e", err: `"1b4e" stands for several letters: 20261124T015407Z-1b4e28ba, 20261124T015407Z-1b4e0000`},
	} {
		limit := 5
		if c.limit < 0 {
			limit = 0
		}
		chosen, unmatched, err := Redrivable(entries(), strings.Fields(c.words), failedAt.Add(c.after), limit)
		if c.err != "" {
			if err == nil || err.Error() != c.err {
				t.Errorf("%q: %v; want %s", c.words, err, c.err)
			}
			continue
		}
		var ids []string
		for _, e := range chosen {
			ids = append(ids, e.ID[beforeDash+1:])
		}
		if got := strings.Join(ids, " "); err != nil || got != c.want || strings.Join(unmatched, " ") != c.unmatched {
			t.Errorf("%q: %q, %q, %v; want %q, %q", c.words, got, unmatched, err, c.want, c.unmatched)
		}
	}
}

func TestRate(t *testing.T) {
	for text, want := range map[string]time.Duration{"2/s": 500 * time.Millisecond, "30/m": 2 * time.Second, "0.5/h": 2 * time.Hour} {
		var got Rate
		if err := got.UnmarshalText([]byte(text)); err != nil || time.Duration(got) != want {
			t.Errorf("%q: %v, %v", text, time.Duration(got), err)
		}
	}
	for _, text := range []string{"", "2", "2/d", "0/s", "-1/s", "x/s", "NaN/s", "Inf/s", "1e-300/h"} {
		if new(Rate).UnmarshalText([]byte(text)) == nil {
			t.Errorf("%q is taken", text)
		}
	}
}
