// This file removes terminal escape sequences, which patterns do not see.

package linematch

import (
	"bytes"
	"strings"
)

// escapeMax is how many bytes an escape sequence may have after its introducer. Titles,
// links and colours are far shorter; inline pictures are longer, and are matched as text.
const escapeMax = 4096

const escape = 0x1b

// stripper removes escape sequences from a stream, chunk by chunk. The forms
// are those of ECMA-48, as xterm reads them:
//
//	ESC [ ... final                 control sequences (colour, cursor)
//	ESC ] ... BEL or ESC \          system commands (title, link)
//	ESC P, X, ^, _ ... ESC \        device, start, private and program strings
//	ESC 0x20-0x2f... final          character sets and the like
//	ESC final                       the two-byte ones
//
// A control sequence also ends before a byte that cannot be part of it, a string before
// an ESC that begins another sequence. CAN and SUB end both. Of a string that is open at
// the line's end, or after escapeMax bytes, only the introducer is removed. So no sequence
// reaches into another line.
//
// The one-byte C1 controls are no introducers: 0x9b and 0x9d occur within UTF-8, and as
// UTF-8 (C2 9D) a control is most often a quotation mark that was encoded twice.
type stripper struct {
	open []byte // a sequence without its end, from its ESC on
}

// Visible appends a whole text to dst without its escape sequences.
func Visible(dst, text []byte) []byte {
	var s stripper
	return s.flush(s.strip(dst, text))
}

// idle reports whether no sequence is open and none begins in p.
func (s *stripper) idle(p []byte) bool {
	return len(s.open) == 0 && bytes.IndexByte(p, escape) < 0
}

// strip appends p to dst without escape sequences.
func (s *stripper) strip(dst, p []byte) []byte {
	if len(s.open) > 0 {
		p = append(s.open, p...)
		s.open = p[:0]
	}
	for {
		i := bytes.IndexByte(p, escape)
		if i < 0 {
			return append(dst, p...)
		}
		dst, p = append(dst, p[:i]...), p[i:]
		n, whole := sequence(p)
		if !whole {
			s.open = append(s.open, p...)
			return dst
		}
		p = p[n:]
	}
}

// flush ends what was no sequence, and appends its text to dst.
func (s *stripper) flush(dst []byte) []byte {
	if len(s.open) > 2 && isString(s.open[1]) {
		dst = append(dst, s.open[2:]...)
	}
	s.open = nil
	return dst
}

// sequence returns how many bytes to remove of the sequence that p begins with; whole is
// false if its end may be behind p.
func sequence(p []byte) (n int, whole bool) {
	if len(p) < 2 {
		return 0, false
	}
	switch b := p[1]; {
	case b == '[':
		return finalByte(p, 2, 0x40)
	case isString(b):
		ends := "\x1b\x18\x1a\r\n\a"
		if b != ']' {
			ends = ends[:5] // without BEL
		}
		switch i := 2 + bytes.IndexAny(p[2:min(len(p), 2+escapeMax)], ends); {
		case i < 2:
			return 2, len(p) >= 2+escapeMax
		case p[i] == '\r' || p[i] == '\n':
			return 2, true
		case p[i] == escape:
			return i, true
		default:
			return i + 1, true
		}
	case b < 0x30:
		return finalByte(p, 1, 0x30)
	case b <= 0x7e:
		return 2, true
	}
	return 1, true
}

// isString reports whether the byte after ESC begins a string.
func isString(b byte) bool { return strings.IndexByte("]PX^_", b) >= 0 }

// finalByte returns the end of a sequence whose bytes from i on are below final, but for
// the last.
func finalByte(p []byte, i int, final byte) (n int, whole bool) {
	most := i + escapeMax
	for i < min(len(p), most) && p[i] >= 0x20 && p[i] < final {
		i++
	}
	if i < len(p) && i < most && (p[i] >= final && p[i] <= 0x7e || p[i] == 0x18 || p[i] == 0x1a) {
		i++
		return i, true
	}
	return i, i < len(p) || i == most
}
