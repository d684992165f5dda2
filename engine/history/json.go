package history

// This file writes records as lines, and reads them back.

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/retrysh/retry/engine/text"
)

// longestLine is the size of the largest line with its newlines.
const longestLine = 64 << 10

// Encode returns the record as a line with its newline, of at most 64 KiB. If
// it would be longer, the longest texts are cut.
func (r *Record) Encode() []byte {
	short := *r
	if n := len(r.Attempts); n > mostAttempts {
		short.Attempts = slices.Concat(r.Attempts[:mostAttempts/2], r.Attempts[n-mostAttempts/2:])
		short.Cut = true
	}
	const newline = 1 // before it, if the last line is torn
	for limit := longestLine; ; limit /= 2 {
		line := short.limited(limit).line()
		if len(line)+newline <= longestLine {
			return line
		}
		short.Cut = true
	}
}

// line is the record as a line with its newline.
func (r *Record) line() []byte {
	var b bytes.Buffer
	_ = text.WriteJSON(&b, r) // it has no value that JSON cannot have
	return b.Bytes()
}

// limited is the record with at most so many bytes of a text, and four times as many of the
// command's words together.
func (r *Record) limited(limit int) *Record {
	short := *r
	short.Command = nil
	for i, size := 0, 0; i < len(r.Command) && size <= 4*limit; i++ {
		word := text.Cut(r.Command[i], limit)
		short.Command = append(short.Command, word)
		size += len(word)
	}
	short.Attempts = slices.Clone(r.Attempts)
	texts := []*string{
		&short.RunID, &short.ParentRunID, &short.Name, &short.Cwd, &short.Key,
		&short.Policy, &short.Outcome, &short.Commit, &short.CI, &short.Host,
	}
	for i := range short.Attempts {
		a := &short.Attempts[i]
		texts = append(texts, &a.Signal, &a.Verdict, &a.Rule, &a.Reason, &a.FP)
	}
	for _, t := range texts {
		*t = text.Cut(*t, limit)
	}
	if short.Attempts == nil {
		short.Attempts = []Attempt{} // [] in JSON
	}
	return &short
}

// mostMillis is the longest time that is read, 30,000 years: no sum of times is infinite.
const mostMillis = 1e15

// Parse reads a line into r, and reports whether it is a record. A field of another type,
// or of an unknown name, is as if it were missing. The attempts that r had are overwritten:
// a list for each of a million lines takes longer than its garbage is worth.
func Parse(line []byte, r *Record) bool {
	attempts := r.Attempts[:cap(r.Attempts)]
	clear(attempts) // json keeps what it does not set
	*r = Record{Attempts: attempts[:0]}
	if err := json.Unmarshal(line, r); err != nil {
		var otherType *json.UnmarshalTypeError
		if !errors.As(err, &otherType) {
			return false
		}
	}
	r.ElapsedMS, r.WaitedMS = bounded(r.ElapsedMS), bounded(r.WaitedMS)
	for i := range r.Attempts {
		a := &r.Attempts[i]
		a.MS = bounded(a.MS)
		for _, wait := range []*float64{a.JitteredMS, a.SleptMS} {
			if wait != nil {
				*wait = bounded(*wait)
			}
		}
	}
	r.AttemptCount = max(r.AttemptCount, 0)
	return r.Version >= 1 && r.RunID != "" && r.Outcome != ""
}

func bounded(ms float64) float64 { return min(max(ms, 0), mostMillis) }

// Moment is a time with milliseconds in UTC. What is read and is no time is the zero one.
type Moment struct{ time.Time }

func (m Moment) MarshalJSON() ([]byte, error) { return text.Time(m).MarshalJSON() }

// UnmarshalJSON reads RFC 3339.
func (m *Moment) UnmarshalJSON(quoted []byte) error {
	m.Time, _ = time.Parse(`"`+time.RFC3339+`"`, string(quoted))
	return nil
}
