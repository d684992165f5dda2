package text

import (
	"encoding/json"
	"io"
	"time"
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
