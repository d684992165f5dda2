package history

// This file reads records. For a million of them encoding/json would take 8 s of 2 cores.

import (
	"math"
	"reflect"
	"time"

	"github.com/valyala/fastjson"
)

// mostMillis is the longest time that is read, 30,000 years: no sum of times is infinite.
const mostMillis = 1e15

var parsers fastjson.ParserPool

// Parse reads a line into r, whose slices it reuses, and reports whether it is a record.
// A field of another type, or of an unknown name, is as if it were missing.
func Parse(line string, r *Record) bool {
	*r = Record{Command: r.Command[:0], Attempts: r.Attempts[:0]}
	p := parsers.Get()
	defer parsers.Put(p)
	v, err := p.Parse(line)
	if err != nil || fastjson.Validate(line) != nil { // Parse limits the depth, Validate the rest to RFC 8259
		return false
	}
	setFields(v, recordLayout(), reflect.ValueOf(r).Elem())
	return r.Version >= 1 && r.RunID != "" && r.Outcome != ""
}

// setFields sets the fields of a struct, which most often come in their order.
func setFields(v *fastjson.Value, layout []field, fields reflect.Value) {
	next := 0
	object, err := v.Object()
	if err != nil {
		return
	}
	object.Visit(func(name []byte, v *fastjson.Value) {
		for range layout {
			i := next
			next = (next + 1) % len(layout)
			if layout[i].name == string(name) {
				set(fields.Field(i).Addr().Interface(), v)
				return
			}
		}
	})
}

// set sets what to points to, to its zero value where the JSON is of another type.
func set(to any, v *fastjson.Value) {
	switch to := to.(type) {
	case *string:
		*to = string(v.GetStringBytes())
	case *time.Time:
		*to, _ = time.Parse(time.RFC3339, string(v.GetStringBytes()))
	case *int:
		*to = int(min(number(v), math.MaxInt32))
	case *float64:
		*to = number(v)
	case **float64:
		if v.Type() == fastjson.TypeNumber {
			*to = new(number(v))
		}
	case *bool:
		*to = v.GetBool()
	case *[]string:
		*to = (*to)[:0]
		for _, word := range v.GetArray() {
			*to = append(*to, string(word.GetStringBytes()))
		}
	case *[]Attempt:
		*to = (*to)[:0]
		for _, attempt := range v.GetArray() {
			if attempt.Type() == fastjson.TypeObject {
				*to = append(*to, Attempt{})
				setFields(attempt, attemptLayout(), reflect.ValueOf(&(*to)[len(*to)-1]).Elem())
			}
		}
	}
}

// number is a number from 0 to mostMillis, 0 for what is none.
func number(v *fastjson.Value) float64 { return min(max(v.GetFloat64(), 0), mostMillis) }
