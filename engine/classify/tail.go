package classify

import (
	"bytes"
	"cmp"
)

// TailSize is how many bytes a Tail keeps: error messages stand at the end, and 64 KiB
// holds some 800 lines.
const TailSize = 64 << 10

// Tail is an io.Writer that keeps the last bytes written to it. It is not safe for
// concurrent use.
type Tail struct {
	size int // TailSize where it is 0
	// kept is cut to its end where it reaches twice the size.
	kept []byte
}

// Write takes all of p; it never fails and never changes or keeps p.
func (t *Tail) Write(p []byte) (int, error) {
	n, most := len(p), t.most()
	p = p[max(0, n-most):]
	if len(t.kept)+len(p) > 2*most {
		t.kept = append(t.kept[:0], t.kept[len(t.kept)-most:]...)
	}
	t.kept = append(t.kept, p...)
	return n, nil
}

// most is the size, and one byte before that, which says whether a line begins there.
func (t *Tail) most() int { return cmp.Or(t.size, TailSize) + 1 }

// Bytes returns a copy of the last bytes in the order in which they were
// written. Where older ones were dropped it begins with a whole line, unless
// no line begins in what was kept.
func (t *Tail) Bytes() []byte {
	b := t.kept
	if cut := len(b) - t.most(); cut >= 0 {
		b = b[cut:]
		if i := bytes.IndexByte(b, '\n'); i >= 0 && i+1 < len(b) {
			b = b[i+1:]
		} else {
			b = b[1:]
		}
	}
	return append([]byte{}, b...)
}
