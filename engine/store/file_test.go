package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/retrysh/retry/engine/guard"
	"github.com/retrysh/retry/engine/lockedfile"
)

// soon is a context that ends before a test does.
func soon(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func newFile(t *testing.T) (*File, *[]string) {
	t.Helper()
	f := NewFile(filepath.Join(t.TempDir(), "state"), "build.host")
	var warnings []string
	f.Warn = func(line string) { warnings = append(warnings, line) }
	return f, &warnings
}

// do makes a request that must not fail.
func do(t *testing.T, f *File, g *guard.Guards, r guard.Request) (guard.Answer, guard.Lock) {
	t.Helper()
	a, lock, err := f.Do(soon(t), "npm: the registry", g, &r)
	if err != nil {
		t.Fatal(err)
	}
	return a, lock
}

var (
	budget  = &guard.Guards{Budget: guard.Budget{On: true, Min: 1 << 20, Window: 3_600_000}}
	breaker = &guard.Guards{Breaker: guard.Breaker{Row: 1, Open: 5000, Probes: 1}}
	run     = guard.Request{Op: guard.Admit, Attempt: 1}
	retry   = guard.Request{Op: guard.Permit, Attempt: 2}
)

// refusal is that of a budget that is used up, with what it has counted.
func refusal(t *testing.T, f *File) guard.Refusal {
	t.Helper()
	a, _ := do(t, f, &guard.Guards{Budget: guard.Budget{On: true, Window: budget.Budget.Window}}, retry)
	return a.Refusal
}

func TestNoUpdateIsLost(t *testing.T) {
	f, _ := newFile(t)
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for range 200 {
				if _, _, err := f.Do(soon(t), "npm: the registry", budget, &retry); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if got := refusal(t, f).Retries; got != 3200 {
		t.Errorf("%d retries counted, not 3200", got)
	}
}

func TestARecordLiesInAFolderOfTheHostWithTheKeysName(t *testing.T) {
	f, _ := newFile(t)
	do(t, f, budget, run)
	files, err := filepath.Glob(filepath.Join(f.dir, "*"))
	if err != nil || len(files) != 1 || !strings.Contains(files[0], filepath.Join("build_host", "npm__the_registry-")) {
		t.Fatalf("%v, %v", files, err)
	}
	for path, want := range map[string]os.FileMode{files[0]: 0o600, f.dir: 0o700 | os.ModeDir,
		filepath.Dir(f.dir): 0o700 | os.ModeDir} {
		if info, err := os.Stat(path); err != nil || info.Mode() != want && os.PathSeparator == '/' {
			t.Errorf("%s: %v, not %v", path, info.Mode(), want)
		}
	}
	if raw, err := os.ReadFile(files[0]); err != nil || string(raw[recordSize:]) != "npm: the registry" {
		t.Errorf("%q, %v", raw[recordSize:], err)
	}
}

func TestADamagedRecordIsSetAside(t *testing.T) {
	for name, damage := range map[string]func([]byte) []byte{
		"both slots": func(b []byte) []byte {
			b[lockedfile.HeadSize] ^= 1
			b[slotSize+lockedfile.HeadSize] ^= 1
			return b
		},
		"cut short": func(b []byte) []byte { return b[:lockedfile.HeadSize+3] },
		"text":      func([]byte) []byte { return []byte("not a record\n") },
		"a later format of the state": func(b []byte) []byte {
			r := record{list: []int64{99, 1, 2}}
			out := make(bytesFile, recordSize)
			_ = r.write(out, "")
			return out
		},
	} {
		t.Run(name, func(t *testing.T) {
			f, warnings := newFile(t)
			do(t, f, budget, run)
			do(t, f, budget, run)
			path := f.path("npm: the registry")
			raw, _ := os.ReadFile(path)
			raw = damage(raw)
			if err := os.WriteFile(path, raw, 0o600); err != nil {
				t.Fatal(err)
			}
			if got := refusal(t, f).Runs; got != 0 {
				t.Errorf("%d runs counted in a new record", got)
			}
			if len(*warnings) != 1 || !strings.Contains((*warnings)[0], path) {
				t.Errorf("warnings %q", *warnings)
			}
			if kept, err := os.ReadFile(path + ".damaged"); err != nil ||
				string(kept) != string(raw[:min(len(raw), recordSize)]) {
				t.Errorf("the copy: %d bytes, %v", len(kept), err)
			}
			do(t, f, budget, run)
			if got := refusal(t, f).Runs; got != 1 || len(*warnings) != 1 {
				t.Errorf("then %d runs, warnings %q", got, *warnings)
			}
		})
	}
}

// bytesFile is a file in memory.
type bytesFile []byte

func (b bytesFile) ReadAt(p []byte, offset int64) (int, error)  { return copy(p, b[offset:]), nil }
func (b bytesFile) WriteAt(p []byte, offset int64) (int, error) { return copy(b[offset:], p), nil }

// TestATornWriteLeavesTheRecordBefore cuts the last write at each of its bytes.
func TestATornWriteLeavesTheRecordBefore(t *testing.T) {
	file := make(bytesFile, recordSize)
	for i := range int64(3) {
		var r record
		if err := r.read(file); err != nil || r.damaged {
			t.Fatal(err, r.damaged)
		}
		r.list = []int64{i, 1000 + i}
		if err := r.write(file, ""); err != nil {
			t.Fatal(err)
		}
	}
	for cut := 8; cut < lockedfile.HeadSize+2; cut++ { // the magic is always there
		torn := append(bytesFile{}, file...)
		var r record
		_ = r.read(torn)
		r.list = []int64{77, 123456}
		after := append(bytesFile{}, torn...)
		_ = r.write(after, "")
		at := r.slot * slotSize
		copy(torn[at:], after[at:at+cut])
		var back record
		if err := back.read(torn); err != nil || back.damaged || back.list[0] != 2 {
			t.Fatalf("cut after %d bytes: %v, %+v", cut, err, back.list)
		}
	}
}

func TestTheGreatestStateFitsIntoARecord(t *testing.T) {
	const most, now = guard.MaxID, 1 << 42
	full := guard.Window{Width: 365 * 24 * 60 * 60 * 1000, Used: now, Newest: now}
	for i := range full.Counts {
		full.Counts[i] = [2]int64{400_000_000, 400_000_000}
	}
	windows := []guard.Window{full, full, full}
	state := guard.State{
		Used: most, Keep: most, Bucket: guard.Bucket{Missing: 1e15, Stamp: now},
		Turns:  guard.Turns{Free: most, Reserved: most},
		Forgot: most, Budget: windows, Recent: make([]int64, 100),
		Breaker: guard.BreakerState{
			Circuit: guard.HalfOpen, Generation: most, Opened: most, Openings: most, Failures: most, Outcomes: most,
			Row:       most,
			Successes: most, Probes: make([]guard.Lease, 64), Windows: windows,
		},
	}
	for i := range state.Breaker.Probes {
		state.Breaker.Probes[i] = guard.Lease{ID: most, Until: now}
	}
	list := state.Append(nil)
	if _, err := guard.Read(list); err != nil {
		t.Fatal(err)
	}
	if err := (&record{list: list}).write(make(bytesFile, recordSize), ""); err != nil {
		t.Fatal(err)
	}
}

func TestALockThatIsHeldIsAFailureInTime(t *testing.T) {
	f, _ := newFile(t)
	do(t, f, budget, run)
	dir := must(f.open(true))
	defer dir.Close()
	holder, err := f.lock(soon(t), dir, "npm: the registry", true)
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Unlock()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, _, err = f.Do(ctx, "npm: the registry", budget, &run)
	if !errors.Is(err, errTimeout) || !strings.Contains(err.Error(), f.path("npm: the registry")) {
		t.Errorf("%v", err)
	}
}

// TestAClockThatJumpsWedgesNothing opens a breaker for 5 s by a clock that is an
// hour ahead, and then goes back.
func TestAClockThatJumpsWedgesNothing(t *testing.T) {
	f, _ := newFile(t)
	now := time.Now().UnixMilli() + 3_600_000
	f.Now = func() int64 { return now }
	a, _ := do(t, f, breaker, guard.Request{Op: guard.Admit, Attempt: 1, ID: 1})
	do(t, f, breaker, guard.Request{Op: guard.Report, Pass: a.Pass, Outcome: guard.Failure})
	now -= 3_600_000
	a, _ = do(t, f, breaker, guard.Request{Op: guard.Admit, Attempt: 1, ID: 2})
	if a.Refusal.Guard != guard.KindBreaker || a.Refusal.RetryIn != 5000 {
		t.Errorf("after the jump: %+v", a.Refusal)
	}
	now += 5000
	if a, _ = do(t, f, breaker, guard.Request{Op: guard.Admit, Attempt: 1, ID: 2}); !a.Pass.Place {
		t.Errorf("5 s later: %+v", a)
	}
}

func TestSlotsAreOnePool(t *testing.T) {
	f, _ := newFile(t)
	take := func(n int64) guard.Lock {
		a, lock := do(t, f, &guard.Guards{Slots: guard.Slots{N: n}},
			guard.Request{Op: guard.Admit, Attempt: 1, Slot: true})
		if (lock == nil) != (a.Refusal.Guard == guard.KindSlots) {
			t.Fatalf("lock %v, %+v", lock, a)
		}
		return lock
	}
	a, b, c := take(3), take(3), take(3)
	if a == nil || b == nil || c == nil || take(3) != nil || take(2) != nil {
		t.Fatal("not three")
	}
	a.Unlock()
	if take(2) != nil {
		t.Error("2 are held, and a call with 2 got one")
	}
	if take(3) == nil {
		t.Error("2 are held, and a call with 3 got none")
	}
	b.Unlock()
	c.Unlock()
	if take(2) == nil {
		t.Error("1 is held, and a call with 2 got none")
	}
}

func TestARefusalByTheBreakerGivesTheSlotBack(t *testing.T) {
	f, _ := newFile(t)
	g := &guard.Guards{Breaker: breaker.Breaker, Slots: guard.Slots{N: 1}}
	a, lock := do(t, f, g, guard.Request{Op: guard.Admit, Attempt: 1, ID: 1, Slot: true})
	do(t, f, g, guard.Request{Op: guard.Report, Pass: a.Pass, Outcome: guard.Failure})
	lock.Unlock()
	if a, lock := do(t, f, g, guard.Request{Op: guard.Admit, Attempt: 1, ID: 1,
		Slot: true}); a.Refusal.Guard != guard.KindBreaker || lock != nil {
		t.Errorf("%+v, %v", a, lock)
	}
	if _, lock := do(t, f, &guard.Guards{Slots: g.Slots},
		guard.Request{Op: guard.Admit, Attempt: 1, ID: 1, Slot: true}); lock == nil {
		t.Error("the slot is still held")
	}
}

func TestForgottenRecordsAreRemoved(t *testing.T) {
	f, _ := newFile(t)
	now := time.Now().UnixMilli()
	f.Now = func() int64 { return now }
	slots := &guard.Guards{Slots: guard.Slots{N: 2}}
	use := func(key string) guard.Lock {
		_, lock, err := f.Do(soon(t), key, slots, &guard.Request{Op: guard.Admit, Attempt: 1, Slot: true})
		if err != nil {
			t.Fatal(err)
		}
		return lock
	}
	use("free").Unlock()
	held := use("held")
	defer held.Unlock()
	now += 25 * 60 * 60 * 1000
	use("new").Unlock()
	var names []string
	for _, path := range must(filepath.Glob(filepath.Join(f.dir, "*"))) {
		names = append(names, filepath.Base(path)[:4])
	}
	if got := strings.Join(names, " "); got != "held held new- new-" {
		t.Errorf("files %s", got)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func FuzzRecord(f *testing.F) {
	out := make(bytesFile, recordSize)
	_ = (&record{list: []int64{1, 2, 3}}).write(out, "")
	f.Add([]byte(out))
	f.Add([]byte("retry g2"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		file := make(bytesFile, recordSize)
		copy(file, raw)
		var r record
		if err := r.read(file); err != nil {
			t.Fatal(err)
		}
		r.list = append(r.list[:0], 7)
		if err := r.write(file, ""); err != nil {
			t.Fatal(err)
		}
		var back record
		if _ = back.read(file); r.sequence < 1<<64-1 && (back.list == nil || back.list[0] != 7) ||
			back.sequence != r.sequence+1 && r.sequence != 1<<64-1 {
			t.Errorf("%+v after %+v", back, r)
		}
	})
}
