// This file's subject is the end of a stream: its last bytes, for the rules
// that read an attempt's output as a whole.

package classify

import "bytes"

// TailSize is how many bytes a Tail keeps where no other size is given: error
// messages stand at the end, and 64 KiB holds some 800 lines.
const TailSize = 64 << 10

// Tail is an io.Writer that keeps the last bytes written to it, in a ring that
// is allocated once it is needed and never grows. The zero value keeps
// TailSize bytes. A Tail is not safe for concurrent use.
type Tail struct {
	size int
	// ring grows by append until it is full; from then on next is where the
	// oldest byte stands and the newest goes.
	ring []byte
	next int
	// dropped is set once a byte has been overwritten, and last is the byte
	// that was overwritten last: it tells whether what is kept begins a line.
	dropped bool
	last    byte
}

// NewTail returns a Tail that keeps the last size bytes; a size below 1 stands
// for TailSize.
func NewTail(size int) *Tail {
	return &Tail{size: size}
}

// Write takes all of p; it never fails and never changes or keeps p.
func (t *Tail) Write(p []byte) (int, error) {
	n := len(p)
	if t.size < 1 {
		t.size = TailSize
	}
	if n == 0 {
		return 0, nil
	}
	if n >= t.size {
		t.replace(p)
		return n, nil
	}
	if room := t.size - len(t.ring); room > 0 {
		k := min(room, len(p))
		t.ring = append(t.ring, p[:k]...)
		p = p[k:]
	}
	for len(p) > 0 {
		k := min(len(p), t.size-t.next)
		t.dropped, t.last = true, t.ring[t.next+k-1]
		copy(t.ring[t.next:], p[:k])
		p = p[k:]
		t.next = (t.next + k) % t.size
	}
	return n, nil
}

// replace keeps the end of a p that fills the whole ring.
func (t *Tail) replace(p []byte) {
	cut := len(p) - t.size
	switch {
	case cut > 0:
		t.dropped, t.last = true, p[cut-1]
	case len(t.ring) > 0:
		t.dropped, t.last = true, t.ring[(t.next+len(t.ring)-1)%len(t.ring)]
	}
	t.ring = append(t.ring[:0], p[cut:]...)
	t.next = 0
}

// Bytes returns a copy of the last bytes in the order in which they were
// written. Where older ones were dropped it begins with a whole line, unless
// no line begins in what was kept.
func (t *Tail) Bytes() []byte {
	b := make([]byte, 0, len(t.ring))
	b = append(b, t.ring[t.next:]...)
	b = append(b, t.ring[:t.next]...)
	if !t.dropped || t.last == '\n' {
		return b
	}
	if i := bytes.IndexByte(b, '\n'); i >= 0 && i+1 < len(b) {
		return b[i+1:]
	}
	return b
}
