package registry

// This file looks at the records of other processes. It takes no lock.

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/retrysh/retry/engine/lockedfile"
)

// What the names of files end in behind a run's id: a record, one that is being
// made, and the mark of a process that wakes the run.
const (
	recordEnd = ".json"
	newEnd    = ".new"
	wakeEnd   = ".wake"
)

// Entry is a record as it was found.
type Entry struct {
	Run
	// Holder is the process that holds its lock, 0 or less where it is in another
	// PID namespace and cannot be seen.
	Holder int
	// Unreadable says that the record is damaged, or of another version.
	Unreadable bool

	path    string
	changed time.Time
}

// Lives reports whether the run's program does.
func (e *Entry) Lives() bool { return e.Status != Lost }

// began is the time that entries are sorted by.
func (e *Entry) began() time.Time {
	if e.StartedAt != nil {
		return e.StartedAt.Time
	}
	return e.changed
}

// Older says which of two runs began first.
func Older(a, b *Entry) int {
	return cmp.Or(a.began().Compare(b.began()), strings.Compare(a.RunID, b.RunID))
}

// List returns all records of the user, the oldest first. Places that cannot be
// used are passed over.
func List(all []Place) []Entry {
	var found []Entry
	for _, p := range all {
		if p.use(false) != nil {
			continue
		}
		files, err := os.ReadDir(p.Path)
		if err != nil {
			continue
		}
		for _, f := range files {
			if id, ok := strings.CutSuffix(f.Name(), recordEnd); !ok || !isRunID(id) {
				continue
			}
			if e, err := look(filepath.Join(p.Path, f.Name())); err == nil {
				found = add(found, e)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b Entry) int { return Older(&a, &b) })
	return found
}

// add adds a record. Of two of one run, one that lives counts.
func add(found []Entry, e Entry) []Entry {
	i := slices.IndexFunc(found, func(other Entry) bool { return other.RunID == e.RunID })
	switch {
	case i < 0:
		return append(found, e)
	case !found[i].Lives():
		found[i] = e
	}
	return found
}

// Remove removes a record that is lost.
func (e *Entry) Remove() {
	if now, err := look(e.path); err == nil && !now.Lives() {
		_ = os.Remove(e.path)
		_ = os.Remove(markOf(e.path))
	}
}

// isRunID reports whether s is a UUID in small letters.
func isRunID(s string) bool {
	const form = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"
	if len(s) != len(form) {
		return false
	}
	for i := range len(s) {
		hex := s[i] >= '0' && s[i] <= '9' || s[i] >= 'a' && s[i] <= 'f'
		if (form[i] == '-') != (s[i] == '-') || form[i] == 'x' && !hex {
			return false
		}
	}
	return true
}

// errNotOurs says that a file is no record.
var errNotOurs = errors.New("is not a regular file of this user")

// look looks at a record. It opens nothing that it might have to wait for. One that
// is gone is fs.ErrNotExist.
func look(path string) (Entry, error) {
	for tries := 0; ; tries++ {
		e, removed, err := lookOnce(path)
		if !removed || tries == 3 {
			return e, err
		}
	}
}

// lookOnce reports also that the file was removed, or replaced, meanwhile.
func lookOnce(path string) (e Entry, removed bool, err error) {
	e = Entry{path: path}
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
	if e.Command == nil {
		e.Command = []string{}
	}
	if e.Attempts == nil {
		e.Attempts = []Attempt{}
	}
	switch {
	case !held:
		e.Status, e.NextAttemptAt, e.NextDelayMS = Lost, nil, nil
	case e.Unreadable:
		e.Status = Running
	}
	if held && e.Holder > 0 {
		e.PID = e.Holder
	}
	return e, false, nil
}

// rereads are how often a record is read that a process is about to change: it may
// write both slots while they are read.
const rereads = 20

func (e *Entry) read(file *lockedfile.File, held bool) bool {
	for range rereads {
		if raw, err := read(file); err == nil && decode(raw, &e.Run) {
			return true
		}
		e.Run = Run{}
		if !held {
			return false
		}
		time.Sleep(time.Millisecond)
	}
	return false
}
