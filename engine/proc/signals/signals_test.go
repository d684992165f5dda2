//go:build unix

package signals

import (
	"runtime"
	"syscall"
	"testing"
	"testing/synctest"

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

// A program that is asked to end is not stuck while it ends what runs beside its
// attempts.
func TestBusy(t *testing.T) {
	s, in := New(), NewInbox(false)
	check := func(when string, want bool) {
		t.Helper()
		if got := s.isBusy(); got != want {
			t.Errorf("%s: %v, want %v", when, got, want)
		}
	}
	check("idle", false)
	Ending.Add(1)
	check("a probe is being ended", true)
	Ending.Add(-1)
	check("it has been", false)
	s.Enter(in, 0)
	check("an attempt runs", true)
	s.Leave(in)
	check("it has left", false)
}

// A signal that comes while an attempt enters reaches the attempt, or keeps it from
// starting its command.
func TestSignalWhileEntering(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // no time passes: the program is not stuck, and is not ended
		for i := range 2000 {
			s, in, done := New(), NewInbox(true), make(chan struct{})
			go func() {
				defer close(done)
				s.Dispatch(syscall.SIGTERM)
			}()
			if i%2 == 0 {
				runtime.Gosched()
			}
			asked := s.Enter(in, 0)
			<-done
			if asked == "" && len(in.waiting) == 0 {
				t.Fatalf("round %d: the signal is lost", i)
			}
		}
	})
}
