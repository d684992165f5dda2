// This file's subject is finding literals in a block of text: a filter that
// looks at a few bytes of every few, and a comparison where it says maybe.

package match

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
)

const (
	// filterBits is the binary logarithm of the filter's size: 16 KiB leave room
	// in a first-level cache of 32 KiB.
	filterBits = 14
	// entriesMax is how many short strings it may hold: one in 16 places.
	entriesMax = 1 << (filterBits - 4)
	// probes is how many are made before the first is judged.
	probes = 8
	// foldBits makes the upper case letters of four bytes lower.
	foldBits = 0x20202020
	// rare is how many bytes of text should go by for each time that a string
	// is met in vain, rareByte the same for a loner's byte, which costs less than
	// probes that come closer.
	rare     = 4096
	rareByte = 256
	// longEnough is the length from which needles are never loners, of which
	// there may be lonersMax.
	longEnough = 8
	lonersMax  = 3
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
	known       lessons
	loners      []loner
	found       []int // what next has found
}

// entry is one short string of a window.
type entry struct {
	four                 uint32 // folded
	needle, offset, next uint16
	missed               uint32 // how often its hash was met in vain
}

type needle struct {
	literal
	pattern int
}

// loner is a needle that is looked for by its rarest byte alone: it is so much
// shorter than the others that it would bring the probes too close together.
// Searching for a byte takes a tenth of the time that the probes take.
type loner struct {
	needle
	offset int // of the byte in the needle
	missed int64
}

// lessons is what earlier filters found out about the text.
type lessons struct {
	frequent map[uint32]bool // strings of a probe's length, folded
	busy     map[string]bool // literals whose rarest byte is common
}

// newFilter returns a filter for the literals of those patterns that which
// names, nil where they are too many.
//
// Windows avoid what is known to be frequent as far as they can.
func newFilter(patterns []*Pattern, which []int, known lessons) *filter {
	f := &filter{known: known}
	for _, i := range which {
		folds := false
		for _, l := range patterns[i].literals {
			f.needles = append(f.needles, needle{l, i})
			folds = folds || l.fold && strings.ContainsAny(l.text, "sk")
		}
		if folds {
			f.folding = append(f.folding, i)
		}
	}
	slices.SortStableFunc(f.needles, func(a, b needle) int { return len(a.text) - len(b.text) })
	f.single()
	if len(f.needles) == 0 {
		return f
	}
	f.size(len(f.needles[0].text))
	if len(f.needles)*f.stride > entriesMax {
		return nil
	}
	f.entries = make([]entry, 0, len(f.needles)*f.stride)
	for i := range f.needles {
		f.insert(i)
	}
	return f
}

// single makes loners of the shortest needles.
func (f *filter) single() {
	for len(f.loners) < lonersMax && len(f.needles) > 0 {
		n := f.needles[0]
		if len(n.text) >= longEnough || n.fold || f.known.busy[n.text] {
			return
		}
		l := loner{needle: n}
		for k := range n.text {
			if rareness(n.text[k]) > rareness(n.text[l.offset]) {
				l.offset = k
			}
		}
		f.loners = append(f.loners, l)
		f.needles = f.needles[1:]
	}
}

// rareness ranks bytes in the case they have.
func rareness(b byte) int {
	if lower(b) != b {
		return 20 - int(common[lower(b)])
	}
	if b == ' ' {
		return 0
	}
	return 10 - int(common[b])
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
	from := f.window(text)
	for k := from; k < from+f.stride; k++ {
		four := f.folded(text, k)
		h := f.hash(four)
		f.entries = append(f.entries, entry{four, uint16(i), uint16(k), f.head[h], 0})
		f.head[h] = uint16(len(f.entries))
		f.hot[h] = 1
	}
}

// folded returns what a probe makes of text at k.
func (f *filter) folded(text string, k int) uint32 {
	var four [4]byte
	copy(four[:], text[k:])
	return (at(four[:]) | foldBits) & f.mask
}

// window returns where in text the window begins whose bytes are rarest in
// ordinary output, and of whose strings the fewest are known to be frequent.
func (f *filter) window(text string) int {
	best, least := 0, 1<<30
	for from := 0; from+f.stride+f.gram-1 <= len(text); from++ {
		sum := 0
		for k := from; k < from+f.stride; k++ {
			for _, b := range []byte(text[k : k+f.gram]) {
				sum += int(common[lower(b)])
			}
			if len(f.known.frequent) > 0 && f.known.frequent[f.folded(text, k)] {
				sum += 1000
			}
		}
		if sum < least {
			best, least = from, sum
		}
	}
	return best
}

// common ranks bytes by how often they stand in English log lines. A space is
// common, but what reaches over the gap between two words is rare.
var common = [256]uint8{
	'e': 9, 't': 9, 'a': 9, 'i': 9, 'n': 9, 'o': 9, 'r': 9, 's': 9,
	'l': 5, 'c': 5, 'd': 5, 'u': 5, 'm': 5, 'p': 5, 'h': 5,
	'0': 4, '1': 4, '2': 4, '3': 4, '4': 4, '5': 4, '6': 4, '7': 4, '8': 4, '9': 4, ':': 4, '-': 4, '=': 4, '/': 4,
	'b': 3, 'f': 3, 'g': 3, 'j': 3, 'k': 3, 'q': 3, 'v': 3, 'w': 3, 'x': 3, 'y': 3, 'z': 3,
}

// hash takes four bytes of text, of which it uses gram.
func (f *filter) hash(four uint32) uint32 {
	return ((four | foldBits) & f.mask) * 0x9e3779b1 >> (32 - filterBits)
}

// maybe is 0 if four bytes of text are in no window.
func (f *filter) maybe(four uint32) uint8 { return f.hot[f.hash(four)] }

// next returns the place of the first probe at or after from that meets
// literals, and leaves their patterns in f.found; len(b) where there is none.
// Patterns in seen are passed over and counted in f.wasted.
func (f *filter) next(b []byte, from int, seen []bool) int {
	for i := from; i+4 <= len(b) && len(f.needles) > 0; {
		i = f.skip(b, i)
		for end := i + probes*f.stride; i < end && i+4 <= len(b); i += f.stride {
			four := at(b[i:])
			if f.maybe(four) != 0 && f.stands(b, i, four, seen) {
				return i
			}
		}
	}
	// A needle of three bytes may stand at the very end, before one line feed
	// at the least: it has been probed unless the text has no more than it.
	return len(b)
}

// next returns where, at or after from, the loner stands, len(b) if it does
// not.
func (l *loner) next(b []byte, from int) int {
	for i := from + l.offset; i < len(b); i++ {
		k := bytes.IndexByte(b[i:], l.text[l.offset])
		if k < 0 {
			break
		}
		i += k
		if l.stands(b, i-l.offset) {
			return i - l.offset
		}
		l.missed++
	}
	return len(b)
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

// stands finds the needles that stand around the probe at i.
func (f *filter) stands(b []byte, i int, four uint32, seen []bool) bool {
	f.met++
	f.found = f.found[:0]
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
			f.found = append(f.found, n.pattern)
		}
	}
	if len(f.found) > 0 {
		return true
	}
	for e := f.head[four*0x9e3779b1>>(32-filterBits)]; e != 0; e = f.entries[e-1].next {
		f.entries[e-1].missed++
	}
	return false
}

// crowded adds to known the strings that more than one in rare bytes met in
// vain, and reports whether there is a new one.
func (f *filter) crowded(total int64, known lessons) bool {
	grown := false
	for i := range f.entries {
		e := &f.entries[i]
		if int64(e.missed) > total/rare && !known.frequent[e.four] {
			known.frequent[e.four], grown = true, true
		}
		e.missed = 0
	}
	for i := range f.loners {
		l := &f.loners[i]
		if l.missed > total/rareByte {
			known.busy[l.text], grown = true, true
		}
		l.missed = 0
	}
	return grown
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
