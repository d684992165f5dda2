// This file removes terminal escape sequences, which patterns do not see.

package linematch

import "bytes"

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
	state escapeState
	n     int    // bytes since the introducer
	body  []byte // those of a string
}

type escapeState uint8

const (
	inText     escapeState = iota
	inEscape               // after ESC
	inCharset              // after ESC and intermediate bytes
	inControl              // after ESC [
	inCommand              // after ESC ]
	inString               // after ESC P, X, ^ or _
	cancelled  = 0x18
	substitute = 0x1a
	bell       = 0x07
)

// Visible appends a whole text to dst without its escape sequences.
func Visible(dst, text []byte) []byte {
	var s stripper
	return s.flush(s.strip(dst, text))
}

// idle reports whether no sequence is open and none begins in p.
func (s *stripper) idle(p []byte) bool {
	return s.state == inText && bytes.IndexByte(p, escape) < 0
}

// strip appends p to dst without escape sequences.
func (s *stripper) strip(dst, p []byte) []byte {
	for i := 0; i < len(p); {
		if s.state == inText {
			k := bytes.IndexByte(p[i:], escape)
			if k < 0 {
				return append(dst, p[i:]...)
			}
			dst = append(dst, p[i:i+k]...)
			i += k + 1
			n := control(p[i:])
			if i += n; n == 0 {
				s.state, s.n = inEscape, 0
			}
			continue
		}
		var taken bool
		if dst, taken = s.next(dst, p[i]); taken {
			i++
		}
	}
	return dst
}

// control returns the length, behind ESC, of a control sequence, which is the usual one:
// 0 if it is none, or not complete.
func control(p []byte) int {
	if len(p) == 0 || p[0] != '[' {
		return 0
	}
	for i, b := range p[1:min(len(p), escapeMax)] {
		switch {
		case b >= 0x20 && b <= 0x3f:
		case b >= 0x40 && b <= 0x7e:
			return i + 2
		default:
			return 0
		}
	}
	return 0
}

// next takes one byte of a sequence, and reports false if the sequence ended before it.
func (s *stripper) next(dst []byte, b byte) ([]byte, bool) {
	if b == cancelled || b == substitute {
		s.end()
		return dst, true
	}
	if s.n++; s.n > escapeMax {
		return s.flush(dst), false
	}
	switch s.state {
	case inEscape:
		return dst, s.introduce(b)
	case inCharset, inControl:
		final := byte(0x30)
		if s.state == inControl {
			final = 0x40
		}
		if b < 0x20 || b >= final {
			s.end()
			return dst, b >= final && b <= 0x7e
		}
	default:
		switch {
		case b == '\n' || b == '\r':
			return s.flush(dst), false
		case b == escape:
			s.end()
			s.state = inEscape
		case b == bell && s.state == inCommand:
			s.end()
		default:
			s.body = append(s.body, b)
		}
	}
	return dst, true
}

// introduce takes the byte after ESC.
func (s *stripper) introduce(b byte) bool {
	switch {
	case b == '[':
		s.state = inControl
	case b == ']':
		s.state = inCommand
	case b == 'P' || b == 'X' || b == '^' || b == '_':
		s.state = inString
	case b >= 0x20 && b <= 0x2f:
		s.state = inCharset
	case b == escape:
		// It may begin a sequence.
	case b >= 0x30 && b <= 0x7e:
		s.end()
	default:
		s.end()
		return false
	}
	s.n = 0
	return true
}

// flush ends what was no sequence, and appends its text to dst.
func (s *stripper) flush(dst []byte) []byte {
	dst = append(dst, s.body...)
	s.end()
	return dst
}

func (s *stripper) end() {
	s.state, s.n, s.body = inText, 0, s.body[:0]
}
