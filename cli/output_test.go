package cli

import (
	"errors"
	"io"
	"testing"
)

// TestReporting: the first error of a writer is reported, and only that.
func TestReporting(t *testing.T) {
	full := errors.New("no space left")
	var reported []error
	w := reporting(writer(func([]byte) (int, error) { return 0, full }), func(err error) { reported = append(reported, err) })
	for range 3 {
		if _, err := io.WriteString(w, "x"); err != full {
			t.Errorf("the error is %v", err)
		}
	}
	if len(reported) != 1 || reported[0] != full {
		t.Errorf("reported: %v", reported)
	}
	if _, err := io.WriteString(reporting(writer(func([]byte) (int, error) { return 0, full }), nil), "x"); err != full {
		t.Errorf("without a report the error is %v", err)
	}
}
