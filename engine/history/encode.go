package history

// This file writes a record as a line. The first json.Marshal of a process takes 0.2 ms,
// as much as all else that a run does for the history.

import (
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/retrysh/retry/engine/text"
)

// longestLine is the size of the largest line with its newlines.
const longestLine = 64 << 10

// field is a field of Record or Attempt by its tag.
type field struct {
	name      string
	omitEmpty bool
}

// layout are the fields of Record, or Attempt, in their order.
var recordLayout, attemptLayout = sync.OnceValue(layoutOf[Record]), sync.OnceValue(layoutOf[Attempt])

func layoutOf[T any]() (all []field) {
	of := reflect.TypeFor[T]()
	for i := range of.NumField() {
		name, option, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
		all = append(all, field{name, option != ""})
	}
	return all
}

// Encode returns the record as a line with its newline, of at most 64 KiB. Where
// it is longer, the longest texts are cut.
func (r *Record) Encode() []byte {
	short := *r
	if n := len(r.Attempts); n > mostAttempts {
		short.Attempts = append(r.Attempts[:mostAttempts/2:mostAttempts/2], r.Attempts[n-mostAttempts/2:]...)
		short.Cut = true
	}
	const newlines = 2 // one of its own, and one before it where the last line is torn
	for limit := longestLine; ; limit /= 2 {
		j := text.JSON{}
		appendStruct(&j, recordLayout(), reflect.ValueOf(&short).Elem(), limit)
		if len(j.B)+newlines <= longestLine { // what the first limit cuts is longer
			return append(j.B, '\n')
		}
		short.Cut = true
	}
}

// appendStruct appends an object. Of a text so many bytes are written, of the
// command's words together four times as many.
func appendStruct(j *text.JSON, layout []field, of reflect.Value, limit int) {
	j.Open("", '{')
	for i, f := range layout {
		value := of.Field(i)
		if f.omitEmpty && (value.IsZero() || value.Kind() == reflect.Slice && value.Len() == 0) {
			continue
		}
		switch v := value.Addr().Interface().(type) {
		case *int:
			j.Number(f.name, float64(*v))
		case *float64:
			j.Number(f.name, *v)
		case **float64:
			j.Number(f.name, **v)
		case *bool:
			j.Bool(f.name, *v)
		case *time.Time:
			j.Time(f.name, *v)
		case *string:
			j.String(f.name, text.Cut(*v, limit))
		case *[]string:
			j.Open(f.name, '[')
			for start, i := len(j.B), 0; i < len(*v) && (len(j.B)-start)/4 <= limit; i++ {
				j.String("", text.Cut((*v)[i], limit))
			}
			j.Close(']')
		case *[]Attempt:
			j.Open(f.name, '[')
			for i := range *v {
				appendStruct(j, attemptLayout(), value.Index(i), limit)
			}
			j.Close(']')
		}
	}
	j.Close('}')
}
