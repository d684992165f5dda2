package store

// This file counts how often another store failed, in the store of the host: a
// store that is down then costs its time limit three times, not each time.

import (
	"context"
	"path/filepath"

	"github.com/retrysh/retry/engine/lockedfile"
)

const (
	// enoughFailures in a row and the store is left alone for pause, in
	// milliseconds. Then one failure more is enough.
	enoughFailures = 3
	pause          = 30_000
)

// healthVersion is that of the list: version, failures in a row, time of the last.
const healthVersion = 1

// healthPrefix begins no record of a key: those end in a hash alone.
const healthPrefix = "_store-"

// LeaveAlone reports whether the store of a name failed too often lately.
func (f *File) LeaveAlone(name string) bool {
	failures, last := f.health(name)
	gone := f.Now() - last
	return failures >= enoughFailures && 0 <= gone && gone < pause
}

// health takes no lock: a record that is just being written reads as the one before.
func (f *File) health(name string) (failures, last int64) {
	file, err := lockedfile.Open(f.healthPath(name), false)
	if err != nil {
		return 0, 0
	}
	defer file.Close()
	var r record
	if r.read(file) != nil {
		return 0, 0
	}
	return r.health()
}

func (r *record) health() (failures, last int64) {
	if len(r.list) != 3 || r.list[0] != healthVersion {
		return 0, 0
	}
	return r.list[1], r.list[2]
}

// Failed counts a failure of the store of a name.
func (f *File) Failed(ctx context.Context, name string) error {
	return f.update(ctx, f.healthPath(name), name, func(r *record) error {
		failures, _ := r.health()
		r.list = append(r.list[:0], healthVersion, min(failures+1, enoughFailures), f.Now())
		return nil
	})
}

// Succeeded forgets the failures of the store of a name.
func (f *File) Succeeded(ctx context.Context, name string) error {
	if failures, _ := f.health(name); failures == 0 {
		return nil
	}
	return f.update(ctx, f.healthPath(name), name, func(r *record) error {
		r.list = append(r.list[:0], healthVersion, 0, 0)
		return nil
	})
}

func (f *File) healthPath(name string) string { return filepath.Join(f.dir, healthPrefix+hash(name)) }
