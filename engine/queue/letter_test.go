package queue

import (
	"encoding/json"
	"math"
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
	for _, want := range []string{`"id": "20261124T015407Z-1b4e28ba"`,
		`"first_failed_at": "2026-11-24T01:54:07.123Z"`, `"base64": "L3Nydi/k"`, `"deadline_at": null`, `<&>`} {
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

// TestDecodeRefusesWhatCannotBeRun: an error says what no run has written; the greatest and the
// least values that one can write are taken ("" for no error).
func TestDecodeRefusesWhatCannotBeRun(t *testing.T) {
	const where = "where the parked run continues"
	digest := strings.Repeat("0", 64)
	for name, c := range map[string]struct {
		change func(*Letter)
		err    string
	}{
		"another version": {func(l *Letter) { l.Version = 2 },
			"letter.json: version 2; this program reads version 1"},
		"no version":             {func(l *Letter) { l.Version = 0 }, "version 0"},
		"another directory":      {func(l *Letter) { l.ID = "20261124T015407Z-00000000" }, "its id is"},
		"no command":             {func(l *Letter) { l.Command = nil }, "no command"},
		"an empty command":       {func(l *Letter) { l.Command = []Text{""} }, "no command"},
		"a NUL":                  {func(l *Letter) { l.Command[1] = "a\x00b" }, "NUL"},
		"a NUL in the directory": {func(l *Letter) { l.Cwd += "\x00" }, "NUL"},
		"a NUL in the key":       {func(l *Letter) { l.IdempotencyKey += "\x00" }, "NUL"},
		"a relative directory":   {func(l *Letter) { l.Cwd = "srv" }, "whole path"},
		"a bad umask":            {func(l *Letter) { l.Umask = "0999" }, "umask"},
		"a umask of more bits":   {func(l *Letter) { l.Umask = "1000" }, "umask"},
		"every bit of a umask":   {func(l *Letter) { l.Umask = "0777" }, ""},
		"a bad outcome": {func(l *Letter) { l.Outcome = "succeeded" },
			`outcome "succeeded" is none of exhausted, stopped, deadline, refused, parked`},
		"no outcome":            {func(l *Letter) { l.Outcome = "" }, "outcome"},
		"negative attempts":     {func(l *Letter) { l.Attempts = -1 }, "at least 0"},
		"no attempts":           {func(l *Letter) { l.Attempts, l.Outcome = 0, "refused" }, ""},
		"the most attempts":     {func(l *Letter) { l.Attempts = math.MaxInt32 - 1 }, ""},
		"too many attempts":     {func(l *Letter) { l.Attempts = math.MaxInt32 }, "at least 0"},
		"negative redrives":     {func(l *Letter) { l.Redrives = -1 }, "at least 0"},
		"the most redrives":     {func(l *Letter) { l.Redrives = math.MaxInt32 - 1 }, ""},
		"too many redrives":     {func(l *Letter) { l.Redrives = math.MaxInt32 }, "at least 0"},
		"a negative count":      {func(l *Letter) { l.Count = -1 }, "at least 0"},
		"a count of 0":          {func(l *Letter) { l.Count = 0 }, ""},
		"no time":               {func(l *Letter) { l.LastFailedAt = text.Time{} }, "when the run failed"},
		"no first time":         {func(l *Letter) { l.FirstFailedAt = text.Time{} }, "when the run failed"},
		"no digest":             {func(l *Letter) { l.Stdin.Present = true }, "what its input is"},
		"a negative input":      {func(l *Letter) { l.Stdin = Stdin{true, -1, digest} }, "what its input is"},
		"an empty input":        {func(l *Letter) { l.Stdin = Stdin{true, 0, digest} }, ""},
		"a bad variable":        {func(l *Letter) { l.Env["A=B"] = "c" }, "not a variable"},
		"a variable of no name": {func(l *Letter) { l.Env[""] = "c" }, "not a variable"},
		"a NUL in a variable":   {func(l *Letter) { l.Env["A"] = "\x00" }, "not a variable"},
		"a NUL in its name":     {func(l *Letter) { l.Env["A\x00"] = "c" }, "not a variable"},
		"a bad run":             {func(l *Letter) { l.RunID = "../../x" }, "run_id"},
		"a run of few digits":   {func(l *Letter) { l.RunID = "1b4e28b" }, "run_id"},
		"a run of 8 digits":     {func(l *Letter) { l.RunID = "1b4e28ba" }, ""},
		"parked without a due":  {func(l *Letter) { l.Outcome = "parked" }, where},
		"parked without a time": {func(l *Letter) { *l = *parkedSample(); l.DueAt = nil }, where},
		"parked without a run":  {func(l *Letter) { *l = *parkedSample(); l.Attempts = 0 }, where},
		"parked after one run":  {func(l *Letter) { *l = *parkedSample(); l.Attempts = 1 }, ""},
		"parked in no schedule": {func(l *Letter) { *l = *parkedSample(); l.Schedule = nil }, where},
		"before the first wait": {func(l *Letter) { *l = *parkedSample(); l.Schedule.Step = 0 }, where},
		"the first wait":        {func(l *Letter) { *l = *parkedSample(); l.Schedule.Step = 1 }, ""},
		"the last wait":         {func(l *Letter) { *l = *parkedSample(); l.Schedule.Step = math.MaxInt32 - 1 }, ""},
		"after the last wait":   {func(l *Letter) { *l = *parkedSample(); l.Schedule.Step = math.MaxInt32 }, where},
		"waits of 0": {func(l *Letter) {
			*l = *parkedSample()
			l.Schedule.WaitMs, l.Schedule.PreviousMs = 0, 0
		}, ""},
		"a negative wait":        {func(l *Letter) { *l = *parkedSample(); l.Schedule.WaitMs = -1 }, where},
		"a negative wait before": {func(l *Letter) { *l = *parkedSample(); l.Schedule.PreviousMs = -1 }, where},
		"the longest wait": {func(l *Letter) {
			*l = *parkedSample()
			l.Schedule.WaitMs = math.MaxInt64 / 1_000_000
		}, ""},
		"an endless wait": {func(l *Letter) {
			*l = *parkedSample()
			l.Schedule.WaitMs = math.MaxInt64/1_000_000 + 1
		}, where},
		"an endless wait before": {func(l *Letter) {
			*l = *parkedSample()
			l.Schedule.PreviousMs = math.MaxInt64/1_000_000 + 1
		}, where},
		"bad, and not parked": {func(l *Letter) { l.Schedule = &Schedule{Step: -1} }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			l := sample()
			c.change(l)
			data, err := l.Encode()
			if err != nil {
				t.Fatal(err)
			}
			got, err := Decode(sampleID, data)
			if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("%v; want %q", err, c.err)
			}
			if got == nil || got.Name != l.Name {
				t.Errorf("what could be read is %+v", got)
			}
		})
	}
	for text, want := range map[string]string{
		`{"version": 2, "command": 5}`: "letter.json: version 2",
		`{"version": 1, "command": 5}`: "letter.json: json: cannot unmarshal number",
		`{"command": 5}`:               "letter.json: json: cannot unmarshal number",
		`{`:                            "letter.json: unexpected end of JSON input",
		`{"version": 1, "command": [{"base64": "?"}]}`:   "letter.json: illegal base64",
		`{"version": 1, "command": [["x"]], "name": "x"`: "letter.json: unexpected end",
	} {
		if _, err := Decode(sampleID, []byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestIDs: what is named by a time, a dash and eight digits is a letter, nothing else.
func TestIDs(t *testing.T) {
	if got := NewID(failedAt.In(time.FixedZone("", 3600)), sampleRun); got != sampleID {
		t.Errorf("%s", got)
	}
	if got := NewID(failedAt, "1b4e"); got != "20261124T015407Z-1b4e" {
		t.Errorf("of a short id: %s", got)
	}
	for name, want := range map[string]bool{
		sampleID: true, "20261124T015407Z-0123456f": true, "20261124T015407Z-1b4e28bg": false,
		"20261124T015407Z-gb4e28ba": false, "20261124T015407Z-1B4E28BA": false,
		"20261124T015407Z_1b4e28ba": false, "20261324T015407Z-1b4e28ba": false, "20261124T015407Z-1b4e28b": false,
		"20261124T015407Z-1b4e28ba0": false,
		"":                           false, ".lock": false, "-1b4e28ba": false,
	} {
		if got := isID(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}

func TestTexts(t *testing.T) {
	words := []string{"a", "", "\xff"}
	if got := Texts(words); !reflect.DeepEqual(got, []Text{"a", "", "\xff"}) ||
		!reflect.DeepEqual(Strings(got), words) {
		t.Errorf("%q", got)
	}
}

func TestStatus(t *testing.T) {
	for _, c := range []struct {
		outcome         string
		redrives, limit int
		want            string
	}{
		{"exhausted", 0, 0, "failed"}, {"exhausted", 4, 5, "failed"}, {"exhausted", 5, 5, "poison"},
		{"exhausted", 6, 5, "poison"},
		{"exhausted", 99, 0, "failed"}, {"exhausted", 0, 1, "failed"}, {"exhausted", 1, 1, "poison"},
		{"parked", 0, 5, "parked"}, {"parked", 5, 5, "poison"}, {"refused", 0, 5, "failed"},
	} {
		l := &Letter{Outcome: c.outcome, Redrives: c.redrives}
		if got := l.Status(c.limit); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
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
	for after, want := range map[time.Duration]bool{time.Second: false, 59 * time.Second: false, time.Minute: true,
		time.Hour: true, -time.Hour: true} {
		if got := l.Due(failedAt.Add(after)); got != want {
			t.Errorf("due %v after the failure: %v", after, got)
		}
	}
	if sample().Due(failedAt.Add(time.Hour)) {
		t.Error("a run that gave up is due")
	}
	gaveUp := parkedSample()
	gaveUp.Outcome = "exhausted"
	if gaveUp.Due(failedAt.Add(time.Hour)) {
		t.Error("a run that gave up is due at the time for which it was parked")
	}
	if l.DueAt = nil; l.Due(failedAt.Add(time.Hour)) {
		t.Error("a run is due at no time")
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
		{words: "bbb", unmatched: "bbb"},
		{words: "bbbb", want: "bbbbbbbb"},
		{words: "20261124T015407Z-aaaaaaaa", want: "aaaaaaaa"},
		{words: "20261124T015407Z", unmatched: "20261124T015407Z"},
		{words: "import 1b4e28 import *port", after: time.Hour, want: "1b4e0000 1b4e28ba"},
		{words: "none failed other", after: time.Hour, want: "bbbbbbbb cccccccc 1b4e28ba", unmatched: "none other"},
		{words: "[", unmatched: "["},
		{words: "export", after: time.Second, want: ""},
		{words: "export", after: time.Minute, want: "1b4e0000"},
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
	for text, want := range map[string]time.Duration{"2/s": 500 * time.Millisecond, "30/m": 2 * time.Second,
		"0.5/h": 2 * time.Hour, "1e9/s": 1, "0.0001/h": 10000 * time.Hour, "1.5/s": 666666666} {
		var got Rate
		if err := got.UnmarshalText([]byte(text)); err != nil || time.Duration(got) != want {
			t.Errorf("%q: %v, %v", text, time.Duration(got), err)
		}
	}
	for _, text := range []string{"", "2", "2/d", "0/s", "-1/s", "x/s", "NaN/s", "Inf/s", "1e-300/h", "1000000001/s",
		"0.00009999/h", "2/s/s", "/s"} {
		if new(Rate).UnmarshalText([]byte(text)) == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

// TestOlder orders letters by the time of their first failure, or that of the id if none can be
// read, and then by their ids.
func TestOlder(t *testing.T) {
	entry := func(digits string, failed time.Time, readable bool) *Entry {
		e := &Entry{ID: NewID(failedAt, digits)}
		if readable {
			e.Letter = &Letter{FirstFailedAt: text.Time{Time: failed},
				LastFailedAt: text.Time{Time: failed.Add(time.Hour)}}
		}
		return e
	}
	second := failedAt.Truncate(time.Second)
	sorted := []*Entry{
		entry("44444444", second.Add(-time.Hour), true), entry("11111111", second, true),
		entry("22222222", time.Time{}, false),
		entry("33333333", time.Time{}, true), entry("00000000", second.Add(time.Nanosecond), true),
	}
	for i, a := range sorted {
		for j, b := range sorted {
			if got := Older(a, b); got < 0 != (i < j) || got > 0 != (i > j) {
				t.Errorf("%s to %s: %d", a.ID, b.ID, got)
			}
		}
	}
	for i, want := range []time.Time{second, second.Add(time.Hour), second} {
		if got := sorted[i].Last(); !got.Equal(want) {
			t.Errorf("%s failed last at %v, not %v", sorted[i].ID, got, want)
		}
	}
}

// TestSelect: without a function that chooses, a word of sets takes all.
func TestSelect(t *testing.T) {
	all := entries()
	chosen, unmatched, err := Select(all, []string{"x", "every", "1b4e28"}, []string{"every"}, nil)
	if err != nil || !reflect.DeepEqual(chosen, all) || !reflect.DeepEqual(unmatched, []string{"x"}) {
		t.Errorf("%d letters, %q, %v", len(chosen), unmatched, err)
	}
	for i, e := range all {
		if e.ByID != (i == 0) {
			t.Errorf("%s: by its id: %v", e.ID, e.ByID)
		}
	}
	if chosen, unmatched, err = Select(all, []string{"x", "1b4e"}, nil, nil); err == nil || chosen != nil ||
		len(unmatched) != 1 {
		t.Errorf("%d letters, %q, %v", len(chosen), unmatched, err)
	}
}
