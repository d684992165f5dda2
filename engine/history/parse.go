package history

// This file reads records. encoding/json would take 7 s for a million of them: it
// reads each line twice, and allocates each text of each line anew.

import (
	"bytes"
	"math"
	"strconv"
	"time"
	"unicode/utf16"
	"unicode/utf8"
)

// Parser reads records one after the other.
type Parser struct {
	b  []byte
	at int
	// texts are those that stand in many records.
	texts map[string]string
	buf   []byte // of a text with escapes
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
	if !p.object(func(name []byte) bool { return p.field(name, r) }) {
		return false
	}
	p.blanks()
	return p.at == len(p.b) && r.Version >= 1 && r.RunID != "" && r.Outcome != ""
}

// field reads one field of a record.
func (p *Parser) field(name []byte, r *Record) bool {
	if p.counting {
		switch string(name) {
		case "command":
			if !p.commands {
				return p.skip(0)
			}
		case "parent_run_id", "cwd", "ci", "host":
			return p.skip(0)
		}
	}
	switch string(name) {
	case "v":
		return p.integer(&r.Version)
	case "time":
		var text string
		ok := p.text(&text)
		r.Time, _ = time.Parse(time.RFC3339, text)
		return ok
	case "run_id":
		return p.unique(&r.RunID)
	case "parent_run_id":
		return p.unique(&r.ParentRunID)
	case "depth":
		return p.integer(&r.Depth)
	case "name":
		return p.text(&r.Name)
	case "command":
		return p.array(func() bool {
			r.Command = append(r.Command, "")
			return p.text(&r.Command[len(r.Command)-1])
		})
	case "cwd":
		return p.text(&r.Cwd)
	case "key":
		return p.text(&r.Key)
	case "policy":
		return p.text(&r.Policy)
	case "outcome":
		return p.text(&r.Outcome)
	case "exit_code":
		return p.integer(&r.ExitCode)
	case "attempts":
		r.Attempts = r.Attempts[:0]
		return p.array(func() bool {
			r.Attempts = append(r.Attempts, Attempt{})
			a := &r.Attempts[len(r.Attempts)-1]
			if p.peek() != '{' {
				r.Attempts = r.Attempts[:len(r.Attempts)-1]
				return p.skip(0)
			}
			return p.object(func(name []byte) bool { return p.attemptField(name, a) })
		})
	case "attempt_count":
		return p.integer(&r.AttemptCount)
	case "elapsed_ms":
		return p.number(&r.ElapsedMS)
	case "waited_ms":
		return p.number(&r.WaitedMS)
	case "commit":
		return p.text(&r.Commit)
	case "ci":
		return p.text(&r.CI)
	case "host":
		return p.text(&r.Host)
	case "until_failure":
		return p.flag(&r.UntilFailure)
	case "repeat":
		return p.flag(&r.Repeat)
	case "rehearsed":
		return p.flag(&r.Rehearsed)
	case "redriven":
		return p.flag(&r.Redriven)
	case "cut":
		return p.flag(&r.Cut)
	}
	return p.skip(0)
}

// attemptField reads one field of an attempt.
func (p *Parser) attemptField(name []byte, a *Attempt) bool {
	switch string(name) {
	case "exit_code":
		return p.integer(&a.ExitCode)
	case "signal":
		return p.text(&a.Signal)
	case "timed_out":
		return p.flag(&a.TimedOut)
	case "ms":
		return p.number(&a.MS)
	case "success":
		return p.flag(&a.Success)
	case "verdict":
		return p.text(&a.Verdict)
	case "rule":
		return p.text(&a.Rule)
	case "reason":
		if p.counting {
			return p.skip(0)
		}
		return p.text(&a.Reason)
	case "fp":
		return p.text(&a.FP)
	case "jittered_ms":
		a.Waited = true
		return p.number(&a.JitteredMS)
	case "slept_ms":
		a.Waited = true
		return p.number(&a.SleptMS)
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
		if p.blanks(); !field(name) {
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

// text reads a text that may stand in many records, unique one that does not.
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
		s = string(b)
		p.texts[s] = s
	}
	*to = s
	return true
}

func (p *Parser) unique(to *string) bool {
	if p.peek() != '"' {
		return p.skip(0)
	}
	b, ok := p.quoted()
	*to = string(b)
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

// number reads a number of 0 or more; what is less counts as 0.
func (p *Parser) number(to *float64) bool {
	start := p.at
	if !p.skip(0) {
		return false
	}
	if c := p.b[start]; c < '0' || c > '9' {
		return true
	}
	*to = decimal(p.b[start:p.at])
	return true
}

// decimal is the value of a number; of a short one it is exact without more.
func decimal(text []byte) float64 {
	const short = 15 // digits, which a float64 holds
	digits, scale := 0.0, 1.0
	point := false
	for i, c := range text {
		switch {
		case c == '.':
			point = true
		case c < '0' || c > '9' || i > short:
			v, err := strconv.ParseFloat(string(text), 64)
			if err != nil {
				return 0
			}
			return v
		default:
			digits = digits*10 + float64(c-'0')
			if point {
				scale *= 10
			}
		}
	}
	return digits / scale
}

// quoted reads a string; what it returns holds until the next one is read.
func (p *Parser) quoted() ([]byte, bool) {
	if p.peek() != '"' {
		return nil, false
	}
	start := p.at + 1
	for i := start; i < len(p.b); i++ {
		switch c := p.b[i]; {
		case c == '"':
			p.at = i + 1
			return p.b[start:i], true
		case c == '\\':
			return p.escaped(start, i)
		case c < ' ':
			return nil, false
		}
	}
	return nil, false
}

// escaped reads the rest of a string from its first escape on.
func (p *Parser) escaped(start, i int) ([]byte, bool) {
	p.buf = append(p.buf[:0], p.b[start:i]...)
	for i < len(p.b) {
		c := p.b[i]
		switch {
		case c == '"':
			p.at = i + 1
			return p.buf, true
		case c < ' ':
			return nil, false
		case c != '\\':
			p.buf = append(p.buf, c)
			i++
			continue
		case i+1 == len(p.b):
			return nil, false
		}
		i += 2
		switch at := bytes.IndexByte([]byte(`"\/bfnrt`), p.b[i-1]); {
		case at >= 0:
			p.buf = append(p.buf, "\"\\/\b\f\n\r\t"[at])
		case p.b[i-1] == 'u':
			c, ok := p.unit(i)
			if !ok {
				return nil, false
			}
			i += 4
			if utf16.IsSurrogate(c) {
				second, ok := rune(0), i+2 <= len(p.b) && p.b[i] == '\\' && p.b[i+1] == 'u'
				if ok {
					second, ok = p.unit(i + 2)
				}
				if c = utf16.DecodeRune(c, second); ok && c != utf8.RuneError {
					i += 6
				}
			}
			p.buf = utf8.AppendRune(p.buf, c)
		default:
			return nil, false
		}
	}
	return nil, false
}

// unit reads the four digits of an escape.
func (p *Parser) unit(i int) (rune, bool) {
	if i+4 > len(p.b) {
		return 0, false
	}
	v, err := strconv.ParseUint(string(p.b[i:i+4]), 16, 16)
	return rune(v), err == nil
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
