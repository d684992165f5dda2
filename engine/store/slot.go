package store

// This file is slots on a host: a file each, locked by the kernel for as long as
// a process has its descriptor.

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/retrysh/retry/engine/lockedfile"
)

// slotCount is what is known of the slots of a key.
type slotCount struct {
	held   int64            // up to a limit
	holder string           // of the first of them
	free   *lockedfile.File // the first that is free, locked; nil for none
}

// slots counts the held slots up to limit, and says who holds the first of them. With take it
// also locks the first free one, if fewer than limit are held. The caller holds the lock of the
// record, so that no other process takes a slot meanwhile.
func slots(ctx context.Context, dir *lockedfile.Dir, name string, limit int64, take bool) (slotCount, error) {
	var c slotCount
	err := c.count(ctx, dir, name, limit, take)
	if c.free != nil && (err != nil || c.held >= limit) {
		c.free.Unlock()
		c.free = nil
	}
	return c, err
}

// count locks the first free slot even if limit are held. All slots that were ever held side by
// side have a file; the first number without a file ends them.
func (c *slotCount) count(ctx context.Context, dir *lockedfile.Dir, name string, limit int64, take bool) error {
	for n := int64(0); c.held < limit; n++ {
		if ctx.Err() != nil {
			return errTimeout
		}
		slot, err := dir.Open(slotName(name, n), false)
		if errors.Is(err, fs.ErrNotExist) {
			if !take || c.free != nil {
				break
			}
			slot, err = dir.Open(slotName(name, n), true)
		}
		if err != nil {
			return err
		}
		isFree, err := lockSlot(slot)
		switch {
		case err != nil:
			slot.Close()
			return err
		case isFree && take && c.free == nil:
			c.free = slot
		case isFree:
			slot.Unlock()
		default:
			if c.held == 0 {
				c.holder = readHolder(slot)
			}
			c.held++
			slot.Close()
		}
	}
	return nil
}

// lockSlot reports whether a slot was free, and locks it then. What is not a slot's file, such as
// a FIFO or a link to another file, is an error.
func lockSlot(slot *lockedfile.File) (free bool, err error) {
	if _, err := slot.Check(); err != nil {
		return false, fmt.Errorf("a slot's file %w", err)
	}
	return slot.TryLock()
}

// holderSize is what a slot's file says of its holder: more than the longest name of a run, its
// pid, the time and the namespace of the pid take, in UTF-8. The rest is blanks.
const holderSize = 320

// writeHolder says in a slot that is taken which process holds it, and since when; behind a zero
// byte, in which namespace that has its pid. It is for a person: if it cannot be written, no
// holder is shown.
func writeHolder(file *lockedfile.File, name string, at time.Time) {
	text := fmt.Sprintf("%s%s%d) since %s\x00%s", name, pidBegin, os.Getpid(), at.Format(time.DateTime), pidNamespace())
	_, _ = file.WriteAt(fmt.Appendf(nil, "%-*s", holderSize, text)[:holderSize], 0)
}

// readHolder says who holds a slot. After the death of the program what it started may hold it.
func readHolder(file *lockedfile.File) string {
	line := make([]byte, holderSize)
	n, _ := file.ReadAt(line, 0)
	text, namespace, _ := strings.Cut(strings.TrimRight(strings.ToValidUTF8(string(line[:n]), ""), " "), "\x00")
	begin := strings.LastIndex(text, pidBegin)
	if begin < 0 || namespace != pidNamespace() {
		return text
	}
	number, rest, _ := strings.Cut(text[begin+len(pidBegin):], ")")
	pid, err := strconv.Atoi(number)
	if err != nil || lives(pid) {
		return text
	}
	return fmt.Sprintf("what %s%s%d, which is gone) left running,%s", text[:begin], pidBegin, pid, rest)
}

const pidBegin = " (pid "

// pidNamespace identifies the namespace of this process's pid (pid_namespaces(7)), "" on systems
// that have none.
func pidNamespace() string {
	name, _ := os.Readlink("/proc/self/ns/pid")
	return name
}

func slotName(name string, i int64) string { return name + ".slot" + strconv.FormatInt(i, 10) }
