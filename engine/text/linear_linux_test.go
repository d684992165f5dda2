package text

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestMaskedIsLinear masks words that hold what begins a secret all over, and words of 16
// times their size. In linear time those take 16 times as long, in quadratic time 256 times:
// the bound between is four times from either. What is measured is this thread's processor
// time, which other work on the machine adds little to, and the least of some tries: many of
// the short word, and as many of the long one as show that it took no longer.
func TestMaskedIsLinear(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const size, times, most = 1 << 11, 16, 64
	for _, part := range []string{"a://", "://", "http://u:x", "redis://", "token", "token: ", "--token ", "u:p@",
		"@", ":", "\"", "bearer ", "sk-", "Cookie: ", "token=\"", "mysql -px ", "A_KEY=", "login a password b ",
		"a/b@c ", "-----BEGIN ", "curl -u a:b ", "-x ", "a "} {
		short, long := strings.Repeat(part, size/len(part)), strings.Repeat(part, times*size/len(part))
		shortest, longest := time.Hour, time.Hour
		for range 5 {
			shortest = min(shortest, maskingTakes(short))
		}
		for tries := 0; tries < 10 && longest > most*shortest; tries++ {
			longest = min(longest, maskingTakes(long))
		}
		if longest > most*shortest {
			t.Errorf("%q: %d bytes take %v, %d times as many take %v", part, len(short), shortest, times, longest)
		}
	}
}

func maskingTakes(s string) time.Duration {
	begun := threadTime()
	_, _, _ = Masked(s), MaskedAddress(s), MaskedArgs([]string{s, s})
	_ = MaskedArgs(strings.Fields(s))
	return threadTime() - begun
}

// threadTime is the processor time of the calling thread (clock_gettime(2)).
func threadTime() time.Duration {
	var spent unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &spent); err != nil {
		panic(err)
	}
	return time.Duration(spent.Nano())
}
