//go:build darwin || freebsd

package table

// Process is one line of the process table.
type Process struct {
	Pid, Ppid, Pgid, Sid int
	// Start is when it was started, in microseconds since 1970 or, on FreeBSD,
	// since the system was; together with Pid it names a process for good.
	Start   uint64
	Dead    bool // a zombie
	Stopped bool // by a job-control signal
}

// Values of a process's state from sys/proc.h, the same on both systems.
const (
	stateStopped = 4
	stateZombie  = 5
)

// IsAnother would have to compare paths here, which may have changed.
func IsAnother(int) bool { return false }

// HasInEnvironment is not asked here: orphans are not this program's.
func HasInEnvironment(int, []string) bool { return false }
