package queue

// This file holds what is on the disk when: what a change writes is synced before it has its
// name, the directory after; and each error of the disk is told, with what is there then.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

var errDisk = errors.New("the disk is broken")

// crash is a change to a directory, which holds the sample letter before unless
// it is empty, and what may be there afterwards. after is nil for no letter.
type crash struct {
	empty bool
	do    func(d *Dir) error
	after func(l *Letter, whole bool) error
}

var crashes = map[string]crash{
	"add": {true, func(d *Dir) error {
		_, err := d.Add(context.Background(), sample(),
			Content{Stdin: strings.NewReader("in"), Tails: Tails{[]byte("out"), []byte("err")}}, false, 10)
		return err
	}, func(l *Letter, whole bool) error {
		if l == nil && whole || l != nil && l.Stdin.Bytes != 2 {
			return errors.New("not added whole")
		}
		return nil
	}},
	"join": {false, func(d *Dir) error {
		l := sample()
		l.RunID = "2" + sampleRun[1:]
		l.ID = NewID(failedAt, l.RunID)
		_, err := d.Add(context.Background(), l, Content{Tails: Tails{[]byte("out"), nil}}, true, 10)
		return err
	}, func(l *Letter, whole bool) error {
		if l == nil || whole && l.Count != 2 || l.Count == 2 != (l.RunID[0] == '2') {
			return fmt.Errorf("joined to %+v", l)
		}
		return nil
	}},
	"redrive": {false, func(d *Dir) error {
		c, e, err := d.Claim(sampleID)
		if err != nil {
			return err
		}
		defer c.Release()
		e.Letter.Redrives++
		return c.Replace(e.Letter, nil)
	}, func(l *Letter, whole bool) error {
		if l == nil || l.Redrives > 1 || whole && l.Redrives != 1 {
			return fmt.Errorf("became %+v", l)
		}
		return nil
	}},
	"remove": {false, func(d *Dir) error {
		c, _, err := d.Claim(sampleID)
		if err != nil {
			return err
		}
		defer c.Release()
		return c.Remove()
	}, func(l *Letter, whole bool) error {
		if l != nil && whole {
			return errors.New("not removed")
		}
		return nil
	}},
}

// watchSyncs has the n-th sync fail, none for 0, and returns what is synced: the path below
// the directory, and ", named" if the sample letter has its name then.
func watchSyncs(t *testing.T, d *Dir, n int) *[]string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("no directory is synced there")
	}
	var all []string
	before := fsync
	t.Cleanup(func() { fsync = before })
	fsync = func(f *os.File) error {
		path, err := filepath.Rel(d.path, f.Name())
		if err != nil {
			return err
		}
		if _, err := os.Stat(d.in(sampleID, "")); err == nil {
			path += ", named"
		}
		if all = append(all, filepath.ToSlash(path)); len(all) == n {
			return errDisk
		}
		return before(f)
	}
	return &all
}

// change is a change of the directory that holds the sample letter, unless it is added: what
// it syncs, how many of these come before it is made, and whether it has been made.
type change struct {
	do     func(d *Dir) error
	syncs  []string
	before int
	made   func(e *Entry) bool
}

const hidden = "." + sampleID

var changes = map[string]change{
	"added": {crashes["add"].do, []string{hidden + ".new/stdin", hidden + ".new/stdout.tail",
		hidden + ".new/stderr.tail", hidden + ".new/letter.json", hidden + ".new", "., named"}, 5,
		func(e *Entry) bool { return e != nil }},
	"joined": {crashes["join"].do,
		[]string{hidden + ".stdout.tail, named", hidden + ".letter.json, named", sampleID + ", named"}, 2,
		func(e *Entry) bool { return e.Letter.Count == 2 }},
	"replaced": {crashes["redrive"].do, []string{hidden + ".letter.json, named", sampleID + ", named"}, 1,
		func(e *Entry) bool { return e.Letter.Redrives == 1 }},
	"removed": {crashes["remove"].do, []string{"."}, 0, func(e *Entry) bool { return e == nil }},
}

// directoryFor is one that holds the sample letter, unless it is to be added.
func directoryFor(t *testing.T, name string) *Dir {
	t.Helper()
	d := openDir(t)
	if name != "added" {
		add(t, d, sample(), Content{Tails: Tails{[]byte("before"), []byte("before")}})
	}
	return d
}

func TestWhatIsWrittenIsSyncedBeforeItHasItsName(t *testing.T) {
	for name, c := range changes {
		t.Run(name, func(t *testing.T) {
			d := directoryFor(t, name)
			syncs := watchSyncs(t, d, 0)
			if err := c.do(d); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(*syncs, c.syncs) {
				t.Errorf("synced %q; want %q", *syncs, c.syncs)
			}
		})
	}
	t.Run("a new directory", func(t *testing.T) {
		d := &Dir{filepath.Join(t.TempDir(), "a", "letters"), patience}
		syncs := watchSyncs(t, d, 1)
		if _, err := Open(d.path, true); !errors.Is(err, errDisk) || !slices.Equal(*syncs, []string{".."}) {
			t.Errorf("synced %q, %v", *syncs, err)
		}
	})
}

// TestASyncThatFailsIsTold: before the change was made it is not made, and after it the error
// is ErrUnsynced. Neither leaves a file behind.
func TestASyncThatFailsIsTold(t *testing.T) {
	for name, c := range changes {
		for n := 1; n <= len(c.syncs); n++ {
			t.Run(name, func(t *testing.T) {
				d := directoryFor(t, name)
				watchSyncs(t, d, n)
				err := c.do(d)
				made := n > c.before
				if name == "joined" && !made { // it keeps a letter of its own
					if all, listed := d.List(); err != nil || listed != nil || len(all) != 2 || c.made(all[0]) ||
						c.made(all[1]) {
						t.Errorf("after sync %d: %v, %v, %v", n, all, err, listed)
					}
					return
				}
				if !errors.Is(err, errDisk) || errors.Is(err, ErrUnsynced) != made {
					t.Errorf("sync %d: %v", n, err)
				}
				says := map[bool]string{false: "letter " + sampleID + " stays as it is",
					true: "letter " + sampleID + " is "}
				if err == nil || !strings.Contains(err.Error(), says[made]) && (name != "added" || made) {
					t.Errorf("sync %d: %v", n, err)
				}
				all, err := d.List()
				var e *Entry
				if len(all) > 0 {
					e = all[0]
				}
				if err != nil || len(all) > 1 || c.made(e) != made || e != nil && !e.Usable() {
					t.Errorf("sync %d: %+v, %v", n, e, err)
				}
				if rest := names(t, d); strings.Contains(" "+rest, " .2") {
					t.Errorf("sync %d leaves %s", n, rest)
				}
			})
		}
	}
}

// TestWhatCannotBeWrittenIsNoLetter: an error on the way to the disk is returned, and nothing is
// left of the letter.
func TestWhatCannotBeWrittenIsNoLetter(t *testing.T) {
	broken := io.MultiReader(strings.NewReader("half"), iotest.ErrReader(errDisk))
	t.Run("an input that cannot be read", func(t *testing.T) {
		d := openDir(t)
		if id, err := d.Add(context.Background(), sample(), Content{Stdin: broken, Tails: Tails{[]byte("out"), nil}},
			false, 10); id != "" || !errors.Is(err, errDisk) {
			t.Errorf("%q, %v", id, err)
		}
		if rest := names(t, d); rest != "" {
			t.Errorf("left: %s", rest)
		}
	})
	t.Run("a letter that is there already", func(t *testing.T) {
		d := openDir(t)
		add(t, d, sample(), Content{Tails: Tails{[]byte("first"), nil}})
		l := sample()
		l.ExitCode = 7
		if id, err := d.Add(context.Background(), l, Content{}, false, 10); id != "" || err == nil ||
			!strings.Contains(err.Error(), "there is a letter "+sampleID+" already") {
			t.Errorf("%q, %v", id, err)
		}
		if e := one(t, d); e.Letter.ExitCode != 3 || string(d.Tails(&e)[0]) != "first" {
			t.Errorf("%+v", e.Letter)
		}
	})
	t.Run("after the end", func(t *testing.T) {
		d := openDir(t)
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(errDisk)
		if id, err := d.Add(ctx, sample(), Content{}, false, 10); id != "" || !errors.Is(err, errDisk) {
			t.Errorf("%q, %v", id, err)
		}
		if rest := names(t, d); rest != ".lock" && rest != "" {
			t.Errorf("left: %s", rest)
		}
	})
	t.Run("a directory that is gone", func(t *testing.T) {
		d := openDir(t)
		if err := os.Remove(d.path); err != nil {
			t.Fatal(err)
		}
		if id, err := d.Add(context.Background(), sample(), Content{}, false, 10); id != "" ||
			!errors.Is(err, os.ErrNotExist) {
			t.Errorf("%q, %v", id, err)
		}
		if all, err := d.List(); err == nil {
			t.Errorf("listed: %v", all)
		}
	})
}

// TestAReplacementThatFailsSaysWhatIsThere: the letter stays as it was, but for the tails that
// came before the one that could not be replaced.
func TestAReplacementThatFailsSaysWhatIsThere(t *testing.T) {
	for name, c := range map[string]struct {
		inTheWay   func(d *Dir) string // a directory that is not empty is made there
		says, tail string
	}{
		"of a new file": {func(d *Dir) string { return d.beside(sampleID, "."+letterFile) },
			"letter " + sampleID + " stays as it is: ", "old"},
		"of the first tail": {func(d *Dir) string { return d.in(sampleID, stdoutTail) },
			"letter " + sampleID + " stays as it is: ", ""},
		"of the second tail": {func(d *Dir) string { return d.in(sampleID, stderrTail) },
			"letter " + sampleID + " stays as it is, but for the last parts of its outputs: ", "new"},
		"of letter.json": {func(d *Dir) string { return d.in(sampleID, letterFile) },
			"letter " + sampleID + " stays as it is, but for the last parts of its outputs: ", "new"},
		"of what is not there": {nil, "", "new"},
	} {
		t.Run(name, func(t *testing.T) {
			d := openDir(t)
			add(t, d, sample(), Content{Tails: Tails{[]byte("old"), []byte("old")}})
			claim, e, err := d.Claim(sampleID)
			if err != nil {
				t.Fatal(err)
			}
			defer claim.Release()
			if c.inTheWay != nil {
				path := c.inTheWay(d)
				_ = os.Remove(path)
				if err := os.MkdirAll(filepath.Join(path, "x"), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			err = claim.Replace(e.Letter, &Tails{[]byte("new"), []byte("new")})
			if c.says == "" {
				if err != nil {
					t.Error(err)
				}
			} else if err == nil || !strings.HasPrefix(err.Error(), c.says) || errors.Is(err, ErrUnsynced) {
				t.Errorf("%v; want %s", err, c.says)
			}
			if tail, _ := os.ReadFile(d.in(sampleID, stdoutTail)); string(tail) != c.tail {
				t.Errorf("the first tail is %q, not %q", tail, c.tail)
			}
			for _, end := range []string{"." + letterFile, "." + stdoutTail, "." + stderrTail} {
				if _, err := os.Lstat(d.beside(sampleID, end)); err == nil {
					t.Errorf("%s is left", end)
				}
			}
		})
	}
}

// TestARemovalThatFailsSaysSo: the letter stays.
func TestARemovalThatFailsSaysSo(t *testing.T) {
	d := openDir(t)
	add(t, d, sample(), Content{})
	claim, _, err := d.Claim(sampleID)
	if err != nil {
		t.Fatal(err)
	}
	defer claim.Release()
	if err := os.MkdirAll(filepath.Join(d.beside(sampleID, goneEnd), "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := claim.Remove(); err == nil || !strings.HasPrefix(err.Error(), "letter "+sampleID+" stays as it is: ") {
		t.Errorf("%v", err)
	}
	if e := d.Read(sampleID); !e.Usable() {
		t.Errorf("%+v", e)
	}
}
