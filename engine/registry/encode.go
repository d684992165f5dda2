package registry

// This file is the format of a record: two slots (package lockedfile) with what
// changes, and behind them what does not. Both are JSON objects with the fields of
// Run. A run writes them by hand: the first json.Marshal of a process takes longer
// than all of its registration.

import (
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/retrysh/retry/engine/lockedfile"
	"github.com/retrysh/retry/engine/text"
)

var magic = lockedfile.Magic{'r', 'e', 't', 'r', 'y', ' ', 'r', '1'}

const (
	// slotSize holds 32 attempts with reasons of longestReason bytes.
	slotSize      = 16 << 10
	longestReason = 200
	// longestCommand is how much of a command a record holds, in bytes.
	longestCommand = 64 << 10
	// largestRecord is how much of a file is read.
	largestRecord = 2*slotSize + 1<<20
)

// object writes the fields of a JSON object, behind what is in b.
type object struct{ b []byte }

func (o *object) key(name string) {
	if last := len(o.b) - 1; last >= 0 && strings.IndexByte("{[\x00", o.b[last]) < 0 {
		o.b = append(o.b, ',')
	}
	if name != "" {
		o.b = append(append(append(o.b, '"'), name...), '"', ':')
	}
}

func (o *object) open(name string, bracket byte) {
	o.key(name)
	o.b = append(o.b, bracket)
}

func (o *object) close(bracket byte) { o.b = append(o.b, bracket) }

func (o *object) int(name string, n int) {
	o.key(name)
	o.b = strconv.AppendInt(o.b, int64(n), 10)
}

func (o *object) milliseconds(name string, d time.Duration) {
	o.key(name)
	o.b = strconv.AppendFloat(o.b, float64(d)/float64(time.Millisecond), 'f', -1, 64)
}

// time writes a time, and nothing for the zero time.
func (o *object) time(name string, t time.Time) {
	if !t.IsZero() {
		o.key(name)
		o.b = t.UTC().AppendFormat(o.b, `"`+layout+`"`)
	}
}

func (o *object) text(name, s string) {
	const hex = "0123456789abcdef"
	o.key(name)
	o.b = append(o.b, '"')
	for i := 0; i < len(s); {
		c := s[i]
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case c == '"' || c == '\\':
			o.b = append(o.b, '\\', c)
		case c < ' ':
			o.b = append(o.b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		case r == utf8.RuneError && size == 1:
			o.b = append(o.b, "\uFFFD"...)
		default:
			o.b = append(o.b, s[i:i+size]...)
		}
		i += size
	}
	o.b = append(o.b, '"')
}

// cut shortens a text to so many bytes.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return text.Cut(s, most) + "…"
}

// decode reads a record, and reports whether one of its slots is whole and the rest
// can be read.
func decode(raw []byte, run *Run) bool {
	if len(raw) < 2*slotSize {
		return false
	}
	state, _, _, ok := lockedfile.Latest(raw[:2*slotSize], magic)
	return ok && json.Unmarshal(raw[2*slotSize:], run) == nil && json.Unmarshal(state, run) == nil
}

// read reads the file of a record.
func read(file io.ReaderAt) ([]byte, error) {
	return io.ReadAll(io.NewSectionReader(file, 0, largestRecord))
}
