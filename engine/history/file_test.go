package history

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"
)

// recordOf is a line of a run, of about so many bytes.
func recordOf(id string, size int) []byte {
	r := Record{Version: 1, Time: Moment{start}, RunID: id, Outcome: "succeeded", Cwd: strings.Repeat("x", size)}
	return r.Encode()
}

// Fifty writers lose nothing, also while the file is put aside.
func TestAppendByMany(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	const writers, lines = 50, 9
	line := string(recordOf("ID", 1000))
	// A hole, for one line that is none. Half of the others do not fit behind it.
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, largestFile-int64(writers*lines/2*len(line))); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := range lines {
				if err := Append(path, []byte(strings.Replace(line, "ID", fmt.Sprint(w, "-", i), 1))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	sources, _, err := InForce(path)
	if err != nil || len(sources) != 2 {
		t.Fatalf("%d files, %v", len(sources), err)
	}
	runs := 0
	bad, err := Runs(sources, func(*Record) { runs++ })
	if err != nil || bad != 1 || runs != writers*lines {
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
	for name, want := range map[string]string{path: "new\n", path + ".1": "old 4", path + ".2": "old 3",
		path + ".3": "old 2"} {
		f, err := os.Open(name)
		if err != nil {
			t.Error(err)
			continue
		}
		begin := make([]byte, len(want))
		if _, err := io.ReadFull(f, begin); err != nil || string(begin) != want {
			t.Errorf("%s: %q, %v", name, begin, err)
		}
		_ = f.Close()
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
	text := line + "\n\nnonsense\n" + strings.Repeat("x", 3<<20) + "\n" + line + string(recordOf("b", 10)) +
		`{"v":1,"run_id":"c","outcome":"torn"`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var runs []string
	bad, err := Runs([]Source{{Path: path}, {Stdin: strings.NewReader(line)}},
		func(r *Record) { runs = append(runs, r.RunID) })
	if got := strings.Join(runs, " "); err != nil || bad != 3 || got != "a b" {
		t.Errorf("runs %q, %d bad lines, %v", got, bad, err)
	}
}

// A run that was parked and went on is one run.
func TestRunsJoinsWhatWasParked(t *testing.T) {
	part := func(second int, outcome string, attempts ...string) string {
		return fmt.Sprintf(`{"v":1,"run_id":"a","time":"2026-11-24T01:54:%02dZ","outcome":%q,"attempt_count":%d,`+
			`"waited_ms":5,"attempts":[%s]}`+"\n", second, outcome, len(attempts), strings.Join(attempts, ","))
	}
	failed, ok := `{"exit_code":1,"success":false}`, `{"exit_code":0,"success":true}`
	text := part(0, "parked", failed) + part(1, "parked", failed) + part(2, "succeeded", failed, ok)
	count := 0
	_, err := Runs([]Source{{Stdin: strings.NewReader(text + text)}}, func(r *Record) {
		count++
		if r.Outcome != "succeeded" || r.AttemptCount != 4 || len(r.Attempts) != 4 || r.WaitedMS != 15 ||
			r.Time.Second() != 0 {
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

// TestEveryOlderFileIsRead: the three older files and the current one, the oldest first, and
// nothing else.
func TestEveryOlderFileIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	read := func(path string) string {
		t.Helper()
		sources, youngest, err := InForce(path)
		if err != nil || youngest != path {
			t.Fatalf("%q, %v", youngest, err)
		}
		var runs []string
		if bad, err := Runs(sources, func(r *Record) { runs = append(runs, r.RunID) }); err != nil || bad != 0 {
			t.Fatalf("%d bad lines, %v", bad, err)
		}
		return strings.Join(runs, " ")
	}
	if got := read(path); got != "" {
		t.Errorf("of no file: %s", got)
	}
	for _, c := range []struct{ end, want string }{
		{".2", ".2"}, {".4", ".2"}, {"", ".2 "}, {".1", ".2 .1 "}, {".3", ".3 .2 .1 "}, {".0", ".3 .2 .1 "},
	} {
		if err := os.WriteFile(path+c.end, recordOf("run"+c.end, 10), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := strings.ReplaceAll(read(path), "run", ""); got != c.want {
			t.Errorf("with %s: %q, not %q", c.end, got, c.want)
		}
	}
	if err := os.Remove(path + ".2"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path+".2", 0o700); err != nil {
		t.Fatal(err)
	}
	if sources, _, err := InForce(path); err == nil || !strings.Contains(err.Error(), "is not a regular file") ||
		sources != nil {
		t.Errorf("%v, %v", sources, err)
	}
}

// TestPath holds which file a value of --history stands for.
func TestPath(t *testing.T) {
	t.Chdir(t.TempDir())
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	for value, isOwn := range map[string]bool{"": true, "on": true, "off": true, "a/b": false, "on.jsonl": false} {
		want := value
		if isOwn {
			want = filepath.Join(state, "retry", "history.jsonl")
		}
		if path, own, err := Path(value); path != want || own != isOwn || err != nil {
			t.Errorf("%q: %q, %v, %v", value, path, own, err)
		}
	}
	if err := Append("on", []byte("line\n")); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(filepath.Join(state, "retry", "history.jsonl")); err != nil ||
		string(text) != "line\n" {
		t.Errorf("%q, %v", text, err)
	}
}

// TestAFileOfTheLargestSizeStays: one byte more has it put aside.
func TestAFileOfTheLargestSizeStays(t *testing.T) {
	for size, aside := range map[int64]bool{largestFile: false, largestFile + 1: true} {
		path := filepath.Join(t.TempDir(), "history.jsonl")
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
		if err := Append(path, []byte("new\n")); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path + ".1"); (err == nil) != aside {
			t.Errorf("%d bytes: put aside %v", size, !aside)
		}
	}
}

// TestAFileThatCannotBePutAsideIsWritten: what is large and behind a link, or locked by another,
// gets the line, and so does what another run has put aside meanwhile.
func TestAFileThatCannotBePutAsideIsWritten(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links and locks differ there")
	}
	for name, prepare := range map[string]func(t *testing.T, path string){
		"behind a link": func(t *testing.T, path string) {
			if err := os.Rename(path, path+".file"); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(path+".file", path); err != nil {
				t.Fatal(err)
			}
		},
		"locked": func(t *testing.T, path string) {
			f, _, err := openAppend(path)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = f.Close() })
			if err := lock(f); err != nil {
				t.Fatal(err)
			}
		},
		"in the way of it": func(t *testing.T, path string) {
			for n := range olderFiles {
				if err := os.MkdirAll(filepath.Join(older(path, n+1), "x"), 0o700); err != nil {
					t.Fatal(err)
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "history.jsonl")
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(path, largestFile+1); err != nil {
				t.Fatal(err)
			}
			prepare(t, path)
			if err := Append(path, []byte("new\n")); err != nil {
				t.Fatal(err)
			}
			if info, err := os.Stat(path); err != nil || info.Size() != largestFile+1+int64(len("\nnew\n")) {
				t.Errorf("%v, %v", info, err)
			}
			if info, err := os.Stat(path + ".1"); err == nil && !info.IsDir() {
				t.Error("it was put aside")
			}
		})
	}
	t.Run("put aside by another", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "history.jsonl")
		f, _, err := openAppend(path)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Close() }()
		if err := os.Rename(path, path+".1"); err != nil {
			t.Fatal(err)
		}
		if !rotate(path, f) { // nothing is there
			t.Error("another file may be there, and it is not opened")
		}
		if err := os.WriteFile(path, []byte("other"), 0o600); err != nil {
			t.Fatal(err)
		}
		if !rotate(path, f) {
			t.Error("another file is there, and it is not opened")
		}
		if text, err := os.ReadFile(path); err != nil || string(text) != "other" {
			t.Errorf("it was renamed: %q, %v", text, err)
		}
	})
}

// TestWhereNothingIsMade: the directory of another user gets no history of ours, one of root's may
// be open to all, and an error on the way is returned.
func TestWhereNothingIsMade(t *testing.T) {
	dir := t.TempDir()
	if err := ownDirectory(filepath.Join(dir, "not", "there", "yet")); err != nil {
		t.Error(err)
	}
	if err := ownDirectory("/"); err != nil {
		t.Errorf("root's: %v", err)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := ownDirectory(filepath.Join(file, "below")); err == nil && runtime.GOOS != "windows" {
		t.Error("a directory below a file")
	}
	if err := Append(filepath.Join(file, "below", "history"), []byte("x\n")); err == nil {
		t.Error("a file below a file")
	}
	if err := Append(dir, []byte("x\n")); err == nil {
		t.Error("a directory is written")
	}
	other := filepath.Join(dir, "other")
	if err := os.Mkdir(other, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(other, 12345, -1); err != nil {
		t.Skip("only root gives files away")
	}
	for _, below := range []string{other, filepath.Join(other, "x", "y")} {
		if err := ownDirectory(below); err == nil ||
			!strings.Contains(err.Error(),
				"belongs to user 12345 and not to user 0; nothing is made there; --history FILE names another file") {
			t.Errorf("%s: %v", below, err)
		}
	}
	t.Setenv("XDG_STATE_HOME", other)
	if err := Append("on", []byte("x\n")); err == nil {
		t.Error("a history is made in the directory of another user")
	}
	if entries, err := os.ReadDir(other); err != nil || len(entries) > 0 {
		t.Errorf("left: %v, %v", entries, err)
	}
}

// TestFilesOfTheUserAlone: a history, and the directories that are made for it, are open to
// nobody else.
func TestFilesOfTheUserAlone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes differ there")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "a", "history.jsonl")
	if err := Append(path, []byte("x\n")); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
}

// TestLongLines: the longest line that is read has a mebibyte with its newline.
func TestLongLines(t *testing.T) {
	long := func(size int) string {
		head, tail := `{"v":1,"run_id":"long","outcome":"o","x":"`, `"}`+"\n"
		return head + strings.Repeat("x", size-len(head)-len(tail)) + tail
	}
	after := string(recordOf("after", 10))
	for _, c := range []struct {
		text, want string
		bad        int
	}{
		{long(largestRead) + after, "long after", 0},
		{long(largestRead+1) + after, "long after", 0},
		{long(largestRead+2) + after, "after", 1},
		{long(3*largestRead) + long(3*largestRead) + after, "after", 2},
		{strings.TrimSuffix(long(3*largestRead), "\n"), "", 1},
		{strings.TrimSuffix(after, "\n"), "after", 0},
		{"", "", 0}, {"\n \t\r\n", "", 0}, {"  " + after + "x", "after", 1},
	} {
		var runs []string
		bad, err := Runs([]Source{{Stdin: strings.NewReader(c.text)}}, func(r *Record) { runs = append(runs, r.RunID) })
		if got := strings.Join(runs, " "); err != nil || bad != c.bad || got != c.want {
			t.Errorf("%d bytes: %q, %d bad lines, %v; want %q, %d", len(c.text), got, bad, err, c.want, c.bad)
		}
	}
}

// TestReadErrors: a source that cannot be read ends the reading.
func TestReadErrors(t *testing.T) {
	broken := errors.New("broken")
	line := string(recordOf("a", 10))
	runs := 0
	sources := []Source{{Stdin: io.MultiReader(strings.NewReader(line+"nonsense\n"), iotest.ErrReader(broken))},
		{Stdin: strings.NewReader(string(recordOf("b", 10)))}}
	if bad, err := Runs(sources, func(*Record) { runs++ }); !errors.Is(err, broken) || runs != 1 || bad != 1 {
		t.Errorf("%d runs, %d bad lines, %v", runs, bad, err)
	}
	if _, err := Runs([]Source{{Path: filepath.Join(t.TempDir(), "none")}}, func(*Record) {}); !errors.Is(err,
		fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

// TestParkedRunsAreJoined: parts count once each, wherever they stand; one that was not continued
// is a run as well.
func TestParkedRunsAreJoined(t *testing.T) {
	part := func(id string, second int, outcome string, cut bool) *Record {
		return &Record{Version: 1, RunID: id, Time: Moment{start.Add(time.Duration(second) * time.Second)},
			Outcome: outcome, Attempts: []Attempt{{ExitCode: second}}, AttemptCount: 1, ElapsedMS: 10, WaitedMS: 3,
			Cut: cut}
	}
	var text strings.Builder
	for _, r := range []*Record{
		part("a", 1, "parked", true), part("b", 1, "parked", false), part("a", 1, "parked", true),
		part("a", 2, "parked", false), part("a", 3, "exhausted", false),
		part("c", 1, "succeeded", false), part("a", 3, "exhausted", false), part("a", 9, "parked", false),
	} {
		text.Write(r.Encode())
	}
	got := map[string]string{}
	bad, err := Runs([]Source{{Stdin: strings.NewReader(text.String())}}, func(r *Record) {
		got[r.RunID] += fmt.Sprintf("%s %d %d %v %v %v %d;", r.Outcome, r.AttemptCount, len(r.Attempts), r.ElapsedMS,
			r.WaitedMS, r.Cut, int(r.Time.Sub(start).Seconds()))
	})
	want := map[string]string{"a": "exhausted 3 3 30 9 true 1;", "b": "parked 1 1 10 3 false 1;",
		"c": "succeeded 1 1 10 3 false 1;"}
	if err != nil || bad != 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %d bad lines, %v", got, bad, err)
	}
}
