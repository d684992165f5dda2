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

// eachSlot gives visit the slots of a record, which is locked, one after the other, and
// whether each was free; it is locked by now then. visit closes them, and reports
// whether to go on. All slots that were ever held side by side have a file; the first
// that has none ends them, and is number n.
func eachSlot(path string, visit func(slot *lockedfile.File, free bool) (goOn bool)) (n int64, err error) {
	for ; ; n++ {
		slot, err := lockedfile.Open(slotPath(path, n), false)
		if errors.Is(err, fs.ErrNotExist) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		free, err := slot.TryLock()
		if err != nil {
			slot.Close()
			return n, err
		}
		if !visit(slot, free) {
			return n, nil
		}
	}
}

// takeSlot locks a free slot, where fewer than limit are held, and says how many
// that are, and who holds the first of them. The record must be locked, so that
// no other process takes a slot meanwhile.
func takeSlot(path string, limit int64) (free *lockedfile.File, held int64, holder string, err error) {
	n, err := eachSlot(path, func(slot *lockedfile.File, isFree bool) bool {
		switch {
		case !isFree:
			if held++; held == 1 {
				holder = readHolder(slot)
			}
			slot.Close()
		case free == nil:
			free = slot
		default:
			slot.Unlock()
		}
		return held < limit
	})
	if err == nil && free == nil && held < limit {
		free, err = newSlot(slotPath(path, n))
	}
	if free != nil && (err != nil || held >= limit) {
		free.Unlock()
		free = nil
	}
	return free, held, holder, err
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
	_, err = eachSlot(path, func(slot *lockedfile.File, free bool) bool {
		if free {
			slot.Unlock()
		} else {
			held++
			slot.Close()
		}
		return true
	})
	return held, err
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
