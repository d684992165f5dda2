//go:build unix

package signals

import (
	"testing"

	"golang.org/x/sys/unix"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/exitcodes"
)

// What is said to be the same everywhere is so here.
func TestPortableNumbers(t *testing.T) {
	for n := range 65 {
		name, portable := exitcodes.SignalName(n)
		if portable && int(unix.SignalNum(name)) != n {
			t.Errorf("%s is %d here, and %d in the table", name, unix.SignalNum(name), n)
		}
	}
}

func TestNamesBothWays(t *testing.T) {
	for n := 1; n <= 64; n++ {
		name, ok := SignalOf(n)
		if !ok {
			continue
		}
		if back, known := NumberOf(name); !known || back != n {
			t.Errorf("%d is %q, which is %d", n, name, back)
		}
		if parsed, err := attempt.ParseSignal(string(name)); err != nil || parsed != name {
			t.Errorf("%q is read as %q, %v", name, parsed, err)
		}
	}
}
