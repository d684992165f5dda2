package registry

// This file writes the JSON of records by hand: one is written at each attempt of every run, and
// the first json.Marshal of a process takes longer than a registration.

import (
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/retrysh/retry/engine/text"
)

// encoder appends the parts of a JSON value to b. A part has the name of its field, or none as
// an element of an array.
type encoder struct{ b []byte }

// key begins a field, or an element. What b held before the value ends with a zero byte.
func (e *encoder) key(name string) {
	if last := len(e.b) - 1; last >= 0 && strings.IndexByte("{[\x00", e.b[last]) < 0 {
		e.b = append(e.b, ',')
	}
	if name != "" {
		e.b = append(append(append(e.b, '"'), name...), '"', ':')
	}
}

// open begins an object or an array with its bracket.
func (e *encoder) open(name string, bracket byte) {
	e.key(name)
	e.b = append(e.b, bracket)
}

// close ends it.
func (e *encoder) close(bracket byte) { e.b = append(e.b, bracket) }

// number appends a number, rounded to three decimals.
func (e *encoder) number(name string, v float64) {
	e.key(name)
	e.b = strconv.AppendFloat(e.b, math.Round(v*1000)/1000, 'f', -1, 64)
}

// time appends a time in UTC, as a text.Timestamp.
func (e *encoder) time(name string, t time.Time) {
	e.key(name)
	e.b = t.UTC().AppendFormat(e.b, `"`+text.Timestamp+`"`)
}

// string appends a string. Bytes that are not UTF-8 become U+FFFD.
func (e *encoder) string(name, s string) {
	const hex = "0123456789abcdef"
	e.key(name)
	e.b = append(e.b, '"')
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			e.b = append(e.b, '\\', byte(c))
		case c < ' ' || c == 0x7f:
			e.b = append(e.b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			e.b = utf8.AppendRune(e.b, c)
		}
	}
	e.b = append(e.b, '"')
}
