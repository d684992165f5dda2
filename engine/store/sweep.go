package store

// This file removes records that are no longer needed. It runs when a new one
// is made, so that a key that is used once takes space for some days at most.

import (
	"context"
	"strings"
	"time"

	"github.com/retrysh/retry/engine/lockedfile"
)

// sweepMost is how many names are looked at in one go, sweepAge the least time without use.
const sweepMost, sweepAge = 1000, 24 * time.Hour

// sweep removes what is forgotten. What it cannot look at stays.
func (f *File) sweep(dir *lockedfile.Dir) {
	names, _ := dir.Names(sweepMost)
	for _, name := range names {
		if strings.Contains(name, ".") { // a slot, or a damaged record: it goes with its record
			continue
		}
		at, regular, err := dir.Modified(name)
		if err == nil && regular && f.Now()-at.UnixMilli() > sweepAge.Milliseconds() {
			f.remove(dir, name)
		}
	}
}

// remove removes a record that is forgotten, and its slots, unless a process holds one.
// A process that has opened the record meanwhile finds it without a link when it has the
// lock, and opens it again.
func (f *File) remove(dir *lockedfile.Dir, name string) {
	file, err := dir.Open(name, false)
	if err != nil {
		return
	}
	defer file.Unlock()
	if locked, err := file.TryLock(); err != nil || !locked {
		return
	}
	if removed, err := file.Check(); removed || err != nil {
		return
	}
	// The second number of a state is when it was used, the third for how long it matters
	// after that (guard.State.Append).
	var r record
	if r.read(file) != nil || len(r.list) >= 3 && f.Now()-r.list[1] <= r.list[2] {
		return
	}
	if found, err := slots(context.Background(), dir, name, 1, false); found.held > 0 || err != nil {
		return
	}
	for n := int64(0); dir.Remove(slotName(name, n)) == nil; n++ {
	}
	_ = dir.Remove(name + damagedEnd)
	_ = dir.Remove(name)
}
