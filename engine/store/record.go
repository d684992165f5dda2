package store

// This file is the format of a record: 4096 bytes, two slots of 2048. A slot is
//
//	8 bytes magic, 8 sequence, 4 length, 4 checksum of all but itself, and
//	the list of integers as uvarints
//
// all little endian. The slot with the greater sequence counts; the other one is
// written next. A process that is killed while it writes leaves the slot before:
// the kernel copies a write page by page, and a slot lies within one page. After
// a loss of power the checksum tells which slots are whole.

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"sync"
)

const (
	slotSize   = 2048
	recordSize = 2 * slotSize
	headSize   = 24
)

var magic = [8]byte{'r', 'e', 't', 'r', 'y', ' ', 'g', '1'}

// record is a record as it was read, and what is to be written.
type record struct {
	raw      []byte
	list     []int64 // nil for a record that was never written
	sequence uint64
	slot     int // that is written next
	damaged  bool
	aside    string // says that the record was set aside
	// in and out are the room for raw and for what is written, numbers for list.
	in, out [recordSize]byte
	numbers []int64
}

// records keeps the room of records: what makes one transaction after another
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
	later := 0
	if sequenceOf(r.in[slotSize:]) > sequenceOf(r.in[:]) {
		later = 1
	}
	for _, i := range [2]int{later, 1 - later} {
		if list, ok := readSlot(r.in[i*slotSize:][:slotSize], &r.numbers); ok {
			r.sequence, r.list, r.slot = sequenceOf(r.in[i*slotSize:]), list, 1-i
			return nil
		}
	}
	r.damaged = !blank(r.raw)
	return nil
}

func sequenceOf(slot []byte) uint64 { return binary.LittleEndian.Uint64(slot[8:]) }

func blank(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

// readSlot reads a slot into the room for its numbers.
func readSlot(b []byte, room *[]int64) (list []int64, ok bool) {
	if [8]byte(b) != magic {
		return nil, false
	}
	length := binary.LittleEndian.Uint32(b[16:])
	if length > slotSize-headSize {
		return nil, false
	}
	payload := b[headSize : headSize+length]
	if checksum(b[:20], payload) != binary.LittleEndian.Uint32(b[20:]) {
		return nil, false
	}
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

// checksum is FNV-1a of 32 bits over head and then payload. Package hash/crc32 would make its tables at each start of the
// program, used or not.
func checksum(head, payload []byte) uint32 {
	h := fnv.New32a()
	_, _ = h.Write(head)
	_, _ = h.Write(payload)
	return h.Sum32()
}

// write writes the list into the older slot. A new record is written whole, so
// that later writes need no room on the disk.
func (r *record) write(file readerWriter) error {
	b := append(r.out[:0], magic[:]...)
	b = binary.LittleEndian.AppendUint64(b, r.sequence+1)
	b = b[:headSize]
	for _, n := range r.list {
		if b = binary.AppendUvarint(b, uint64(n)); len(b) > slotSize {
			return fmt.Errorf("a state of %d numbers does not fit into its record", len(r.list))
		}
	}
	binary.LittleEndian.PutUint32(b[16:], uint32(len(b)-headSize))
	binary.LittleEndian.PutUint32(b[20:], checksum(b[:20], b[headSize:]))
	if len(r.raw) < recordSize {
		clear(r.out[len(b):])
		_, err := file.WriteAt(r.out[:], 0)
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
