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
	dir string // the folder of the host
	// base is the directory that dir is in; sharing is who shares it, nil before it was looked at.
	base    string
	sharing atomic.Pointer[lockedfile.Sharing]
	// Now is the time in milliseconds since the Unix epoch.
	Now func() int64
	// Warn is given one line about what is wrong but stops nothing. It is called
	// while no record is locked.
	Warn func(line string)
	// Holder is the name of the run. It is written into each slot that is taken, with the process
	// and the time, and shown to runs that find none free.
	Holder string
	// Err is why the store cannot be used at all, nil if it can.
	Err error
}

// NewFile is the store of a host in a directory, which holds one folder for each
// host. It touches nothing yet.
func NewFile(dir, host string) *File {
	return &File{
		base: dir,
		dir:  filepath.Join(dir, safe(host, 64)),
		Now:  func() int64 { return time.Now().UnixMilli() },
		Warn: func(string) {},
	}
}

// Do answers a request in one transaction. If it takes a slot, that comes as a Lock.
func (f *File) Do(
	ctx context.Context, key string, g *guard.Guards, r *guard.Request,
) (answer guard.Answer, lock guard.Lock, err error) {
	create := r.Op != guard.Reset
	dir, err := f.open(create)
	if !create && errors.Is(err, fs.ErrNotExist) {
		return answer, nil, nil
	}
	if err != nil {
		return answer, nil, err
	}
	defer dir.Close()
	file, err := f.lock(ctx, dir, key, create)
	if !create && errors.Is(err, fs.ErrNotExist) {
		return answer, nil, nil
	}
	if err != nil {
		return answer, nil, err
	}
	var slot *lockedfile.File
	err = f.update(dir, file, key, func(rec *record) (err error) {
		answer, slot, err = f.decide(ctx, dir, key, g, r, rec)
		return err
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

// decide makes a request of a record that is locked. The slot is locked even if the request does
// not take it.
func (f *File) decide(
	ctx context.Context, dir *lockedfile.Dir, key string, g *guard.Guards, r *guard.Request, rec *record,
) (answer guard.Answer, slot *lockedfile.File, err error) {
	name := recordName(key)
	var state guard.State
	if len(rec.list) > 0 {
		if state, err = guard.Read(rec.list); err != nil {
			rec.quarantine(dir, name, f.path(key))
		}
	}
	request := *r
	var found slotCount
	if r.Slot && (r.Op == guard.Admit || r.Op == guard.AdmitCopy) {
		found, err = slots(ctx, dir, name, g.Slots.N, true)
		if err != nil {
			return answer, nil, err
		}
		request.Held = found.held
	}
	answer = guard.Do(g, &state, &request, f.Now())
	switch {
	case answer.Refusal.Guard == guard.KindSlots:
		answer.Refusal.Holder = found.holder
	case answer.Pass.Slot:
		writeHolder(found.free, f.Holder, time.UnixMilli(f.Now()))
	}
	rec.list = state.Append(rec.list[:0])
	return answer, found.free, nil
}

// Look returns what is known of a key, nil if nothing is. It holds the lock of the
// record while it counts slots: a run takes one under that lock only, and so never
// meets the look of another process at it.
func (f *File) Look(ctx context.Context, key string) (*guard.Snapshot, error) {
	dir, err := f.open(false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	file, err := f.lock(ctx, dir, key, false)
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
		return nil, fmt.Errorf("%s: %w", f.path(key), err)
	}
	found, err := slots(ctx, dir, recordName(key), math.MaxInt64, false)
	known.Held = found.held
	if err != nil || known.Forgotten() && known.Held == 0 {
		return nil, err
	}
	return known, nil
}

func (f *File) path(key string) string { return filepath.Join(f.dir, recordName(key)) }

// recordName is the name of a record: the key as far as a file name can hold it, so that a
// person finds it, and its hash.
func recordName(key string) string { return safe(key, 32) + "-" + hash(key) }

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

// update reads a record that is locked, writes what change makes of it, and unlocks it. Behind
// a new record stands its key, by which a person finds it.
func (f *File) update(dir *lockedfile.Dir, file *lockedfile.File, key string, change func(*record) error) error {
	rec := records.Get().(*record)
	defer records.Put(rec)
	rec.aside = ""
	err := rec.read(file)
	if err == nil && rec.damaged {
		rec.quarantine(dir, recordName(key), f.path(key))
	}
	if err == nil {
		err = change(rec)
	}
	if err == nil {
		err = rec.write(file, key)
	}
	file.Unlock()
	if rec.aside != "" {
		f.Warn(rec.aside)
	}
	if err == nil && rec.size == 0 {
		f.sweep(dir)
	}
	return err
}

// lock opens a record and locks it. It tries until ctx is done.
func (f *File) lock(ctx context.Context, dir *lockedfile.Dir, key string, create bool) (*lockedfile.File, error) {
	file, err := dir.OpenLocked(ctx, recordName(key), create)
	if errors.Is(err, lockedfile.ErrHeld) {
		err = fmt.Errorf("%w: %w", errTimeout, err)
	}
	if err != nil && !errors.As(err, new(*fs.PathError)) {
		err = &fs.PathError{Op: "lock", Path: f.path(key), Err: err}
	}
	return file, err
}

// open opens the folder of the host. It looks once at who shares the directory above.
func (f *File) open(create bool) (*lockedfile.Dir, error) {
	if f.Err != nil {
		return nil, f.Err
	}
	sharing := f.sharing.Load()
	if sharing == nil {
		looked, err := lockedfile.SharingOf(f.base)
		if create && errors.Is(err, fs.ErrNotExist) {
			if err = os.MkdirAll(f.base, 0o700); err == nil {
				looked, err = lockedfile.SharingOf(f.base)
			}
		}
		if err != nil {
			return nil, err
		}
		sharing = &looked
		f.sharing.Store(sharing)
	}
	dir, err := lockedfile.OpenDir(f.dir, *sharing, create)
	if create && errors.Is(err, fs.ErrNotExist) { // the directory above was removed meanwhile
		if err = os.MkdirAll(f.base, 0o700); err == nil {
			dir, err = lockedfile.OpenDir(f.dir, *sharing, create)
		}
	}
	return dir, err
}
