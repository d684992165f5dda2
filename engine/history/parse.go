package history

// This file reads records. encoding/json would take 7 s for a million of them: it
// reads each line twice, and allocates each text of each line anew.

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"
)

// Parser reads records one after the other.
type Parser struct {
	b  []byte
	at int
	// texts are those that are in many records, by what is written.
	texts map[string]string
	// record and attempt are the fields of what is read.
	record  [24]field
	attempt [11]field
	// counting skips the fields that statistics do not use: also commands, unless
	// these are asked for.
	counting, commands bool
}

// mostTexts is how many texts are kept to be used again.
const mostTexts = 1 << 14

// deepest is the greatest depth of nested values.
const deepest = 1000

// Parse reads a line into r, whose slices it reuses, and reports whether it is a
// record. A field of another type, or of an unknown name, is skipped.
func (p *Parser) Parse(line []byte, r *Record) bool {
	*r = Record{Command: r.Command[:0], Attempts: r.Attempts[:0]}
	p.b, p.at = line, 0
	if p.texts == nil || len(p.texts) > mostTexts {
		p.texts = map[string]string{}
	}
	p.blanks()
	p.record = r.fields()
	if !p.fields(p.record[:]) {
		return false
	}
	p.blanks()
	return p.at == len(p.b) && r.Version >= 1 && r.RunID != "" && r.Outcome != ""
}

// fields reads an object. Its fields most often come in the order of all.
func (p *Parser) fields(all []field) bool {
	next := 0
	return p.object(func(name []byte) bool {
		for range all {
			f := &all[next]
			if next++; next == len(all) {
				next = 0
			}
			if string(name) != f.name {
				continue
			}
			if f.shown && p.counting && !(p.commands && f.name == "command") {
				return p.skip(0)
			}
			if f.on != nil {
				*f.on = true
			}
			return p.value(f)
		}
		return p.skip(0)
	})
}

// value reads the value of a field.
func (p *Parser) value(f *field) bool {
	switch to := f.value.(type) {
	case *int:
		return p.integer(to)
	case *float64:
		return p.number(to)
	case *string:
		return p.text(to)
	case *unique:
		return p.unique((*string)(to))
	case *bool:
		return p.flag(to)
	case *always:
		return p.flag((*bool)(to))
	case *time.Time:
		var text string
		ok := p.unique(&text)
		*to, _ = time.Parse(time.RFC3339, text)
		return ok
	case *[]string:
		*to = (*to)[:0]
		return p.array(func() bool {
			*to = append(*to, "")
			return p.text(&(*to)[len(*to)-1])
		})
	case *[]Attempt:
		*to = (*to)[:0]
		return p.array(func() bool {
			if p.peek() != '{' {
				return p.skip(0)
			}
			*to = append(*to, Attempt{})
			p.attempt = (*to)[len(*to)-1].fields()
			return p.fields(p.attempt[:])
		})
	}
	return p.skip(0)
}

// peek is the next byte, 0 at the end.
func (p *Parser) peek() byte {
	if p.at < len(p.b) {
		return p.b[p.at]
	}
	return 0
}

func (p *Parser) blanks() {
	for p.at < len(p.b) && (p.b[p.at] == ' ' || p.b[p.at] == '\t' || p.b[p.at] == '\r' || p.b[p.at] == '\n') {
		p.at++
	}
}

// is skips c where it comes next.
func (p *Parser) is(c byte) bool {
	p.blanks()
	if p.peek() != c {
		return false
	}
	p.at++
	return true
}

// object reads an object; field reads the value of a name.
func (p *Parser) object(field func(name []byte) bool) bool {
	if !p.is('{') {
		return false
	}
	if p.is('}') {
		return true
	}
	for {
		p.blanks()
		name, ok := p.quoted()
		if !ok || !p.is(':') {
			return false
		}
		if p.blanks(); !field(unquoted(name)) {
			return false
		}
		if !p.is(',') {
			return p.is('}')
		}
	}
}

// array reads an array; element reads each of its values. What is no array is
// skipped.
func (p *Parser) array(element func() bool) bool {
	if p.peek() != '[' {
		return p.skip(0)
	}
	p.at++
	if p.is(']') {
		return true
	}
	for {
		if p.blanks(); !element() {
			return false
		}
		if !p.is(',') {
			return p.is(']')
		}
	}
}

// text reads a text that may be in many records, unique one that is not.
func (p *Parser) text(to *string) bool {
	if p.peek() != '"' {
		return p.skip(0)
	}
	b, ok := p.quoted()
	if !ok {
		return false
	}
	s, known := p.texts[string(b)]
	if !known {
		s = string(unquoted(b))
		p.texts[string(b)] = s
	}
	*to = s
	return true
}

func (p *Parser) unique(to *string) bool {
	if p.peek() != '"' {
		return p.skip(0)
	}
	b, ok := p.quoted()
	if ok {
		*to = string(unquoted(b))
	}
	return ok
}

func (p *Parser) flag(to *bool) bool {
	switch p.peek() {
	case 't':
		*to = true
	case 'f':
		*to = false
	}
	return p.skip(0)
}

// integer reads a whole number, none out of the range of 32 bits.
func (p *Parser) integer(to *int) bool {
	var v float64
	if !p.number(&v) {
		return false
	}
	*to = int(min(v, math.MaxInt32))
	return true
}

// mostMillis is the longest time that is read, 30,000 years: no sum of times is
// infinite.
const mostMillis = 1e15

// number reads a number from 0 to mostMillis. One that is less, or beyond the range of a
// float64, counts as 0.
func (p *Parser) number(to *float64) bool {
	start, c := p.at, p.peek()
	if c < '0' || c > '9' {
		return p.skip(0)
	}
	if !p.skipNumber() {
		return false
	}
	if p.at == start+1 { // as most are
		*to = float64(c - '0')
		return true
	}
	v, err := strconv.ParseFloat(string(p.b[start:p.at]), 64)
	if *to = min(v, mostMillis); err != nil {
		*to = 0
	}
	return true
}

// quoted reads a string with its quotes, and leaves its escapes as they are.
func (p *Parser) quoted() ([]byte, bool) {
	start := p.at
	if p.peek() != '"' {
		return nil, false
	}
	for i := start + 1; i < len(p.b); i++ {
		switch c := p.b[i]; {
		case c == '"':
			p.at = i + 1
			return p.b[start:p.at], true
		case c == '\\':
			if i++; i == len(p.b) || strings.IndexByte(`"\/bfnrtu`, p.b[i]) < 0 {
				return nil, false
			}
			if p.b[i] == 'u' {
				if _, err := strconv.ParseUint(string(p.b[i+1:min(i+5, len(p.b))]), 16, 16); err != nil {
					return nil, false
				}
			}
		case c < ' ':
			return nil, false
		}
	}
	return nil, false
}

// unquoted is what a quoted string says.
func unquoted(quoted []byte) []byte {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	var s string
	_ = json.Unmarshal(quoted, &s)
	return []byte(s)
}

// skip skips a value, which has to be one.
func (p *Parser) skip(depth int) bool {
	p.blanks()
	switch c := p.peek(); {
	case depth > deepest:
		return false
	case c == '"':
		_, ok := p.quoted()
		return ok
	case c == '{':
		return p.object(func([]byte) bool { return p.skip(depth + 1) })
	case c == '[':
		return p.array(func() bool { return p.skip(depth + 1) })
	case c == '-' || c >= '0' && c <= '9':
		return p.skipNumber()
	}
	for _, word := range [...]string{"true", "false", "null"} {
		if bytes.HasPrefix(p.b[p.at:], []byte(word)) {
			p.at += len(word)
			return true
		}
	}
	return false
}

// skipNumber skips a number (RFC 8259, section 6).
func (p *Parser) skipNumber() bool {
	if p.peek() == '-' {
		p.at++
	}
	if p.peek() == '0' {
		p.at++
	} else if !p.digits() {
		return false
	}
	if p.peek() == '.' {
		if p.at++; !p.digits() {
			return false
		}
	}
	if c := p.peek(); c == 'e' || c == 'E' {
		if p.at++; p.peek() == '+' || p.peek() == '-' {
			p.at++
		}
		return p.digits()
	}
	return true
}

// digits skips one digit or more.
func (p *Parser) digits() bool {
	start := p.at
	for c := p.peek(); c >= '0' && c <= '9'; c = p.peek() {
		p.at++
	}
	return p.at > start
}
