// Package table reads the table of processes: who is whose child, in which
// process group and session, and since when.
//
// It looks and does nothing else: it signals, waits for and reaps nothing, and
// keeps nothing between two looks. What it says may have changed by the time that
// it is read. Where there is no table (no /proc), List says so.
package table

// Process is one line of the process table.
type Process struct {
	Pid, Ppid, Pgid, Sid int // macOS shows no session
	// Start is when it was started, in the unit of Now; together with Pid it names
	// a process for good.
	Start   uint64
	Dead    bool // a zombie, all its threads gone
	Stopped bool // by a job-control signal
}
