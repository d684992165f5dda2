package exitcodes

import (
	"errors"
	"fmt"
	"testing"
)

func TestOf(t *testing.T) {
	coded := &Error{Code: NotFound, Err: errors.New("no such program")}
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, OK},
		{errors.New("plain"), Failure},
		{coded, NotFound},
		{fmt.Errorf("around: %w", coded), NotFound},
	} {
		if got := Of(c.err); got != c.want {
			t.Errorf("Of(%v) = %d, want %d", c.err, got, c.want)
		}
	}
}

func TestSignalBothWays(t *testing.T) {
	for n := 1; n <= 64; n++ {
		if got := SignalOf(OfSignal(n)); got != n {
			t.Errorf("SignalOf(OfSignal(%d)) = %d", n, got)
		}
	}
	for _, code := range []int{0, 1, 127, 128, 193, 255} {
		if got := SignalOf(code); got != 0 {
			t.Errorf("SignalOf(%d) = %d, want none", code, got)
		}
	}
}
