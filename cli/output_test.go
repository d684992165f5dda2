package cli

import (
	"errors"
	"io"
	"testing"
)

// full is a writer that has no space left.
type full struct{}

var errFull = errors.New("no space left")

func (full) Write([]byte) (int, error) { return 0, errFull }

// TestChannel: the first error of a writer is reported, and only that.
func TestChannel(t *testing.T) {
	var reported []error
	c := &channel{full{}, func(err error) { reported = append(reported, err) }}
	for range 3 {
		if _, err := io.WriteString(c, "x"); err != errFull {
			t.Errorf("the error is %v", err)
		}
	}
	if len(reported) != 1 || reported[0] != errFull {
		t.Errorf("reported: %v", reported)
	}
}
