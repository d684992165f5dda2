// This file has the inner loops over text: one lane of states, and several.

package linematch

import (
	"bytes"
	"unicode/utf8"
)

// run runs text that ends between two runes, in several lanes if that is faster.
func (d *dfa) run(p []byte) {
	part, ok := cutLines(p, d.limits.lane)
	if !ok {
		d.runOne(p)
		return
	}
	for k := 1; k < lanes; k++ {
		d.lane[k] = d.intern(nil, atStart)
	}
	for d.together(&part) {
		for k := range part {
			part[k] = d.careful(k, part[k])
		}
	}
	for k := range part {
		d.lane[0] = d.lane[k]
		d.runOne(part[k])
	}
	clear(d.lane[1:])
}

// runOne is run in lane[0].
func (d *dfa) runOne(p []byte) {
	table, class := d.table, &d.nfa.bytes
	for len(p) > 0 {
		s, i := d.lane[0], 0
		for i < len(p) {
			t := table[s+uint16(class[p[i]])]
			if t == 0 {
				break
			}
			s = t
			i++
		}
		d.lane[0] = s
		if p = p[i:]; len(p) > 0 {
			p = d.careful(0, p)
		}
	}
}

// careful runs a lane over the first rune, and those above ASCII that follow. It returns
// the rest. A byte that is not UTF-8 is U+FFFD, as in package regexp.
func (d *dfa) careful(lane int, p []byte) []byte {
	for more := true; more; more = len(p) > 0 && p[0] >= utf8.RuneSelf {
		c, n := int(d.nfa.bytes[p[0]]), 1
		if c == classHigh {
			var r rune
			r, n = utf8.DecodeRune(p)
			c = d.classOf(r)
		}
		p = p[n:]
		if s := d.lane[lane]; c < d.stride && d.table[int(s)+c] != 0 {
			d.lane[lane] = d.table[int(s)+c]
		} else {
			d.advance(lane, c)
		}
	}
	return p
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

// together runs the lanes, at the same pace, as far as the table goes. It returns false if
// a lane has ended.
func (d *dfa) together(part *[lanes][]byte) (more bool) {
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
			more = true
			break
		}
		s0, s1, s2, s3 = t0, t1, t2, t3
	}
	d.lane = [lanes]uint16{s0, s1, s2, s3}
	for k := range part {
		part[k] = part[k][i:]
	}
	return more
}
