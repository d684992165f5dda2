package store

// This file is the format of a record: 8192 bytes in two slots (package lockedfile),
// whose payload is a list of integers as uvarints, and behind them the name of its
// key. The kernel copies a write page by page, and a slot lies within one page.

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/retrysh/retry/engine/lockedfile"
)

const (
	slotSize   = 4096
	recordSize = 2 * slotSize
)

var magic = lockedfile.Magic{'r', 'e', 't', 'r', 'y', ' ', 'g', '2'}

// record is a record as it was read, and what is to be written.
type record struct {
	raw      []byte
	list     []int64 // nil for a record that was never written
	sequence uint64
	slot     int // that is written next
	damaged  bool
	aside    string // says that the record was set aside
	// in and out are the buffers for raw and for what is written, numbers that for list.
	in, out [recordSize]byte
	numbers []int64
}

// records keeps the buffers of records: a process that makes one transaction after another
// would collect garbage half of its time.
var records = sync.Pool{New: func() any { return new(record) }}

// newRecord returns one that is empty.
func newRecord() *record {
	r := records.Get().(*record)
	r.raw, r.list, r.sequence, r.slot, r.damaged, r.aside = nil, nil, 0, 0, false, ""
	return r
}

// readerWriter is where a record is.
type readerWriter interface {
	io.ReaderAt
	io.WriterAt
}

// read reads a record. One that is empty is new; one whose slots are both bad is
// damaged. The slot that says to be the later one is looked at first, and most
// often alone.
func (r *record) read(file readerWriter) error {
	n, err := file.ReadAt(r.in[:], 0)
	if err != nil && err != io.EOF {
		return err
	}
	r.raw = r.in[:n]
	clear(r.in[n:])
	payload, sequence, next, ok := lockedfile.Latest(r.in[:], magic)
	if ok {
		r.list, ok = numbersIn(payload, &r.numbers)
	}
	if ok {
		r.sequence, r.slot = sequence, next
		return nil
	}
	r.damaged = len(bytes.Trim(r.raw, "\x00")) > 0
	return nil
}

// numbersIn reads a payload into the buffer for its numbers.
func numbersIn(payload []byte, room *[]int64) (list []int64, ok bool) {
	list = (*room)[:0]
	if list == nil {
		list = make([]int64, 0, 128)
	}
	for len(payload) > 0 {
		n, size := binary.Uvarint(payload)
		if size <= 0 || n > 1<<63-1 {
			return nil, false
		}
		list, payload = append(list, int64(n)), payload[size:]
	}
	*room = list
	return list, true
}

// write writes the list into the older slot. A new record is written whole, so
// that later writes need no space on the disk, and the name behind it.
func (r *record) write(file readerWriter, name string) error {
	b := r.out[:lockedfile.HeadSize]
	for _, n := range r.list {
		if b = binary.AppendUvarint(b, uint64(n)); len(b) > slotSize {
			return fmt.Errorf("a state of %d numbers does not fit into its record", len(r.list))
		}
	}
	lockedfile.Seal(b, magic, r.sequence+1)
	if len(r.raw) < recordSize {
		clear(r.out[len(b):])
		_, err := file.WriteAt(append(r.out[:], name...), 0)
		return err
	}
	_, err := file.WriteAt(b, int64(r.slot)*slotSize)
	return err
}

// setAside keeps a copy of a record that cannot be read, and begins a new one in
// its place.
func (r *record) setAside(path string) {
	copied := path + ".damaged"
	_ = os.Remove(copied)
	r.aside = fmt.Sprintf("the record %s cannot be read; it begins anew, and a copy is in %s", path, copied)
	if err := os.WriteFile(copied, r.raw, 0o600); err != nil {
		r.aside = fmt.Sprintf("the record %s cannot be read; it begins anew", path)
	}
	r.list = nil
}
