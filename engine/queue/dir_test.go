package queue

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/retrysh/retry/engine/text"
)

// patience is for other writers, on a machine that is busy.
const patience = 5 * time.Minute

// openDir makes a directory whose writers wait long for one another.
func openDir(t *testing.T) *Dir {
	t.Helper()
	d, err := Open(filepath.Join(t.TempDir(), "a", "letters"), true)
	if err != nil {
		t.Fatal(err)
	}
	d.wait = patience
	return d
}

func add(t *testing.T, d *Dir, l *Letter, c Content) {
	t.Helper()
	if id, err := d.Add(context.Background(), l, c, false, 1000); err != nil || id != l.ID {
		t.Fatalf("%q, %v", id, err)
	}
}

// names are all that is in the directory.
func names(t *testing.T, d *Dir) string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(d.path, func(path string, _ os.DirEntry, err error) error {
		if rel, _ := filepath.Rel(d.path, path); rel != "." {
			all = append(all, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, " ")
}

func one(t *testing.T, d *Dir) Entry {
	t.Helper()
	all, err := d.List()
	if err != nil || len(all) != 1 {
		t.Fatalf("%d letters, %v", len(all), err)
	}
	return *all[0]
}

func TestAddedLetterComesBackWhole(t *testing.T) {
	d := openDir(t)
	input := bytes.Repeat([]byte("input \xff\n"), 1<<17)
	add(t, d, sample(), Content{Stdin: bytes.NewReader(input), Tails: Tails{[]byte("out"), nil}})
	if got, want := names(t, d), ".lock "+sampleID+" "+sampleID+"/letter.json "+sampleID+"/stdin "+sampleID+
		"/stdout.tail"; got != want {
		t.Errorf("%s; want %s", got, want)
	}
	e := one(t, d)
	if !e.Usable() || e.Claimed || e.Letter.Stdin.Bytes != int64(len(input)) {
		t.Fatalf("%+v", e)
	}
	in, err := d.Input(&e)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if err := e.Letter.Stdin.CheckInput(in); err != nil {
		t.Error(err)
	}
	if got := d.Tails(&e); string(got[0]) != "out" || got[1] != nil {
		t.Errorf("%q", got)
	}
	if err := os.WriteFile(d.in(sampleID, stdinFile), []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := e.Letter.Stdin.CheckInput(in); err == nil {
		t.Error("a changed input is taken")
	}
}

func TestLetterIsReplacedAndRemoved(t *testing.T) {
	d := openDir(t)
	add(t, d, sample(), Content{Tails: Tails{[]byte("out"), []byte("err")}})
	seen := one(t, d)
	info, err := os.Stat(d.in(sampleID, letterFile))
	if err != nil {
		t.Fatal(err)
	}
	c, e, err := d.Claim(sampleID)
	if err != nil {
		t.Fatal(err)
	}
	if d.Read(seen.ID).Stamp != seen.Stamp {
		t.Error("a claim changes the letter")
	}
	if _, _, err := d.Claim(sampleID); !errors.Is(err, ErrClaimed) {
		t.Errorf("claimed twice: %v", err)
	}
	if e := one(t, d); !e.Claimed {
		t.Error("not shown as claimed")
	}
	e.Letter.Redrives = 7
	if err := c.Replace(e.Letter, &Tails{nil, []byte("new")}); err != nil {
		t.Fatal(err)
	}
	// The two may have come within the resolution of a file's time.
	if err := os.Chtimes(d.in(sampleID, letterFile), time.Time{}, info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if d.Read(seen.ID).Stamp == seen.Stamp {
		t.Error("a change is not seen")
	}
	c.Release()
	e = one(t, d)
	if got := d.Tails(&e); e.Letter.Redrives != 7 || e.Claimed || got[0] != nil || string(got[1]) != "new" {
		t.Errorf("%+v %q", e, got)
	}
	if c, _, err = d.Claim(sampleID); err != nil {
		t.Fatal(err)
	}
	if err := c.Remove(); err != nil {
		t.Fatal(err)
	}
	c.Release()
	if got := names(t, d); got != ".lock" {
		t.Errorf("left: %s", got)
	}
	if _, _, err := d.Claim(sampleID); err != ErrGone {
		t.Errorf("claimed what is gone: %v", err)
	}
}

func TestSameWorkIsOneLetter(t *testing.T) {
	d := openDir(t)
	run := func(n int, change func(*Letter), input string) string {
		t.Helper()
		l := sample()
		l.RunID = fmt.Sprintf("%08x%s", n, sampleRun[8:])
		l.ID, l.IdempotencyKey, l.ExitCode, l.Redrives = NewID(failedAt, l.RunID), "build <7>", n, n
		change(l)
		id, err := d.Add(context.Background(), l, Content{Stdin: strings.NewReader(input)}, true, 1000)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	same := func(*Letter) {}
	first := run(1, same, "in")
	if got := run(2, same, "in"); got != first {
		t.Errorf("%s is not joined to %s", got, first)
	}
	if e := one(t, d); e.Letter.Count != 2 || e.Letter.ExitCode != 2 || e.Letter.Redrives != 1 ||
		e.Letter.RunID[:8] != "00000002" {
		t.Errorf("%+v", e.Letter)
	}
	for n, other := range map[string]func(*Letter){
		"input":     same,
		"key":       func(l *Letter) { l.IdempotencyKey = "build 8" },
		"words":     func(l *Letter) { l.Command = []Text{"true"} },
		"directory": func(l *Letter) { l.Cwd = "/tmp" },
	} {
		input := "in"
		if n == "input" {
			input = "other"
		}
		if got := run(int(n[0]), other, input); got == first {
			t.Errorf("another %s is joined", n)
		}
	}
	coded := func(l *Letter) { l.IdempotencyKey = "build \xff" } // which JSON has in base64
	if second, third := run(4, coded, "in"), run(5, coded, "in"); second == first || third != second {
		t.Errorf("with a key that is not UTF-8: %s and %s", second, third)
	}
	c, _, err := d.Claim(first)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Release()
	if got := run(3, same, "in"); got == first {
		t.Error("a claimed one is joined")
	}
}

// Runs of the same work that end at once are counted in one letter, with the outputs
// of the run whose details it has, and leave nothing beside it.
func TestManyJoinAtOnce(t *testing.T) {
	d := openDir(t)
	const joiners = 60
	var wait sync.WaitGroup
	places := make(chan struct{}, 20) // each has some files open, and a process may have 128
	for n := range joiners {
		wait.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			l := sample()
			l.RunID = fmt.Sprintf("%08x%s", n, sampleRun[8:])
			l.ID, l.IdempotencyKey = NewID(failedAt, l.RunID), "one"
			if _, err := d.Add(context.Background(), l,
				Content{Stdin: strings.NewReader("in"), Tails: Tails{[]byte(l.RunID), nil}}, true, 1); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	e := one(t, d)
	if e.Letter.Count != joiners {
		t.Errorf("%d runs are counted", e.Letter.Count)
	}
	if got := d.Tails(&e); string(got[0]) != e.Letter.RunID {
		t.Errorf("the output is of run %s, the details are of %s", got[0], e.Letter.RunID)
	}
	if got, want := names(t, d), strings.ReplaceAll(".lock ID ID/letter.json ID/stdin ID/stdout.tail", "ID",
		e.ID); got != want {
		t.Errorf("%s; want %s", got, want)
	}
}

// A run that finds the letter of its work held keeps one of its own, and the next one
// joins that.
func TestARunThatCannotJoinKeepsItsOwn(t *testing.T) {
	d := openDir(t)
	run := func(n int) (id string) {
		t.Helper()
		l := sample()
		l.RunID = fmt.Sprintf("%08x%s", n, sampleRun[8:])
		l.ID, l.IdempotencyKey = NewID(failedAt, l.RunID), "one"
		id, err := d.Add(context.Background(), l, Content{}, true, 1000)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	first := run(1)
	c, _, err := d.Claim(first)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Release()
	second, third := run(2), run(3)
	if e := d.Read(second); second == first || third != second || e.Letter.Count != 2 ||
		e.Letter.RunID[:8] != "00000003" {
		t.Errorf("%s, then %s and %s: %+v", first, second, third, e.Letter)
	}
}

func TestFullDirectoryTakesNoOther(t *testing.T) {
	d := openDir(t)
	add(t, d, sample(), Content{})
	l := sample()
	l.RunID = "2" + sampleRun[1:]
	l.ID = NewID(failedAt, l.RunID)
	if _, err := d.Add(context.Background(), l, Content{}, false, 1); !errors.Is(err, ErrFull) {
		t.Errorf("%v", err)
	}
	if got := one(t, d).ID; got != sampleID {
		t.Errorf("%s took the place of the oldest", got)
	}
}

// What is left by those who were killed is cleared away, what is held is not.
func TestLeftoversAreCleared(t *testing.T) {
	d := openDir(t)
	const held = "20261124T015407Z-00000001"
	for _, name := range []string{
		"." + sampleID + newEnd + "/stdin", "." + sampleID + goneEnd + "/letter.json",
		"." + sampleID + ".letter.json", "." + sampleID + lockEnd,
		"." + held + newEnd + "/stdin", "mine", ".hidden",
	} {
		path := filepath.Join(d.path, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	lock, err := lockFile(d.beside(held, lockEnd), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Unlock()
	if all, err := d.List(); err != nil || len(all) != 0 {
		t.Errorf("%v, %v", all, err)
	}
	if got, want := names(t, d), "."+held+".lock ."+held+".new ."+held+".new/stdin .hidden mine"; got != want {
		t.Errorf("%s; want %s", got, want)
	}
}

// Writers, redrivers and readers at once: every letter is added once, removed
// once, and never seen in part.
func TestManyAtOnce(t *testing.T) {
	d := openDir(t)
	const writers, each = 4, 10
	var wait sync.WaitGroup
	for w := range writers {
		wait.Go(func() {
			for i := range each {
				l := sample()
				l.RunID = fmt.Sprintf("%08x%s", w*each+i, sampleRun[8:])
				l.ID, l.IdempotencyKey = NewID(failedAt, l.RunID), Text(l.RunID)
				if _, err := d.Add(context.Background(), l, Content{Tails: Tails{[]byte("x"), nil}}, i%2 == 0,
					1000); err != nil {
					t.Error(err)
				}
			}
		})
	}
	var mu sync.Mutex
	removed := map[string]int{}
	for range 2 {
		wait.Go(func() {
			for until := time.Now().Add(patience); time.Now().Before(until); {
				all, err := d.List()
				if err != nil {
					t.Error(err)
					return
				}
				for _, e := range all {
					if !e.Usable() {
						t.Errorf("%s: %v", e.ID, e.Problem)
						return
					}
					c, _, err := d.Claim(e.ID)
					if err != nil {
						continue
					}
					if err := c.Remove(); err != nil {
						t.Error(err)
					}
					c.Release()
					mu.Lock()
					removed[e.ID]++
					mu.Unlock()
				}
				mu.Lock()
				n := len(removed)
				mu.Unlock()
				if n == writers*each {
					return
				}
			}
		})
	}
	wait.Wait()
	for id, n := range removed {
		if n != 1 {
			t.Errorf("%s was removed %d times", id, n)
		}
	}
	if len(removed) != writers*each {
		t.Errorf("%d letters of %d", len(removed), writers*each)
	}
}

// TestOpen: a directory that is not there is made only if asked for, and is named by its whole path.
func TestOpen(t *testing.T) {
	t.Chdir(t.TempDir())
	if _, err := Open("letters", false); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	for _, create := range []bool{true, false} {
		d, err := Open("letters", create)
		if err != nil {
			t.Fatal(err)
		}
		if here, err := os.Getwd(); err != nil || d.Path() != filepath.Join(here, "letters") {
			t.Errorf("%s, %v", d.Path(), err)
		}
	}
}

// TestAFullDirectoryReadsNoInput: what is not kept is not read first, and a run that would join
// a letter that is not there finds no place for one of its own.
func TestAFullDirectoryReadsNoInput(t *testing.T) {
	d := openDir(t)
	other := func(n int) *Letter {
		l := sample()
		l.RunID = fmt.Sprintf("%08x%s", n, sampleRun[8:])
		l.ID, l.IdempotencyKey = NewID(failedAt, l.RunID), Text(l.RunID)
		return l
	}
	for n := range 2 {
		if id, err := d.Add(context.Background(), other(n), Content{}, n == 1, 2); err != nil || id == "" {
			t.Fatalf("letter %d: %q, %v", n, id, err)
		}
	}
	input := strings.NewReader("input")
	for _, joins := range []bool{false, true} {
		if id, err := d.Add(context.Background(), other(7), Content{Stdin: input}, joins, 2); id != "" ||
			!errors.Is(err, ErrFull) || !strings.Contains(err.Error(), "(2)") {
			t.Errorf("joins %v: %q, %v", joins, id, err)
		}
		if read := input.Len() == 0; read != joins {
			t.Errorf("joins %v: read %v", joins, read)
		}
		if all, err := d.List(); err != nil || len(all) != 2 {
			t.Errorf("%d letters, %v", len(all), err)
		}
	}
}

// TestWhatIsJoined: a letter that gave up, of the same work by a key of any bytes; not one that
// is parked.
func TestWhatIsJoined(t *testing.T) {
	for _, key := range []string{"a", "\xff\xfe{}", `"quoted" <&>` + "\n", "}"} {
		for _, isParked := range []bool{false, true} {
			d := openDir(t)
			first := sample()
			if isParked {
				first = parkedSample()
			}
			first.IdempotencyKey = Text(key)
			add(t, d, first, Content{})
			l := sample()
			l.RunID = "2" + sampleRun[1:]
			l.ID, l.IdempotencyKey, l.FirstFailedAt = NewID(failedAt, l.RunID), Text(key),
				text.Time{Time: failedAt.Add(time.Hour)}
			id, err := d.Add(context.Background(), l, Content{}, true, 10)
			if joined := id == sampleID; err != nil || joined == isParked {
				t.Errorf("key %q, parked %v: %s, %v", key, isParked, id, err)
			}
			if e := d.Read(sampleID); !isParked &&
				(!e.Usable() || e.Letter.ID != sampleID || !e.Letter.FirstFailedAt.Equal(failedAt)) {
				t.Errorf("joined: %+v", e)
			}
		}
	}
}

// TestALetterThatCannotBeReadIsShown: with why, and with what could be read of it.
func TestALetterThatCannotBeReadIsShown(t *testing.T) {
	for name, c := range map[string]struct {
		change func(d *Dir) error
		says   string
		read   bool
	}{
		"no letter.json": {func(d *Dir) error { return os.Remove(d.in(sampleID, letterFile)) }, letterFile, false},
		"no input":       {func(d *Dir) error { return os.Remove(d.in(sampleID, stdinFile)) }, "its input: ", true},
		"another version": {func(d *Dir) error {
			return os.WriteFile(d.in(sampleID, letterFile), []byte(`{"version": 2}`), 0o600)
		}, "version 2", true},
	} {
		d := openDir(t)
		add(t, d, sample(), Content{Stdin: strings.NewReader("in")})
		stamp := d.Read(sampleID).Stamp
		if err := c.change(d); err != nil {
			t.Fatal(err)
		}
		e := one(t, d)
		if e.Usable() || e.Foreign || e.Claimed || !strings.Contains(e.Problem.Error(), c.says) ||
			(e.Letter != nil) != c.read {
			t.Errorf("%s: %+v", name, e)
		}
		if same := e.Stamp == stamp; same != (name == "no input") {
			t.Errorf("%s: stamp %q after %q", name, e.Stamp, stamp)
		}
	}
	d := openDir(t)
	if e := d.Read(sampleID); e.ID != sampleID || e.Problem != ErrGone || e.Letter != nil {
		t.Errorf("not there: %+v", e)
	}
	if _, e, err := d.Claim(sampleID); err != ErrGone || e.Problem != ErrGone {
		t.Errorf("claimed: %+v, %v", e, err)
	}
	if rest := names(t, d); rest != "" {
		t.Errorf("left: %s", rest)
	}
}

// TestInputs: what a letter keeps as standard input is what it gets, or it is not run.
func TestInputs(t *testing.T) {
	d := openDir(t)
	for name, e := range map[string]*Entry{"unreadable": {ID: sampleID},
		"without an input": {ID: sampleID, Letter: sample()}} {
		f, err := d.Input(e)
		if err != nil {
			t.Fatal(err)
		}
		if data, err := io.ReadAll(f); err != nil || len(data) != 0 {
			t.Errorf("%s: %q, %v", name, data, err)
		}
		_ = f.Close()
	}
	kept := stdinOf(5, func() hash.Hash { h := sha256.New(); h.Write([]byte("input")); return h }())
	for text, want := range map[string]bool{"input": true, "inpu": false, "input ": false, "other": false, "": false} {
		r := strings.NewReader(text)
		err := kept.CheckInput(r)
		if (err == nil) != want || !want && !strings.Contains(err.Error(), "its input is not what it was: ") {
			t.Errorf("%q: %v", text, err)
		}
		if want && r.Len() != len(text) {
			t.Error("it is not read from its begin")
		}
	}
	if err := kept.CheckInput(iotestSeeker{iotest.ErrReader(errDisk)}); !errors.Is(err, errDisk) {
		t.Errorf("%v", err)
	}
}

// iotestSeeker is a reader that seeks nowhere.
type iotestSeeker struct{ io.Reader }

func (iotestSeeker) Seek(int64, int) (int64, error) { return 0, nil }

// TestTailsAreBounded: of a file that is longer than any tail, no more is shown than of one.
func TestTailsAreBounded(t *testing.T) {
	d := openDir(t)
	add(t, d, sample(), Content{Tails: Tails{[]byte("out"), bytes.Repeat([]byte("x"), largestTail)}})
	e := one(t, d)
	if got := d.Tails(&e); string(got[0]) != "out" || len(got[1]) != largestTail {
		t.Errorf("%d and %d bytes", len(got[0]), len(got[1]))
	}
	if err := os.WriteFile(d.in(sampleID, stderrTail), make([]byte, largestTail+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := d.Tails(&e); string(got[0]) != "out" || len(got[1]) != largestTail {
		t.Errorf("%d and %d bytes", len(got[0]), len(got[1]))
	}
	e.Foreign = true
	if got := d.Tails(&e); got[0] != nil {
		t.Errorf("of another user: %q", got)
	}
}
