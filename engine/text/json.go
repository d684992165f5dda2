package text

// This file writes JSON. Only the record for --status is written by hand (JSON): it is written
// at each attempt of every run, and its format is the program's own.

import (
	"encoding/json"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Timestamp is RFC 3339 with milliseconds.
const Timestamp = "2006-01-02T15:04:05.000Z07:00"

// Time is written as a Timestamp in UTC.
type Time struct{ time.Time }

// MarshalJSON writes t.
func (t Time) MarshalJSON() ([]byte, error) { return []byte(`"` + t.String() + `"`), nil }

// String is "" for nil.
func (t *Time) String() string {
	if t == nil {
		return ""
	}
	return t.UTC().Format(Timestamp)
}

// WriteJSON writes v as one line of JSON, with <, > and & as they are.
func WriteJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// JSON appends the parts of a JSON value to B. A part has the name of its field, or none as
// an element of an array.
type JSON struct{ B []byte }

// Key begins a field, or an element. What B held before the value ends with a zero byte.
func (j *JSON) Key(name string) {
	if last := len(j.B) - 1; last >= 0 && strings.IndexByte("{[\x00", j.B[last]) < 0 {
		j.B = append(j.B, ',')
	}
	if name != "" {
		j.B = append(append(append(j.B, '"'), name...), '"', ':')
	}
}

// Open begins an object or an array with its bracket.
func (j *JSON) Open(name string, bracket byte) {
	j.Key(name)
	j.B = append(j.B, bracket)
}

// Close ends it.
func (j *JSON) Close(bracket byte) { j.B = append(j.B, bracket) }

// Number appends a number, rounded to three decimals.
func (j *JSON) Number(name string, v float64) {
	j.Key(name)
	j.B = strconv.AppendFloat(j.B, math.Round(v*1000)/1000, 'f', -1, 64)
}

// Time appends a time in UTC, as a Timestamp.
func (j *JSON) Time(name string, t time.Time) {
	j.Key(name)
	j.B = t.UTC().AppendFormat(j.B, `"`+Timestamp+`"`)
}

// String appends a string. Bytes that are not UTF-8 become U+FFFD.
func (j *JSON) String(name, s string) {
	const hex = "0123456789abcdef"
	j.Key(name)
	j.B = append(j.B, '"')
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			j.B = append(j.B, '\\', byte(c))
		case c < ' ' || c == 0x7f:
			j.B = append(j.B, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			j.B = utf8.AppendRune(j.B, c)
		}
	}
	j.B = append(j.B, '"')
}
