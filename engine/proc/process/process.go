// Package process starts a command and ends it together with all that it has started. On
// Unix that is a tree of processes, found in the table of all processes and among the
// orphans that the program adopts; on Windows a job.
//
// On Unix it owns SIGCHLD. A process that was started here stays a zombie until Reap takes
// its status: until then its pid, and the process group that it leads, are no other's.
// Every other child of a program that adopts is an orphan, and is reaped as it ends.
package process

import (
	"fmt"
	"syscall"

	"github.com/retrysh/retry/exitcodes"
)

// Ending is how a process ended.
type Ending struct {
	Code   int            // what it exited with
	Signal syscall.Signal // what ended it, 0 if it exited
	Err    error          // why that cannot be said
}

func startError(code int, format string, args ...any) error {
	return &exitcodes.Error{Code: code, Err: fmt.Errorf(format, args...)}
}
