package registry

// This file reads the records of other processes. It takes no lock.

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/retrysh/retry/engine/lockedfile"
)

// The ends of file names, behind a run's id.
const (
	recordEnd = ".json"
	newEnd    = ".new"    // a record that is being made
	wakeEnd   = ".wake"   // the mark of a process that wakes the run
	cancelEnd = ".cancel" // that of one that cancels it
)

// Entry is a record as it was found.
type Entry struct {
	Run
	Holder     int  // of its lock, 0 or less for a process in another PID namespace
	Unreadable bool // it is damaged, or of another version

	path    string
	changed time.Time
}

func (e *Entry) Lives() bool { return e.Status != Lost }

// Older orders runs by their start.
func Older(a, b *Entry) int {
	return cmp.Or(a.began().Compare(b.began()), strings.Compare(a.RunID, b.RunID))
}

func (e *Entry) began() time.Time {
	if e.StartedAt != nil {
		return e.StartedAt.Time
	}
	return e.changed
}

// List returns all records of the user, the oldest first. Places that cannot be
// used are ignored. Of two records of one run, one that lives counts.
func List(all []Place) []*Entry {
	found := map[string]*Entry{}
	for _, p := range all {
		if p.use(false) != nil {
			continue
		}
		files, _ := os.ReadDir(p.Path)
		for _, f := range files {
			if id, ok := strings.CutSuffix(f.Name(), recordEnd); !ok || !isRunID(id) {
				continue
			}
			e, err := look(filepath.Join(p.Path, f.Name()))
			if other := found[e.RunID]; err == nil && (other == nil || !other.Lives()) {
				found[e.RunID] = &e
			}
		}
	}
	return slices.SortedFunc(maps.Values(found), Older)
}

// Remove removes a record that is lost.
func (e *Entry) Remove() {
	if now, err := look(e.path); err == nil && !now.Lives() {
		_ = os.Remove(e.path)
		_ = os.Remove(markOf(e.path))
		_ = os.Remove(cancelOf(e.path))
	}
}

// isRunID reports whether s is a UUID in lower case.
func isRunID(s string) bool {
	zeros := strings.Map(func(r rune) rune {
		if strings.ContainsRune("0123456789abcdef", r) {
			return '0'
		}
		return r
	}, s)
	return zeros == "00000000-0000-0000-0000-000000000000"
}

var errNotOurs = errors.New("is not a regular file of this user")

// look reads a record. It opens no file that it might have to wait for. If there is no
// record, the error is fs.ErrNotExist.
func look(path string) (e Entry, err error) {
	removed := true
	for tries := 0; removed && tries < 4; tries++ {
		e, removed, err = lookOnce(path)
	}
	return e, err
}

// lookOnce reports also that the file was removed, or replaced, meanwhile.
func lookOnce(path string) (e Entry, removed bool, err error) {
	e = Entry{path: path, Run: Run{Command: []string{}, Attempts: []Attempt{}}}
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return e, false, err
	case !info.Mode().IsRegular() || lockedfile.OwnedBy(info, os.Geteuid()) != nil:
		return e, false, errNotOurs
	}
	e.changed = info.ModTime()
	held := false
	file, err := lockedfile.View(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return e, false, err
	case err != nil: // a run makes its record such that it can be opened
		e.Unreadable = true
	default:
		defer file.Close()
		if e.Holder, held, err = file.Holder(); err != nil {
			return e, false, err
		}
		e.Unreadable = !e.read(file, held)
		// A run removes its record before it ends: one that is there without a lock
		// is lost.
		if removed, _ := file.Check(); removed {
			return e, true, fs.ErrNotExist
		}
	}
	e.RunID = strings.TrimSuffix(filepath.Base(path), recordEnd)
	switch {
	case !held:
		e.Status = Lost
		e.NextAttemptAt, e.NextDelayMS = nil, nil // no attempt follows
	case e.Unreadable:
		e.Status = Running
	}
	if held && e.Holder > 0 {
		e.PID = e.Holder
	}
	return e, false, nil
}

const (
	// largestRecord is how much of a file is read.
	largestRecord = 2*slotSize + 1<<20
	// rereads is how often a record with a lock is read: its process may write both
	// slots meanwhile.
	rereads = 20
)

// read reads the file of the entry, and reports whether it could.
func (e *Entry) read(file *lockedfile.File, held bool) bool {
	for range rereads {
		run := e.Run
		raw, err := io.ReadAll(io.NewSectionReader(file, 0, largestRecord))
		if err == nil && decode(raw, &run) {
			e.Run = run
			return true
		}
		if !held {
			break
		}
		time.Sleep(time.Millisecond)
	}
	return false
}

// decode reads a record, and reports whether one of its slots is whole and the rest
// can be read.
func decode(raw []byte, run *Run) bool {
	if len(raw) < 2*slotSize {
		return false
	}
	state, _, _, ok := lockedfile.Latest(raw[:2*slotSize], magic)
	return ok && json.Unmarshal(raw[2*slotSize:], run) == nil && json.Unmarshal(state, run) == nil
}
