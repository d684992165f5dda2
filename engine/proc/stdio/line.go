package stdio

import "sync/atomic"

// Line knows whether the last output that was passed to where standard error leads has
// ended its line: a message of the program begins on a new one.
type Line struct{ open atomic.Bool }

// End says that the caller ends the line, or that it is not known what is written. It
// returns whether the line was open.
func (l *Line) End() bool { return l != nil && l.open.Swap(false) }

// wrote takes the last of what was passed on.
func (l *Line) wrote(b []byte) {
	if l != nil && len(b) > 0 {
		l.open.Store(b[len(b)-1] != '\n')
	}
}

// wroteFile takes a file that was passed on.
func (l *Line) wroteFile(f File) {
	last := make([]byte, 1)
	if size := sizeOf(f); l != nil && size > 0 {
		if _, err := f.ReadAt(last, size-1); err == nil {
			l.wrote(last)
		}
	}
}

// lineOf is the line of the messages, nil if descriptor fd leads elsewhere.
func (s *Streams) lineOf(fd int) *Line {
	if fd == 2 || s.line != nil && sameFile(standard(fd), standard(2)) {
		return s.line
	}
	return nil
}
