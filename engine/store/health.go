package store

// This file counts how often another store failed, in the store of the host: a
// store that is down then costs its time limit three times, not each time.

import (
	"context"
	"path/filepath"

	"github.com/retrysh/retry/engine/lockedfile"
)

// After enoughFailures in a row the store is left alone for pause, in milliseconds. Then
// one failure more is enough.
const enoughFailures, pause = 3, 30_000

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
	var r record
	if file, err := lockedfile.Open(f.healthPath(name), false); err == nil {
		defer file.Close()
		_ = r.read(file)
	}
	return r.health()
}

func (r *record) health() (failures, last int64) {
	if len(r.list) != 3 || r.list[0] != healthVersion {
		return 0, 0
	}
	return r.list[1], r.list[2]
}

// Count counts a failure of the store of a name, or a success, which forgets those before
// it. What cannot be counted has no effect.
func (f *File) Count(ctx context.Context, name string, failed bool) {
	if failures, _ := f.health(name); failures == 0 && !failed {
		return
	}
	_ = f.update(ctx, f.healthPath(name), name, func(r *record) error {
		failures, _ := r.health()
		if r.list = append(r.list[:0], healthVersion, 0, 0); failed {
			r.list[1], r.list[2] = min(failures+1, enoughFailures), f.Now()
		}
		return nil
	})
}

func (f *File) healthPath(name string) string { return filepath.Join(f.dir, healthPrefix+hash(name)) }
