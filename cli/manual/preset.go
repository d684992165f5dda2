package manual

// This file writes defaults as a person would write them on the command line.

import (
	"fmt"
	"reflect"
	"time"
)

// Preset is a value of a flag, "" for none: a duration says 0, any other zero is no value,
// unless its type writes it.
func Preset(value reflect.Value) string {
	switch v := value.Interface().(type) {
	case time.Duration:
		return Duration(v)
	case fmt.Stringer:
		if value.Kind() == reflect.Pointer && value.IsNil() {
			return ""
		}
		return v.String()
	}
	if value.IsZero() || value.Kind() == reflect.Bool {
		return ""
	}
	return fmt.Sprint(value.Interface())
}

// units are those that people count in.
var units = []struct {
	size time.Duration
	name string
}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "m"}, {time.Second, "s"}, {time.Millisecond, "ms"}}

// Duration writes a duration in the greatest unit of which it has at least 2, or of the
// seconds 1.
func Duration(d time.Duration) string {
	for _, unit := range units {
		if n := d / unit.size; d%unit.size == 0 && (n > 1 || n == 1 && unit.name == "s") {
			return fmt.Sprint(int64(n), unit.name)
		}
	}
	if d == 0 {
		return "0"
	}
	return d.String()
}
