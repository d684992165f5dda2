//go:build darwin || freebsd

package proc

// process is one line of the process table.
type process struct {
	pid, ppid, pgid, sid int
	// start is when it was started, in microseconds since 1970 or, on FreeBSD,
	// since the system was; together with pid it names a process for good.
	start   uint64
	dead    bool // a zombie
	stopped bool // by a job-control signal
}

// Values of a process's state from sys/proc.h, the same on both systems.
const (
	stateStopped = 4
	stateZombie  = 5
)

// isAnother would have to compare paths here, which may have changed.
func isAnother(int) bool { return false }

// hasInEnvironment is not asked here: orphans are not this program's.
func hasInEnvironment(int, []string) bool { return false }
