package store

// This file is the format of a record: 8192 bytes in two slots (package lockedfile),
// whose payload is a list of integers as uvarints, and behind them the name of its
// key. The kernel copies a write page by page, and a slot lies within one page.

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"sync"

	"github.com/retrysh/retry/engine/lockedfile"
)

const slotSize, recordSize = 4096, 2 * 4096

var magic = lockedfile.Magic{'r', 'e', 't', 'r', 'y', ' ', 'g', '2'}

// record is a record as it was read, and what is to be written.
type record struct {
	buffer   [recordSize]byte
	size     int     // of what was read
	list     []int64 // empty for a record that was never written
	sequence uint64
	slot     int // that is written next
	damaged  bool
	aside    string // says that the record was set aside
}

// records keeps the buffers of records: a process that makes one transaction after another
// would collect garbage half of its time.
var records = sync.Pool{New: func() any { return new(record) }}

// read reads a record. One that is empty is new; one whose slots are both bad is
// damaged.
func (r *record) read(file io.ReaderAt) error {
	n, err := file.ReadAt(r.buffer[:], 0)
	if err != nil && err != io.EOF {
		return err
	}
	r.size = n
	r.list = r.list[:0]
	r.sequence, r.slot = 0, 0
	r.damaged = false
	clear(r.buffer[n:])
	payload, sequence, next, ok := lockedfile.Latest(r.buffer[:], magic)
	for ok && len(payload) > 0 {
		n, size := binary.Uvarint(payload)
		ok = size > 0 && n <= math.MaxInt64
		r.list = append(r.list, int64(n))
		payload = payload[max(size, 0):]
	}
	if ok {
		r.sequence, r.slot = sequence, next
	} else {
		r.list = r.list[:0]
		r.damaged = len(bytes.Trim(r.buffer[:n], "\x00")) > 0
	}
	return nil
}

// write writes the list into the older slot. A new record is written whole, so
// that later writes need no space on the disk, and the name behind it.
func (r *record) write(file io.WriterAt, name string) error {
	whole := r.size < recordSize
	if whole {
		clear(r.buffer[:])
		r.slot = 0
	}
	begin := r.slot * slotSize
	b := r.buffer[begin:][:lockedfile.HeadSize]
	for _, n := range r.list {
		if b = binary.AppendUvarint(b, uint64(n)); len(b) > slotSize {
			return fmt.Errorf("a state of %d numbers does not fit into its record", len(r.list))
		}
	}
	lockedfile.Seal(b, magic, r.sequence+1)
	if whole {
		b = append(r.buffer[:], name...)
	}
	_, err := file.WriteAt(b, int64(begin))
	return err
}

const damagedEnd = ".damaged"

// quarantine keeps a copy of a record that cannot be read, and begins a new one in
// its place.
func (r *record) quarantine(dir *lockedfile.Dir, name, path string) {
	r.aside = fmt.Sprintf("the record %s cannot be read; it begins anew", path)
	if dir.WriteNew(name+damagedEnd, r.buffer[:r.size]) == nil {
		r.aside += ", and a copy is in " + path + damagedEnd
	}
	r.list = r.list[:0]
}
