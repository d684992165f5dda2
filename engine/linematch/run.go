// This file has the inner loops over text: one lane of states, several, and none.

package linematch

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// run runs text that ends between two runes, in several lanes if that is faster.
func (d *dfa) run(p []byte) {
	if d.live == 0 {
		return
	}
	if part, ok := cutLines(p, d.limits.lane); ok {
		d.runLanes(&part)
	} else {
		d.runOne(p)
	}
}

// runOne is run in lane[0].
func (d *dfa) runOne(p []byte) {
	s, table, class := d.lane[0], d.table, &d.nfa.bytes
	end := d.bytes + int64(len(p))
	for len(p) > 0 && d.live > 0 {
		if d.uncached > 0 {
			d.lane[0] = s
			d.simulate(p)
			s = d.lane[0]
			break
		}
		for len(p) >= 4 {
			t := table[s+uint16(class[p[0]])]
			t = table[t+uint16(class[p[1]])]
			t = table[t+uint16(class[p[2]])]
			t = table[t+uint16(class[p[3]])]
			if t == 0 {
				break
			}
			s, p = t, p[4:]
		}
		d.bytes = end - int64(len(p))
		var n int
		s, n = d.careful(p, s)
		p = p[n:]
	}
	d.lane[0], d.bytes = s, end
}

// careful runs text from state s until it has made a transition that the inner loops
// cannot. It returns the state and the number of bytes.
func (d *dfa) careful(p []byte, s uint16) (uint16, int) {
	for i := 0; i < len(p); {
		c, n := d.classAt(p[i:])
		var t uint16
		if c < d.stride {
			t = d.table[int(s)+c]
		}
		known := t != 0 && n == 1
		if t == 0 {
			t = d.advance(s, c)
		}
		s = t
		i += n
		if !known && (i == len(p) || p[i] < utf8.RuneSelf || d.uncached > 0) {
			return s, i
		}
	}
	return s, len(p)
}

// classAt returns the class and the length of the first rune. A byte that is not UTF-8
// is U+FFFD of length 1, as in package regexp.
func (d *dfa) classAt(p []byte) (int, int) {
	if p[0] < utf8.RuneSelf {
		return int(d.nfa.bytes[p[0]]), 1
	}
	r, n := utf8.DecodeRune(p)
	return d.classOf(r), n
}

// cutLines divides text of at least so many bytes into parts of about the same length.
// All but the first begin a line.
func cutLines(p []byte, least int) (part [lanes][]byte, ok bool) {
	if len(p) < least {
		return part, false
	}
	for k := range lanes - 1 {
		at := len(p) / (lanes - k)
		i := bytes.IndexByte(p[at:], '\n') + 1
		if i == 0 {
			return part, false
		}
		part[k], p = p[:at+i], p[at+i:]
	}
	part[lanes-1] = p
	return part, true
}

// runLanes runs the parts side by side until the shortest ends, then the rest one by one.
func (d *dfa) runLanes(part *[lanes][]byte) {
	total := 0
	for k := range part {
		if k > 0 {
			d.lane[k] = d.intern(nil, atStart)
		}
		total += len(part[k])
	}
	end := d.bytes + int64(total)
	for d.uncached == 0 && d.live > 0 {
		unknown, more := d.together(part)
		if !more {
			break
		}
		left := 0
		for k := range part {
			left += len(part[k])
		}
		d.bytes = end - int64(left)
		for k := range part {
			if unknown[k] == 0 {
				s, n := d.careful(part[k], d.lane[k])
				d.lane[k], part[k] = s, part[k][n:]
			}
		}
	}
	for k := range part {
		d.bytes = end - int64(len(part[k]))
		d.lane[0] = d.lane[k]
		if k > 0 {
			d.lane[k] = 0
		}
		d.runOne(part[k])
	}
	d.bytes = end
}

// together runs the lanes, at the same pace, as far as the table goes. It returns 0 for
// a lane whose next transitions are not all known, and false if a lane has ended.
func (d *dfa) together(part *[lanes][]byte) (next [lanes]uint16, more bool) {
	table, class := d.table, &d.nfa.bytes
	n := min(len(part[0]), len(part[1]), len(part[2]), len(part[3]))
	p0, p1, p2, p3 := part[0][:n], part[1][:n], part[2][:n], part[3][:n]
	s0, s1, s2, s3 := d.lane[0], d.lane[1], d.lane[2], d.lane[3]
	i := 0
	for ; i <= n-2; i += 2 {
		t0 := table[s0+uint16(class[p0[i]])]
		t1 := table[s1+uint16(class[p1[i]])]
		t2 := table[s2+uint16(class[p2[i]])]
		t3 := table[s3+uint16(class[p3[i]])]
		t0 = table[t0+uint16(class[p0[i+1]])]
		t1 = table[t1+uint16(class[p1[i+1]])]
		t2 = table[t2+uint16(class[p2[i+1]])]
		t3 = table[t3+uint16(class[p3[i+1]])]
		if t0 == 0 || t1 == 0 || t2 == 0 || t3 == 0 {
			next, more = [lanes]uint16{t0, t1, t2, t3}, true
			break
		}
		s0, s1, s2, s3 = t0, t1, t2, t3
	}
	d.lane = [lanes]uint16{s0, s1, s2, s3}
	for k := range part {
		part[k] = part[k][i:]
	}
	return next, more
}

// simulate is runOne without states: it computes the threads after each rune.
func (d *dfa) simulate(p []byte) {
	d.uncached -= int64(len(p))
	st := d.states[int(d.lane[0])/d.stride]
	threads, context := slices.Clone(d.arena[st.lo:st.hi]), st.context
	for len(p) > 0 && d.live > 0 {
		c, n := d.classAt(p)
		context = d.step(threads, context, c)
		d.report()
		threads, d.threads = d.threads, threads
		p = p[n:]
	}
	slices.Sort(threads)
	d.lane[0] = d.intern(threads, context)
}
