package sink

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/event"
)

// at is e as it belongs to attempt n.
func at(n int, e event.Event) event.Event {
	e.Head().Attempt = n
	return e
}

// emit has the record of the run and the sink take note of an event.
func emit(s interface {
	Emit(event.Event)
	record() *event.Run
}, e event.Event) {
	s.record().Add(e)
	s.Emit(e)
}

func (s *ci) record() *event.Run { return s.narrator.Run }

// run is a run of three attempts in which every text that comes from outside
// is hostile.
func run(hostile string) []event.Event {
	events := []event.Event{
		&event.RunStarted{Command: []string{"sh", hostile, ""}},
		&event.TargetPending{Target: event.Target{Name: hostile, Reason: hostile}},
		&event.TargetsPending{Pending: []event.Target{{Name: hostile, Gone: true}, {Name: hostile}}, Beat: true},
		&event.TargetReady{Target: event.Target{Name: hostile}},
		&event.TargetFailed{Target: event.Target{Name: hostile, Reason: hostile}},
	}
	for n := 1; n <= 3; n++ {
		events = append(events, at(n, &event.AttemptStarted{}),
			at(n, &event.AttemptFinished{Result: attempt.Result{ExitCode: 7, Duration: 1500 * time.Millisecond},
				Judgement: event.Judgement{Reason: hostile, Rule: hostile}}),
			at(n, &event.RetryScheduled{Wait: event.Wait{Jittered: 20 * time.Millisecond}}))
	}
	events = append(events, &event.RunFinished{Header: event.Header{Elapsed: 5 * time.Second},
		Command: []string{hostile}, Attempts: 3, ExitCode: 7,
		Ending: event.Ending{Outcome: event.Exhausted, Advice: hostile,
			Judgement: event.Judgement{Reason: hostile, Rule: hostile}}})
	for _, e := range events {
		h := e.Head()
		h.MaxAttempts, h.RunID, h.Time = 3, "18ee0bc9-0000-4000-8000-000000000000", time.Unix(1795222483, 0)
	}
	return events
}

// hostile are texts that a runner would obey if they stood in a line as they
// are.
var hostile = []string{
	"exit 7",
	"x\n::error::injected",
	"x\r::stop-commands::token",
	"x\r\n  ::add-mask::secret\r\n",
	"##[set-output name=a]b",
	"####[error]x",
	"a # ##[error]x",
	"##vso[task.setvariable variable=a]b",
	"::set-env name=PATH::/tmp",
	"100%25 50%0A::error::x %3A",
	"title=a,b:c::warning::d",
	"\x1b[0Ksection_end:1:retry_18ee0bc9_1\r\x1b[0K",
	"section_start:1:x",
	"section_section_start:1:x\u2028::error::x\u0085::error::x",
	"| a | [x](http://evil) <img src=x> `code` **b** |\n| - |",
	"\xff\xfe::error::x",
	strings.Repeat("#", 400) + "[error]",
	strings.Repeat("long ", 300),
}

// workflowCommand reads a line as the runner does: first a command at its
// start, blanks apart, then the old form anywhere (actions/runner,
// ActionCommand.TryParseV2 and TryParse).
func workflowCommand(line string) (name, title, data string) {
	if trimmed := strings.TrimSpace(line); strings.HasPrefix(trimmed, "::") {
		if info, rest, ok := strings.Cut(trimmed[2:], "::"); ok {
			name, properties, _ := strings.Cut(info, " ")
			for property := range strings.SplitSeq(properties, ",") {
				if key, value, _ := strings.Cut(property, "="); key == "title" {
					title = strings.NewReplacer("%3A", ":", "%2C", ",", "%0D", "\r", "%0A", "\n", "%25",
						"%").Replace(value)
				} else if key != "" {
					return "unexpected property " + key, "", ""
				}
			}
			return name, title, strings.NewReplacer("%0D", "\r", "%0A", "\n", "%25", "%").Replace(rest)
		}
	}
	if at := strings.Index(line, "##["); at >= 0 && strings.Contains(line[at:], "]") {
		return "old form " + line[at:], "", ""
	}
	return "", "", ""
}

// readerLines splits as the runner's reader does: at \n, \r and \r\n.
func readerLines(text string) []string {
	return strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text), "\n")
}

// checkGitHub runs a hostile text through the sink and looks at the log and
// the files as the runner does.
func checkGitHub(t *testing.T, text string) {
	var log, table, output bytes.Buffer
	s := NewGitHub(&log, CIOptions{}, GitHubFiles{Summary: &table, Output: &output}, new(event.Run))
	for _, e := range run(text) {
		emit(s, e)
	}
	s.Warn(text)
	var names []string
	for _, line := range readerLines(log.String()) {
		name, title, data := workflowCommand(line)
		if name == "" {
			continue
		}
		names = append(names, name)
		if name != "endgroup" && !strings.HasPrefix(title+data, "retry") {
			t.Errorf("%q: title %q, data %q", line, title, data)
		}
	}
	want := "warning group endgroup warning group endgroup warning group endgroup warning error warning"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("with %q the runner obeys %s; want %s", text, got, want)
	}
	if lines := strings.Split(output.String(), "\n"); len(lines) != 6 ||
		!strings.HasPrefix(output.String(), "attempts=3\noutcome=exhausted\nexit_code=7\ntimed_out=false\nreason=") ||
		utf8.RuneCountInString(lines[4]) > len("reason=")+300 {
		t.Errorf("outputs %q", output.String())
	}
	if rows := strings.Count(table.String(), "\n|"); rows != 5 {
		t.Errorf("with %q the table has %d lines:\n%s", text, rows, table.String())
	}
	for line := range strings.Lines(table.String()) {
		line = strings.NewReplacer("**retry**", "", "| ", "", " |", "", "---:", "", "---", "").Replace(line)
		if strings.ContainsAny(strings.TrimPrefix(line, " "), "[]()<>`*|_\\!") {
			t.Errorf("with %q the table has markup: %s", text, line)
		}
	}
}

func TestGitHubHasNoOtherCommands(t *testing.T) {
	for _, text := range hostile {
		checkGitHub(t, text)
	}
}

func FuzzGitHubHasNoOtherCommands(f *testing.F) {
	for _, text := range hostile {
		f.Add(text)
	}
	f.Fuzz(checkGitHub)
}

// checkGitLab looks for sections as GitLab does: "section_", anywhere in the
// bytes.
func checkGitLab(t *testing.T, text string) {
	var log bytes.Buffer
	s := NewGitLab(&log, CIOptions{}, new(event.Run))
	for _, e := range run(text) {
		emit(s, e)
	}
	s.Warn(text)
	ours := strings.Count(log.String(), "\x1b[0Ksection_start:1795222483:retry_18ee0bc9_") +
		strings.Count(log.String(), "\x1b[0Ksection_end:1795222483:retry_18ee0bc9_")
	if all := strings.Count(log.String(), "section_"); ours != 6 || all != 6 {
		t.Errorf("with %q there are %d markers, %d of them ours; want 6", text, all, ours)
	}
	if cr, esc := strings.Count(log.String(), "\r"), strings.Count(log.String(), "\x1b"); cr != 6 || esc != 6*2+6*2 {
		t.Errorf("with %q there are %d carriage returns and %d escapes", text, cr, esc)
	}
}

func TestGitLabHasNoOtherMarkers(t *testing.T) {
	for _, text := range hostile {
		checkGitLab(t, text)
	}
}

func FuzzGitLabHasNoOtherMarkers(f *testing.F) {
	for _, text := range hostile {
		f.Add(text)
	}
	f.Fuzz(checkGitLab)
}

// TestJSONHoldsNoCommand: the texts stay what they are, and no line has the
// runner's old form.
func TestJSONHoldsNoCommand(t *testing.T) {
	for _, text := range hostile {
		var log bytes.Buffer
		s := NewJSON(&log)
		for _, e := range run(text) {
			s.Emit(e)
		}
		for line := range strings.Lines(log.String()) {
			var o object
			if err := json.Unmarshal([]byte(line), &o); err != nil {
				t.Fatalf("%v: %s", err, line)
			}
			if o.Event == "run_finished" && utf8.ValidString(text) && o.Reason != text {
				t.Errorf("the reason became %q, it was %q", o.Reason, text)
			}
			if name, _, _ := workflowCommand(line); name != "" {
				t.Errorf("%s is a command: %s", name, line)
			}
		}
	}
}

func TestGitHubShowsARun(t *testing.T) {
	var log, table bytes.Buffer
	s := NewGitHub(&log, CIOptions{}, GitHubFiles{Summary: &table}, new(event.Run))
	for _, e := range []event.Event{
		&event.RunStarted{Command: []string{"deploy", "-x"}},
		at(1, &event.AttemptStarted{}),
		at(1, &event.AttemptFinished{Result: attempt.Result{Duration: 65 * time.Second},
			Judgement: event.Judgement{Reason: "exit 75: 50% done", Rule: "on-exit", ByRule: true}}),
		at(1, &event.RetryScheduled{Wait: event.Wait{Jittered: 1234 * time.Millisecond}}),
		at(2, &event.AttemptStarted{}),
		at(2, &event.AttemptFinished{Success: true, Result: attempt.Result{Duration: time.Second}}),
		&event.RunFinished{Header: event.Header{Elapsed: 70 * time.Second}, Command: []string{"deploy", "-x"},
			Attempts: 2, Ending: event.Ending{Outcome: event.Succeeded}},
	} {
		emit(s, e)
	}
	want := `::group::retry: attempt 1: deploy -x

::endgroup::
::warning title=retry%3A attempt 1 failed::after 1m5s: exit 75: 50%25 done; next try in 1.23s [on-exit]
::group::retry: attempt 2: deploy -x

::endgroup::
::notice title=retry%3A succeeded::succeeded after 2 attempts of deploy -x in 1m10s
`
	if log.String() != want {
		t.Errorf("it writes\n%swant\n%s", log.String(), want)
	}
	if !strings.Contains(table.String(),
		"\n| 1 | exit 75&#58; 50&#37; done &#91;on&#45;exit&#93; | 1m5s |\n| 2 | succeeded | 1s |\n") {
		t.Errorf("the table is\n%s", table.String())
	}
}

// TestGitHubTableIsBounded: attempts may be unlimited, the runner's patience is
// not.
func TestGitHubTableIsBounded(t *testing.T) {
	var table bytes.Buffer
	s := NewGitHub(&bytes.Buffer{}, CIOptions{}, GitHubFiles{Summary: &table}, new(event.Run))
	worst := strings.Repeat("<", 2*longestText)
	emit(s, &event.RunStarted{Command: []string{worst}})
	for n := 1; n <= 1000; n++ {
		emit(s, at(n, &event.AttemptFinished{Judgement: event.Judgement{Reason: worst, Rule: worst}}))
	}
	emit(s, &event.RunFinished{Attempts: 1000,
		Ending: event.Ending{Outcome: event.Cancelled, Judgement: event.Judgement{Reason: worst}}})
	if table.Len() > 1<<20 {
		t.Errorf("%d bytes", table.Len())
	}
	if text := table.String(); !strings.Contains(text, "| 801 |") || strings.Contains(text, "| 800 |") ||
		!strings.Contains(text, "The last 200 attempts") {
		t.Error("the table does not hold the last 200 attempts")
	}
}

// TestQuietPrintsOwnErrorsOnly, and leaves the files to the runner.
func TestQuietPrintsOwnErrorsOnly(t *testing.T) {
	var log, output bytes.Buffer
	s := NewGitHub(&log, CIOptions{Quiet: true}, GitHubFiles{Output: &output}, new(event.Run))
	for _, e := range run("exit 7") {
		emit(s, e)
	}
	if log.Len() != 0 || output.Len() == 0 {
		t.Errorf("log %q, output %q", log.String(), output.String())
	}
	s.Warn("no log is kept")
	if got := log.String(); got != "::warning title=retry::no log is kept\n" {
		t.Errorf("the warning is %q", got)
	}
	log.Reset()
	emit(s, &event.RunFinished{Command: []string{"x"}, Attempts: 1, ExitCode: 127,
		Ending: event.Ending{Outcome: event.Stopped, NotStarted: true,
			Judgement: event.Judgement{Reason: "not found"}}})
	if got := log.String(); got != "::error title=retry%3A stopped::x failed with exit 127 and was not retried: "+
		"not found\n" {
		t.Errorf("it writes %q", got)
	}
}

// TestReaderHasGone: an end by SIGPIPE is silent.
func TestReaderHasGone(t *testing.T) {
	var log bytes.Buffer
	s := NewGitLab(&log, CIOptions{}, new(event.Run))
	emit(s, &event.RunStarted{})
	emit(s, at(1, &event.AttemptStarted{}))
	log.Reset()
	emit(s, at(1, &event.AttemptFinished{Result: attempt.Result{ReaderGone: true},
		Judgement: event.Judgement{Reason: "no reader"}}))
	emit(s, &event.RunFinished{Attempts: 1,
		Ending: event.Ending{Outcome: event.Cancelled, ReaderGone: true,
			Judgement: event.Judgement{Reason: "no reader"}}})
	if strings.Contains(log.String(), "no reader") {
		t.Errorf("it writes %q", log.String())
	}
}
