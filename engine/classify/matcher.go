// This file's subject is the matcher: patterns tried on each line of a stream
// as it goes by, in bounded memory.

package classify

import "bytes"

// pieceSize is the longest line that is matched whole; what is longer is
// matched in pieces that share pieceOverlap bytes.
const (
	pieceSize    = 64 << 10
	pieceOverlap = 4 << 10
)

// Matcher tries patterns on each line of one stream. It is an io.Writer that
// may be given the stream in chunks of any size, and Close says that the
// stream has ended.
//
// A line ends at a line feed, a carriage return, or both in this order; what
// follows the last end is a line only if it is not empty, so that an empty
// stream has no line and no pattern matches it (as with grep). Terminal escape
// sequences are removed first. Bytes that are not UTF-8 match as U+FFFD would,
// one by one.
//
// A Matcher is not safe for concurrent use.
type Matcher struct {
	patterns []*Pattern
	seen     []bool
	left     int // patterns not seen
	stripper stripper
	text     []byte // what strip left of the last chunk
	line     []byte // the line that has not ended
	afterCR  bool
}

// NewMatcher returns a Matcher for the patterns, which Seen counts from 0.
// Without a pattern, Write does nothing.
func NewMatcher(patterns []*Pattern) *Matcher {
	return &Matcher{patterns: patterns, seen: make([]bool, len(patterns)), left: len(patterns)}
}

// Seen reports whether pattern i has matched a line. Before Close it accounts
// for every line whose end has been written; the last line, if it has no end,
// counts after Close.
func (m *Matcher) Seen(i int) bool { return m.seen[i] }

// Write matches the lines that p ends. It takes all of p, never fails, and
// neither changes nor keeps p.
func (m *Matcher) Write(p []byte) (int, error) {
	if m.left == 0 {
		return len(p), nil
	}
	if m.stripper.idle(p) {
		m.feed(p)
	} else {
		m.text = m.stripper.strip(m.text[:0], p)
		m.feed(m.text)
	}
	return len(p), nil
}

// Close ends the stream: what was written after the last line's end, if
// anything, is a line. Write must not follow.
func (m *Matcher) Close() {
	if m.left == 0 {
		return
	}
	m.feed(m.stripper.flush(nil))
	if len(m.line) > 0 {
		m.match(m.line)
	}
	m.line, m.text = nil, nil
}

// feed takes text without escape sequences.
func (m *Matcher) feed(text []byte) {
	for len(text) > 0 {
		if m.afterCR && text[0] == '\n' {
			text = text[1:]
		}
		m.afterCR = false
		i := bytes.IndexAny(text, "\r\n")
		if i < 0 {
			m.hold(text)
			return
		}
		m.hold(text[:i])
		m.match(m.line)
		m.line = m.line[:0]
		m.afterCR = text[i] == '\r'
		text = text[i+1:]
	}
}

// hold adds to the line that has not ended.
func (m *Matcher) hold(text []byte) {
	for len(text) > 0 {
		if len(m.line) == pieceSize {
			m.match(m.line)
			m.line = append(m.line[:0], m.line[pieceSize-pieceOverlap:]...)
		}
		k := min(len(text), pieceSize-len(m.line))
		m.line = append(m.line, text[:k]...)
		text = text[k:]
	}
}

func (m *Matcher) match(line []byte) {
	for i, p := range m.patterns {
		if !m.seen[i] && p.re.Match(line) {
			m.seen[i] = true
			m.left--
		}
	}
}
