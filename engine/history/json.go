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

// Encode returns the record as a line with its newline, of at most 64 KiB. Where
// it is longer, the longest texts are cut.
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
	_ = text.WriteJSON(&b, struct { // it has no value that JSON cannot have
		Version int       `json:"v"` // the first field of a line
		Time    text.Time `json:"time"`
		*Record
	}{r.Version, text.Time{Time: r.Time}, r})
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
// or of an unknown name, is as if it were missing.
func Parse(line []byte, r *Record) bool {
	*r = Record{}
	read := struct {
		Time moment `json:"time"`
		*Record
	}{Record: r}
	var otherType *json.UnmarshalTypeError
	if err := json.Unmarshal(line, &read); err != nil && !errors.As(err, &otherType) {
		return false
	}
	r.Time = time.Time(read.Time)
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

// moment is a time that is read; another text is the zero time.
type moment time.Time

// UnmarshalText reads RFC 3339.
func (m *moment) UnmarshalText(text []byte) error {
	t, _ := time.Parse(time.RFC3339, string(text))
	*m = moment(t)
	return nil
}
