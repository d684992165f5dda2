package store

// This file is slots on a host: a file each, locked by the kernel for as long as
// a process has its descriptor.

import (
	"errors"
	"io/fs"
	"strconv"

	"github.com/retrysh/retry/engine/lockedfile"
)

// takeSlot locks a free slot, where fewer than limit are held, and says how many
// that are. The record must be locked: whoever counts takes too. All slots that
// were ever held side by side have a file; the first that has none ends them.
func takeSlot(path string, limit int64) (free *lockedfile.File, held int64, err error) {
	for i := int64(0); held < limit; i++ {
		file, err := lockedfile.Open(slotPath(path, i), false)
		if errors.Is(err, fs.ErrNotExist) {
			if free == nil {
				free, err = newSlot(slotPath(path, i))
			} else {
				err = nil
			}
			return free, held, err
		}
		locked := false
		if err == nil {
			locked, err = file.TryLock()
		}
		switch {
		case err != nil:
			if free != nil {
				free.Unlock()
			}
			return nil, 0, err
		case !locked:
			held++
			file.Close()
		case free == nil:
			free = file
		default:
			file.Unlock()
		}
	}
	if free != nil {
		free.Unlock()
	}
	return nil, held, nil
}

// heldSlots counts the slots that are held. The record must be locked.
func heldSlots(path string) (held int64, err error) {
	for i := int64(0); ; i++ {
		file, err := lockedfile.Open(slotPath(path, i), false)
		if errors.Is(err, fs.ErrNotExist) {
			return held, nil
		}
		if err != nil {
			return 0, err
		}
		free, err := file.TryLock()
		switch {
		case err != nil:
			file.Close()
			return 0, err
		case free:
			file.Unlock()
		default:
			held++
			file.Close()
		}
	}
}

func newSlot(path string) (*lockedfile.File, error) {
	file, err := lockedfile.Open(path, true)
	if err != nil {
		return nil, err
	}
	if locked, err := file.TryLock(); err != nil || !locked {
		file.Close()
		return nil, &fs.PathError{Op: "lock", Path: path, Err: errors.Join(err, errHeld)}
	}
	return file, nil
}

var errHeld = errors.New("a new slot is held already")

func slotPath(path string, i int64) string { return path + ".slot" + strconv.FormatInt(i, 10) }
