package history

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// recordOf is a line of a run, of about so many bytes.
func recordOf(id string, size int) []byte {
	r := Record{Version: 1, Time: start, RunID: id, Outcome: "succeeded", Cwd: strings.Repeat("x", size)}
	return r.Encode()
}

// Fifty writers lose nothing, also while the file is put aside again and again.
func TestAppendByMany(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b", "history.jsonl")
	const writers, lines, size = 50, 9, 48 << 10 // 21 MiB: two files
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := range lines {
				if err := Append(path, recordOf(fmt.Sprint(w, "-", i), size)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	sources, _, err := InForce(path)
	if err != nil || len(sources) < 2 {
		t.Fatalf("%d files, %v", len(sources), err)
	}
	runs := 0
	bad, err := Runs(sources, func(*Record) { runs++ })
	if err != nil || bad != 0 || runs != writers*lines {
		t.Errorf("%d runs of %d, %d bad lines, %v", runs, writers*lines, bad, err)
	}
}

func TestAppendRotates(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	large := func(content string) {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, largestFile+1); err != nil { // nothing is written
			t.Fatal(err)
		}
	}
	for i := range 5 {
		large(fmt.Sprintf("old %d", i))
		if err := Append(path, []byte("new\n")); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{path: "new\n", path + ".1": "old 4", path + ".2": "old 3", path + ".3": "old 2"} {
		text, err := os.ReadFile(name)
		if err != nil || !strings.HasPrefix(string(text), want) {
			t.Errorf("%s: %.10q, %v", name, text, err)
		}
	}
	if _, err := os.Stat(path + ".4"); err == nil {
		t.Error("a fourth file is there")
	}
}

// A torn last line costs one record.
func TestAppendAfterTornLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	if err := os.WriteFile(path, []byte(`{"v":1,"run`), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := Append(path, []byte("line\n")); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "{\"v\":1,\"run\nline\nline\n" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestReadCountsWhatIsNoRecord(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	line := string(recordOf("a", 10))
	text := line + "\n\nnonsense\n" + strings.Repeat("x", 3<<20) + "\n" + line + string(recordOf("b", 10)) + `{"v":1,"run_id":"c","outcome":"torn"`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var runs []string
	bad, err := Runs([]Source{{Path: path}, {Stdin: strings.NewReader(line)}}, func(r *Record) { runs = append(runs, r.RunID) })
	if got := strings.Join(runs, " "); err != nil || bad != 3 || got != "a b" {
		t.Errorf("runs %q, %d bad lines, %v", got, bad, err)
	}
}

// A run that was parked and went on is one run.
func TestRunsJoinsWhatWasParked(t *testing.T) {
	part := func(second int, outcome string, attempts ...string) string {
		return fmt.Sprintf(`{"v":1,"run_id":"a","time":"2026-11-24T01:54:%02dZ","outcome":%q,"attempt_count":%d,"waited_ms":5,"attempts":[%s]}`+"\n", second, outcome, len(attempts), strings.Join(attempts, ","))
	}
	failed, ok := `{"exit_code":1,"success":false}`, `{"exit_code":0,"success":true}`
	text := part(0, "parked", failed) + part(1, "parked", failed) + part(2, "succeeded", failed, ok)
	count := 0
	_, err := Runs([]Source{{Stdin: strings.NewReader(text + text)}}, func(r *Record) {
		count++
		if r.Outcome != "succeeded" || r.AttemptCount != 4 || len(r.Attempts) != 4 || r.WaitedMS != 15 || r.Time.Second() != 0 {
			t.Errorf("%+v", r)
		}
	})
	if err != nil || count != 1 {
		t.Errorf("%d runs, %v", count, err)
	}
}

// A lock that another process holds is waited for, but not for ever.
func TestLockEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	var files [2]*os.File
	for i := range files {
		f, _, err := openAppend(path)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Close() }()
		files[i] = f
	}
	if err := lock(files[0]); err != nil {
		t.Fatal(err)
	}
	if err := lock(files[1]); err == nil {
		t.Error("two hold the lock")
	}
	_ = files[0].Close()
	if err := lock(files[1]); err != nil {
		t.Error(err)
	}
}
