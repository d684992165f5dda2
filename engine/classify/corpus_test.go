package classify

// This file measures the built-in table on recorded failures, with the figures
// of the corpus' own score.py.

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/retryafter"
)

// record is one recorded failure, in the format of the corpus' README.
type record struct {
	ID, Tool, Label, Signal, Stdout, Stderr string
	// Seen is the label by a reader who saw the output alone, "" for none.
	Seen       string
	Argv       []string
	ExitCode   int      `json:"exit_code"`
	CapturedAt float64  `json:"captured_at"`
	RetryAfter *float64 `json:"retry_after_seconds"`
}

func (r *record) failure() Failure {
	return Failure{
		Argv:   r.Argv,
		Result: attempt.Result{ExitCode: r.ExitCode, Signal: attempt.Signal(r.Signal)},
		Stdout: []byte(r.Stdout), Stderr: []byte(r.Stderr), Now: time.Unix(int64(r.CapturedAt), 0),
	}
}

// readHint returns the hint in seconds, or NaN.
func (r *record) readHint() float64 {
	h, ok, _ := retryafter.Find([]byte(r.Stdout+"\n"+r.Stderr), time.Unix(int64(r.CapturedAt), 0))
	if !ok {
		return math.NaN()
	}
	return h.Wait.Seconds()
}

func readCorpus(tb testing.TB, path string) []record {
	tb.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		tb.Skipf("no corpus here: %v", err)
	}
	var records []record
	for line := range strings.SplitSeq(strings.TrimSpace(string(data)), "\n") {
		var r record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			tb.Fatalf("%s: %v", path, err)
		}
		records = append(records, r)
	}
	return records
}

// figures are those of score.py, with unknown counted as retried.
type figures struct {
	transient, permanent          int
	stopped, retried              int // transients stopped, permanents retried
	strictMissed, strictRetried   int // with unknown counted as stopped
	hints, hintsRead, hintsClaims int
}

func measure(records []record) (f figures) {
	for i := range records {
		r := &records[i]
		got := r.readHint()
		if !math.IsNaN(got) {
			f.hintsClaims++
		}
		if want := r.RetryAfter; want != nil {
			f.hints++
			near := max(1, 0.05**want)
			if *want > 40 {
				near = max(3, 0.05**want)
			}
			if math.Abs(got-*want) <= near {
				f.hintsRead++
			}
		}
		v := BuiltIn().Judge(r.failure()).Verdict
		switch r.Label {
		case "transient":
			f.transient++
			f.stopped += count(v == event.Permanent)
			f.strictMissed += count(v != event.Transient)
		case "permanent":
			f.permanent++
			f.retried += count(v != event.Permanent)
			f.strictRetried += count(v == event.Transient)
		}
	}
	return f
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func share(n, of int) float64 { return float64(n) / float64(max(1, of)) }

func TestPublicCorpus(t *testing.T) {
	f := measure(readCorpus(t, "testdata/corpus.jsonl"))
	right := 1 - share(f.stopped+f.retried, f.transient+f.permanent)
	t.Logf("right %.3f, transients stopped %.3f, permanents retried %.3f; strict: missed %.3f, retried %.3f; hints %d of %d, %d claimed",
		right, share(f.stopped, f.transient), share(f.retried, f.permanent), share(f.strictMissed, f.transient), share(f.strictRetried, f.permanent), f.hintsRead, f.hints, f.hintsClaims)
	if right < 0.97 || share(f.stopped, f.transient) > 0.01 || share(f.retried, f.permanent) > 0.05 {
		t.Errorf("the table has become worse on the public corpus")
	}
	if f.hintsRead < 17 || f.hintsClaims > f.hints+1 {
		t.Errorf("%d of %d hints read, %d claimed", f.hintsRead, f.hints, f.hintsClaims)
	}
}

// TestPassing: none of the failures is stopped whose output hides, or half hides,
// that a server was away for a while. They are those that were stopped once, of a
// matrix of everyday tools and scripts under such faults, and of failures as people
// post them.
func TestPassing(t *testing.T) {
	for _, r := range readCorpus(t, "testdata/passing.jsonl") {
		if j := BuiltIn().Judge(r.failure()); j.Verdict == event.Permanent {
			t.Errorf("%s: %q is stopped by %q: %q", r.ID, r.Argv, j.Rule, r.Stdout+r.Stderr)
		}
	}
}

// TestRecordings judges this project's own recordings: real tools that were run
// against faults on loopback (nothing listening, reset, empty and cut answers,
// silence, HTTP statuses, name servers that fail or say nothing, TLS cut and
// not trusted, servers that are full) and against plain mistakes. The label
// follows from the fault. At most one in a hundred transient ones may be
// stopped; of the permanent ones some stay unknown, since nothing in their
// output says so.
func TestRecordings(t *testing.T) {
	if testing.Short() {
		t.Skip("works through a corpus on one goroutine")
	}
	records := readCorpus(t, "testdata/recordings.jsonl")
	f := measure(records)
	t.Logf("of %d transients %d stopped and %d not recognised, of %d permanents %d retried", f.transient, f.stopped, f.strictMissed, f.permanent, f.retried)
	if share(f.stopped, f.transient) > 0.01 || share(f.retried, f.permanent) > 0.09 || share(f.strictMissed, f.transient) > 0.08 {
		t.Errorf("the table has become worse on the recordings")
	}
	for i := range records {
		r := &records[i]
		if j := BuiltIn().Judge(r.failure()); string(j.Verdict) != r.Label && r.Label != "ambiguous" {
			t.Logf("%s: %s by %q, labelled %s", r.ID, j.Verdict, j.Rule, r.Label)
		}
	}
}
