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

// The numbers are what POSIX prints for kill, and what 128+n means in a shell.
func TestSignalNumbers(t *testing.T) {
	for name, want := range map[string]int{"SIGHUP": 1, "SIGINT": 2, "SIGQUIT": 3, "SIGABRT": 6, "SIGKILL": 9,
		"SIGALRM": 14, "SIGTERM": 15} {
		if got, ok := SignalNumber(name); got != want || !ok {
			t.Errorf("SignalNumber(%q) = %d, %v; want %d", name, got, ok, want)
		}
	}
	for n := -1; n <= 65; n++ {
		if name, ok := SignalName(n); ok {
			if back, ok := SignalNumber(name); back != n || !ok {
				t.Errorf("%d is %q, which is %d", n, name, back)
			}
		}
	}
	for _, name := range []string{"", "TERM", "SIGUSR1", "SIGBUS"} {
		if n, ok := SignalNumber(name); ok {
			t.Errorf("%q is %d everywhere", name, n)
		}
	}
}
