package store

// This file is the store in files: one record of fixed size for each key, locked
// by flock, which the kernel frees when a process dies.

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/retrysh/retry/engine/guard"
	"github.com/retrysh/retry/engine/lockedfile"
)

// File is a store in a directory.
type File struct {
	dir string
	// Now is the time in milliseconds since the Unix epoch.
	Now func() int64
	// Warn is given one line about what is wrong but stops nothing. It is called
	// while no record is locked.
	Warn func(line string)
	// Holder is written into each slot that is taken, and shown to runs that find none free.
	Holder string
	// Err is why the store cannot be used at all, nil where it can.
	Err     error
	checked atomic.Bool // the directory
}

// NewFile is the store of a host in a directory, which holds one folder for each
// host. It touches nothing yet.
func NewFile(dir, host string) *File {
	return &File{
		dir:  filepath.Join(dir, safe(host, 64)),
		Now:  func() int64 { return time.Now().UnixMilli() },
		Warn: func(string) {},
	}
}

// Do answers a request in one transaction. Where it takes a slot, that comes as
// a Lock.
func (f *File) Do(ctx context.Context, key string, g *guard.Guards, r *guard.Request) (answer guard.Answer, lock guard.Lock, err error) {
	var slot *lockedfile.File
	path := f.path(key)
	if r.Op == guard.Reset {
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			return answer, nil, nil
		}
	}
	err = f.update(ctx, path, key, func(rec *record) (err error) {
		var state guard.State
		if len(rec.list) > 0 {
			if state, err = guard.Read(rec.list); err != nil {
				rec.quarantine(path)
			}
		}
		request, holder := *r, ""
		if r.Slot && (r.Op == guard.Admit || r.Op == guard.AdmitCopy) {
			if slot, request.Held, holder, err = slots(path, g.Slots.N, true); err != nil {
				return err
			}
		}
		answer = guard.Do(g, &state, &request, f.Now())
		switch {
		case answer.Refusal.Guard == guard.KindSlots:
			answer.Refusal.Holder = holder
		case answer.Pass.Slot:
			writeHolder(slot, f.Holder+" since "+time.UnixMilli(f.Now()).Format(time.DateTime))
		}
		rec.list = state.Append(rec.list[:0])
		return nil
	})
	switch {
	case slot == nil:
	case err == nil && answer.Pass.Slot:
		lock = slot
	default:
		slot.Unlock()
	}
	return answer, lock, err
}

// Look returns what is known of a key, nil where nothing is. It holds the lock of the
// record while it counts slots: a run takes one under that lock only, and so never
// meets the look of another process at it.
func (f *File) Look(ctx context.Context, key string) (*guard.Snapshot, error) {
	path := f.path(key)
	file, err := f.lock(ctx, path, false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Unlock()
	var rec record
	if err := rec.read(file); err != nil || len(rec.list) == 0 && !rec.damaged {
		return nil, err
	}
	known := &guard.Snapshot{Now: f.Now()}
	if known.State, err = guard.Read(rec.list); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if _, known.Held, _, err = slots(path, math.MaxInt64, false); err != nil || known.Forgotten() && known.Held == 0 {
		return nil, err
	}
	return known, nil
}

// path is where the record of a key is: the key as far as a file name can hold
// it, so that a person finds it, and its hash.
func (f *File) path(key string) string {
	return f.dir + string(filepath.Separator) + safe(key, 32) + "-" + hash(key)
}

// safe keeps of a text what is safe in a file name.
func safe(text string, most int) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '_'
	}, text)
	return name[:min(len(name), most)]
}

// hash is FNV-1a in 128 bits: it distinguishes names and is no protection.
func hash(text string) string {
	h := fnv.New128a()
	_, _ = h.Write([]byte(text))
	return hex.EncodeToString(h.Sum(nil))
}

// update reads a record under its lock, and writes what change makes of it. Behind a
// new record stands the name of its key, by which a person finds it.
func (f *File) update(ctx context.Context, path, name string, change func(*record) error) error {
	file, err := f.lock(ctx, path, true)
	if err != nil {
		return err
	}
	rec := records.Get().(*record)
	defer records.Put(rec)
	rec.aside = ""
	err = rec.read(file)
	if err == nil && rec.damaged {
		rec.quarantine(path)
	}
	if err == nil {
		err = change(rec)
	}
	if err == nil {
		err = rec.write(file, name)
	}
	file.Unlock()
	if rec.aside != "" {
		f.Warn(rec.aside)
	}
	if err == nil && rec.size == 0 {
		f.sweep()
	}
	return err
}

// lock opens a record and locks it. Where create says so it makes it and its
// directory. It tries until ctx is done.
func (f *File) lock(ctx context.Context, path string, create bool) (*lockedfile.File, error) {
	if err := f.checkDir(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	file, err := lockedfile.OpenLocked(ctx, path, create)
	if create && errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(f.dir, 0o700); err == nil {
			err = f.checkDir()
		}
		if err == nil {
			file, err = lockedfile.OpenLocked(ctx, path, create)
		}
	}
	if errors.Is(err, lockedfile.ErrHeld) {
		err = fmt.Errorf("%w: %w", errTimeout, err)
	}
	if err != nil && !errors.As(err, new(*fs.PathError)) {
		err = &fs.PathError{Op: "lock", Path: path, Err: err}
	}
	return file, err
}

// checkDir refuses the directory of another user, and one that all may write. It looks
// once.
func (f *File) checkDir() error {
	if f.Err != nil || f.checked.Load() {
		return f.Err
	}
	err := lockedfile.CheckDir(f.dir)
	f.checked.Store(err == nil)
	return err
}
