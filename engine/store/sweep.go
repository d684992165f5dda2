package store

// This file removes records that are no longer needed. It runs where a new one
// is made, so that a key that is used once takes space for some days at most.

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/retrysh/retry/engine/lockedfile"
)

// sweepMost is how many names are looked at in one go, sweepAge the least time without use.
const sweepMost, sweepAge = 1000, 24 * time.Hour

// sweep removes what is forgotten. What it cannot look at stays.
func (f *File) sweep() {
	dir, err := os.Open(f.dir)
	if err != nil {
		return
	}
	names, _ := dir.Readdirnames(sweepMost)
	_ = dir.Close()
	for _, name := range names {
		path := filepath.Join(f.dir, name)
		if strings.Contains(name, ".") { // a slot, or a damaged record: it goes with its record
			continue
		}
		info, err := os.Lstat(path)
		if err == nil && info.Mode().IsRegular() && f.Now()-info.ModTime().UnixMilli() > sweepAge.Milliseconds() {
			f.remove(path)
		}
	}
}

// remove removes a record that is forgotten, and its slots, unless a process holds one.
// A process that has opened the record meanwhile finds it without a link when it has the
// lock, and opens it again.
func (f *File) remove(path string) {
	file, err := lockedfile.Open(path, false)
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
	if _, held, _, err := slots(path, 1, false); held > 0 || err != nil {
		return
	}
	for n := int64(0); os.Remove(slotPath(path, n)) == nil; n++ {
	}
	_ = os.Remove(path + ".damaged")
	_ = os.Remove(path)
}
