package history

// This file reads records. encoding/json would take 8 s for a million of them.

import (
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	// deepest is the greatest depth of nested values.
	deepest = 1000
	// mostMillis is the longest time that is read, 30,000 years: no sum of times is
	// infinite.
	mostMillis = 1e15
)

// Parse reads a line into r, whose slices it reuses, and reports whether it is a
// record. A field of another type, or of an unknown name, is skipped. The texts of r are
// parts of the line.
func Parse(line string, r *Record) bool {
	*r = Record{Command: r.Command[:0], Attempts: r.Attempts[:0]}
	p := parser{s: line}
	ok := p.value(r)
	p.blanks()
	return ok && p.at == len(p.s) && r.Version >= 1 && r.RunID != "" && r.Outcome != ""
}

// parser reads JSON (RFC 8259).
type parser struct {
	s     string
	at    int
	depth int
}

// value reads a value into to, a pointer, where it is of its type.
func (p *parser) value(to any) bool {
	p.blanks()
	switch c := p.peek(); {
	case c == '{':
		return p.object(to)
	case c == '[':
		return p.array(to)
	case c == '"':
		s, ok := p.text()
		switch to := to.(type) {
		case *string:
			*to = s
		case *time.Time:
			*to, _ = time.Parse(time.RFC3339, s)
		}
		return ok
	case c == '-' || isDigit(c):
		v, ok := p.number()
		switch to := to.(type) {
		case *int:
			*to = int(min(v, math.MaxInt32))
		case *float64:
			*to = v
		case **float64:
			*to = new(v)
		}
		return ok
	}
	for i, word := range [...]string{"true", "false", "null"} {
		if strings.HasPrefix(p.s[p.at:], word) {
			p.at += len(word)
			if flag, is := to.(*bool); is && word != "null" {
				*flag = i == 0
			}
			return true
		}
	}
	return false
}

// peek is the next byte, 0 at the end.
func (p *parser) peek() byte {
	if p.at < len(p.s) {
		return p.s[p.at]
	}
	return 0
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func (p *parser) blanks() {
	for c := p.peek(); c <= ' ' && (c == ' ' || c == '\t' || c == '\r' || c == '\n'); c = p.peek() {
		p.at++
	}
}

// is skips c where it comes next.
func (p *parser) is(c byte) bool {
	p.blanks()
	if p.peek() != c {
		return false
	}
	p.at++
	return true
}

// object reads a Record or an Attempt, whose fields most often come in their order.
func (p *parser) object(to any) bool {
	var layout []field
	var fields reflect.Value
	switch to.(type) {
	case *Record:
		layout, fields = recordLayout(), reflect.ValueOf(to).Elem()
	case *Attempt:
		layout, fields = attemptLayout(), reflect.ValueOf(to).Elem()
	}
	next := 0
	return p.elements('}', func() bool {
		if p.blanks(); p.peek() != '"' {
			return false
		}
		name, ok := p.text()
		if !ok || !p.is(':') {
			return false
		}
		for range layout {
			i := next
			if next++; next == len(layout) {
				next = 0
			}
			if layout[i].name == name {
				return p.value(fields.Field(i).Addr().Interface())
			}
		}
		return p.value(nil)
	})
}

// array reads texts or attempts.
func (p *parser) array(to any) bool {
	switch to := to.(type) {
	case *[]string:
		*to = (*to)[:0]
	case *[]Attempt:
		*to = (*to)[:0]
	}
	return p.elements(']', func() bool {
		switch to := to.(type) {
		case *[]string:
			*to = append(*to, "")
			return p.value(&(*to)[len(*to)-1])
		case *[]Attempt:
			if p.blanks(); p.peek() == '{' {
				*to = append(*to, Attempt{})
				return p.value(&(*to)[len(*to)-1])
			}
		}
		return p.value(nil)
	})
}

// elements reads what stands between two brackets.
func (p *parser) elements(end byte, element func() bool) bool {
	p.at++
	if p.depth++; p.depth > deepest {
		return false
	}
	if !p.is(end) {
		for more := true; more; more = p.is(',') {
			if !element() {
				return false
			}
		}
		if !p.is(end) {
			return false
		}
	}
	p.depth--
	return true
}

// text reads a string. The escapes that Go has too are left to strconv, others to
// encoding/json, which is slower.
func (p *parser) text() (s string, ok bool) {
	start, escapes, simple := p.at, 0, 0
	for p.at++; p.at < len(p.s) && p.s[p.at] != '"'; p.at++ {
		if c := p.s[p.at]; c < ' ' {
			return "", false
		} else if c == '\\' {
			escapes++
			if p.at++; p.at < len(p.s) && strings.IndexByte(`"\bfnrt`, p.s[p.at]) >= 0 {
				simple++
			}
		}
	}
	if p.at >= len(p.s) {
		return "", false
	}
	p.at++
	quoted := p.s[start:p.at]
	switch {
	case escapes == 0:
		return quoted[1 : len(quoted)-1], true
	case escapes == simple && utf8.ValidString(quoted):
		s, err := strconv.Unquote(quoted)
		return s, err == nil
	}
	return decoded(quoted)
}

func decoded(quoted string) (s string, ok bool) {
	err := json.Unmarshal([]byte(quoted), &s)
	return s, err == nil
}

// number reads a number from 0 to mostMillis. One that is less, or beyond the range of
// a float64, counts as 0.
func (p *parser) number() (v float64, ok bool) {
	start := p.at
	for c := p.peek(); isDigit(c) || c == '.' || c == '-' || c == '+' || c == 'e' || c == 'E'; c = p.peek() {
		p.at++
	}
	text := p.s[start:p.at]
	if len(text) == 1 && isDigit(text[0]) { // as most are
		return float64(text[0] - '0'), true
	}
	if v, err := strconv.ParseFloat(text, 64); err == nil {
		return min(max(v, 0), mostMillis), json.Valid([]byte(text))
	}
	return 0, json.Valid([]byte(text))
}
