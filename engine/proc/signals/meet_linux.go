//go:build amd64 || arm64

package signals

// This file meets the program's other threads, by way of a handler.

import (
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/retrysh/retry/engine/proc/note"
)

// noteMeetings has the handler in place for good: a signal that is taken late
// must not find Go's, which would print every stack.
var noteMeetings = sync.OnceFunc(func() { note.Start(int(meeting)) })

// meet returns when another thread has run a handler, and so has left every one
// that it was in or on the way to, or at the end.
func meet(thread int, end time.Time) {
	noteMeetings()
	note.Take(int(meeting))
	defer note.Take(int(meeting)) // it was not meant for a command
	err := unix.Tgkill(unix.Getpid(), thread, meeting)
	for looks := 0; err == nil && !note.Has(int(meeting)) && time.Now().Before(end); looks++ {
		if looks < 500 {
			_, _, _ = syscall.RawSyscall(syscall.SYS_SCHED_YIELD, 0, 0, 0)
			continue
		}
		time.Sleep(20 * time.Microsecond)
		err = unix.Tgkill(unix.Getpid(), thread, 0) // it may have ended
	}
}
