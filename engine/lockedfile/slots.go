package lockedfile

// This file is the format of a record in two slots of one size. A slot is
//
//	8 bytes magic, 8 sequence, 4 length, 4 checksum of all but itself, and
//	the payload
//
// all little endian. The slot with the greater sequence counts; the other one is
// written next. A process that is killed, or stopped, while it writes leaves the
// slot before. After a loss of power the checksum shows which slots are whole.

import (
	"encoding/binary"
	"hash/fnv"
)

// HeadSize is what a slot has before its payload.
const HeadSize = 24

// Magic names what is in a slot, and the version of its format.
type Magic [8]byte

// Latest is the payload of the slot that counts, its sequence, and the slot, 0 or
// 1, that is written next. ok is false if no slot is whole. The slot that says
// to be the later one is looked at first, and most often alone.
func Latest(raw []byte, magic Magic) (payload []byte, sequence uint64, next int, ok bool) {
	size := len(raw) / 2
	later := 0
	if sequenceOf(raw[size:]) > sequenceOf(raw) {
		later = 1
	}
	for _, i := range [2]int{later, 1 - later} {
		slot := raw[i*size:][:size]
		if payload, ok = payloadOf(slot, magic); ok {
			return payload, sequenceOf(slot), 1 - i, true
		}
	}
	return nil, 0, 0, false
}

func sequenceOf(slot []byte) uint64 { return binary.LittleEndian.Uint64(slot[8:]) }

func payloadOf(slot []byte, magic Magic) (payload []byte, ok bool) {
	length := binary.LittleEndian.Uint32(slot[16:])
	if Magic(slot) != magic || uint64(length) > uint64(len(slot)-HeadSize) {
		return nil, false
	}
	payload = slot[HeadSize:][:length]
	return payload, checksum(slot[:20], payload) == binary.LittleEndian.Uint32(slot[20:])
}

// Seal fills in the head of a slot, whose payload is in place behind it.
func Seal(slot []byte, magic Magic, sequence uint64) {
	copy(slot, magic[:])
	binary.LittleEndian.PutUint64(slot[8:], sequence)
	binary.LittleEndian.PutUint32(slot[16:], uint32(len(slot)-HeadSize))
	binary.LittleEndian.PutUint32(slot[20:], checksum(slot[:20], slot[HeadSize:]))
}

// checksum is FNV-1a of 32 bits over head and then payload. Package hash/crc32
// would make its tables at each start of the program, used or not.
func checksum(head, payload []byte) uint32 {
	h := fnv.New32a()
	_, _ = h.Write(head)
	_, _ = h.Write(payload)
	return h.Sum32()
}
