package store

// This file is slots on a host: a file each, locked by the kernel for as long as
// a process has its descriptor.

import (
	"errors"
	"io/fs"
	"strconv"
	"strings"

	"github.com/retrysh/retry/engine/lockedfile"
)

// takeSlot locks a free slot, where fewer than limit are held, and says how many
// that are, and who holds the first of them. The record must be locked, so that
// no other process takes a slot meanwhile. All slots that were ever held side by side have a file; the
// first that has none ends them.
func takeSlot(path string, limit int64) (free *lockedfile.File, held int64, holder string, err error) {
	for i := int64(0); held < limit; i++ {
		file, err := lockedfile.Open(slotPath(path, i), false)
		if errors.Is(err, fs.ErrNotExist) {
			if free == nil {
				free, err = newSlot(slotPath(path, i))
			} else {
				err = nil
			}
			return free, held, holder, err
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
			return nil, 0, "", err
		case !locked:
			if held++; held == 1 {
				holder = readHolder(file)
			}
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
	return nil, held, holder, nil
}

// holderSize is what a slot's file says of its holder: more than the longest name of
// a run, its pid and the time take, in UTF-8. The rest is blanks.
const holderSize = 320

// writeHolder says in a slot that is taken who holds it. It is for a person: where it
// cannot be written, no holder is shown.
func writeHolder(file *lockedfile.File, holder string) {
	line := make([]byte, holderSize)
	n := copy(line, holder)
	for i := n; i < holderSize; i++ {
		line[i] = ' '
	}
	_, _ = file.WriteAt(line, 0)
}

func readHolder(file *lockedfile.File) string {
	line := make([]byte, holderSize)
	n, _ := file.ReadAt(line, 0)
	return strings.TrimRight(strings.ToValidUTF8(string(line[:n]), ""), " ")
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
