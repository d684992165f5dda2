// This file's subject is finding literals in a block of text: a filter that
// looks at a few bytes of every few, and a comparison where it says maybe.

package match

import (
	"bytes"
	"encoding/binary"
)

const (
	// filterBits is the binary logarithm of the filter's size: 16 KiB stay in
	// the first-level cache.
	filterBits = 14
	// entriesMax is how many short strings it may hold: one in sixteen places.
	entriesMax = 1 << (filterBits - 4)
	// probes is how many are made at a time, and foldBits makes upper case lower.
	probes   = 8
	foldBits = 0x20202020
)

// filter finds places where a literal may stand. Each literal is represented
// by a window of stride+gram-1 bytes of it; whatever the window's position,
// one of the probes, which come every stride bytes, reads gram bytes inside
// it. The probes do not depend on each other, which is what makes them fast.
// Letters are compared in lower case by setting one bit, so that every
// literal may fold.
type filter struct {
	gram, stride int
	mask         uint32
	hot          [1 << filterBits]uint8  // not 0: a string with this hash is in a window
	head         [1 << filterBits]uint16 // its first entry, counted from 1
	entries      []entry
	needles      []needle
	// folding has the patterns whose literals fold an s or a k, which may stand
	// for U+017F or U+212A in the text.
	folding []int
	// met counts the probes that met a window's hash, wasted those that met
	// nothing but the literal of a pattern that has been seen.
	met, wasted int64
}

// entry is one short string of a window.
type entry struct {
	four                 uint32 // folded
	needle, offset, next uint16
}

type needle struct {
	literal
	pattern int
}

// newFilter returns a filter for the literals of those patterns that which
// names, nil where they are too many.
func newFilter(patterns []*Pattern, which []int) *filter {
	f := &filter{}
	shortest := 1 << 10
	for _, i := range which {
		folds := false
		for _, l := range patterns[i].literals {
			f.needles = append(f.needles, needle{l, i})
			shortest = min(shortest, len(l.text))
			folds = folds || l.fold && bytes.ContainsAny([]byte(l.text), "sk")
		}
		if folds {
			f.folding = append(f.folding, i)
		}
	}
	f.size(shortest)
	if len(f.needles)*f.stride > entriesMax {
		return nil
	}
	f.entries = make([]entry, 0, len(f.needles)*f.stride)
	for i := range f.needles {
		f.insert(i)
	}
	return f
}

// size chooses how much each probe reads and how far the next one is.
func (f *filter) size(shortest int) {
	switch {
	case shortest < 5:
		f.gram, f.mask = 3, 0xffffff
	default:
		f.gram, f.mask = 4, 0xffffffff
	}
	f.stride = min(shortest-f.gram+1, 8)
	if f.stride == 5 || f.stride == 7 {
		f.stride--
	}
}

func (f *filter) insert(i int) {
	text := f.needles[i].text
	from := window(text, f.stride+f.gram-1)
	for k := from; k < from+f.stride; k++ {
		var four [4]byte
		copy(four[:], text[k:])
		h := f.hash(at(four[:]))
		f.entries = append(f.entries, entry{(at(four[:]) | foldBits) & f.mask, uint16(i), uint16(k), f.head[h]})
		f.head[h] = uint16(len(f.entries))
		f.hot[h] = 1
	}
}

// window returns where in text the n bytes begin that are rarest in ordinary
// output.
func window(text string, n int) int {
	best, least := 0, 1<<30
	for from := 0; from+n <= len(text); from++ {
		sum := 0
		for _, b := range []byte(text[from : from+n]) {
			sum += commonness(b)
		}
		if sum < least {
			best, least = from, sum
		}
	}
	return best
}

// commonness ranks bytes by how often they stand in English log lines. A space
// is common, but what reaches over the gap between two words is rare.
func commonness(b byte) int {
	switch b = lower(b); {
	case bytes.IndexByte([]byte("etainors"), b) >= 0:
		return 9
	case bytes.IndexByte([]byte("lcdumph"), b) >= 0:
		return 5
	case '0' <= b && b <= '9' || b == ':' || b == '-' || b == '=' || b == '/':
		return 4
	case 'a' <= b && b <= 'z':
		return 3
	}
	return 2
}

// hash takes four bytes of text, of which it uses gram.
func (f *filter) hash(four uint32) uint32 {
	return ((four | foldBits) & f.mask) * 0x9e3779b1 >> (32 - filterBits)
}

// maybe is 0 if four bytes of text are in no window.
func (f *filter) maybe(four uint32) uint8 { return f.hot[f.hash(four)] }

// next returns the first literal at or after from, as the place of the probe
// that met it and its needle; nil where there is none. Needles of patterns in
// seen are passed over and counted in f.wasted.
func (f *filter) next(b []byte, from int, seen []bool) (int, *needle) {
	for i := from; i+4 <= len(b); {
		i = f.skip(b, i)
		for end := i + probes*f.stride; i < end && i+4 <= len(b); i += f.stride {
			four := at(b[i:])
			if f.maybe(four) != 0 {
				if n := f.stands(b, i, four, seen); n != nil {
					return i, n
				}
			}
		}
	}
	// A needle of three bytes may stand at the very end, before one line feed
	// at the least: it has been probed unless the text has no more than it.
	return len(b), nil
}

// skip passes over groups of probes none of which can be inside a literal, as
// long as a group does not reach the end of b. Each loop has its stride as a
// constant: the compiler then checks bounds once in a group.
func (f *filter) skip(b []byte, i int) int {
	switch f.stride {
	case 1:
		return f.skip1(b, i)
	case 2:
		return f.skip2(b, i)
	case 3:
		return f.skip3(b, i)
	case 4:
		return f.skip4(b, i)
	case 6:
		return f.skip6(b, i)
	default:
		return f.skip8(b, i)
	}
}

func (f *filter) skip1(b []byte, i int) int {
	for ; i+12 <= len(b); i += probes {
		q := (*[12]byte)(b[i:])
		w := binary.LittleEndian.Uint64(q[:])
		v := binary.LittleEndian.Uint64(q[4:])
		if f.maybe(uint32(w))|f.maybe(uint32(w>>8))|f.maybe(uint32(w>>16))|f.maybe(uint32(w>>24))|
			f.maybe(uint32(v))|f.maybe(uint32(v>>8))|f.maybe(uint32(v>>16))|f.maybe(uint32(v>>24)) != 0 {
			break
		}
	}
	return i
}

func (f *filter) skip2(b []byte, i int) int {
	for ; i+18 <= len(b); i += 2 * probes {
		q := (*[18]byte)(b[i:])
		if f.maybe(at(q[:]))|f.maybe(at(q[2:]))|f.maybe(at(q[4:]))|f.maybe(at(q[6:]))|
			f.maybe(at(q[8:]))|f.maybe(at(q[10:]))|f.maybe(at(q[12:]))|f.maybe(at(q[14:])) != 0 {
			break
		}
	}
	return i
}

func (f *filter) skip3(b []byte, i int) int {
	for ; i+25 <= len(b); i += 3 * probes {
		q := (*[25]byte)(b[i:])
		if f.maybe(at(q[:]))|f.maybe(at(q[3:]))|f.maybe(at(q[6:]))|f.maybe(at(q[9:]))|
			f.maybe(at(q[12:]))|f.maybe(at(q[15:]))|f.maybe(at(q[18:]))|f.maybe(at(q[21:])) != 0 {
			break
		}
	}
	return i
}

func (f *filter) skip4(b []byte, i int) int {
	for ; i+32 <= len(b); i += 4 * probes {
		q := (*[32]byte)(b[i:])
		if f.maybe(at(q[:]))|f.maybe(at(q[4:]))|f.maybe(at(q[8:]))|f.maybe(at(q[12:]))|
			f.maybe(at(q[16:]))|f.maybe(at(q[20:]))|f.maybe(at(q[24:]))|f.maybe(at(q[28:])) != 0 {
			break
		}
	}
	return i
}

func (f *filter) skip6(b []byte, i int) int {
	for ; i+46 <= len(b); i += 6 * probes {
		q := (*[46]byte)(b[i:])
		if f.maybe(at(q[:]))|f.maybe(at(q[6:]))|f.maybe(at(q[12:]))|f.maybe(at(q[18:]))|
			f.maybe(at(q[24:]))|f.maybe(at(q[30:]))|f.maybe(at(q[36:]))|f.maybe(at(q[42:])) != 0 {
			break
		}
	}
	return i
}

func (f *filter) skip8(b []byte, i int) int {
	for ; i+60 <= len(b); i += 8 * probes {
		q := (*[60]byte)(b[i:])
		if f.maybe(at(q[:]))|f.maybe(at(q[8:]))|f.maybe(at(q[16:]))|f.maybe(at(q[24:]))|
			f.maybe(at(q[32:]))|f.maybe(at(q[40:]))|f.maybe(at(q[48:]))|f.maybe(at(q[56:])) != 0 {
			break
		}
	}
	return i
}

func at(b []byte) uint32 { return binary.LittleEndian.Uint32(b) }

// stands returns a needle that stands around the probe at i.
func (f *filter) stands(b []byte, i int, four uint32, seen []bool) *needle {
	f.met++
	four = (four | foldBits) & f.mask
	for e := f.head[four*0x9e3779b1>>(32-filterBits)]; e != 0; e = f.entries[e-1].next {
		entry := &f.entries[e-1]
		if entry.four != four {
			continue
		}
		n := &f.needles[entry.needle]
		if seen[n.pattern] {
			f.wasted++
		} else if n.stands(b, i-int(entry.offset)) {
			return n
		}
	}
	return nil
}

// stands reports whether the needle stands in b at from.
func (n *needle) stands(b []byte, from int) bool {
	if from < 0 || from+len(n.text) > len(b) {
		return false
	}
	b = b[from : from+len(n.text)]
	if !n.fold {
		return string(b) == n.text
	}
	for k := range b {
		if lower(b[k]) != n.text[k] {
			return false
		}
	}
	return true
}
