//go:build unix

package process

// Entry is one line of the process table, which may have changed by the time that it is
// read.
type Entry struct {
	Pid, Ppid, Pgid, Sid int // macOS shows no session
	// Start is when it was started, in the unit of ticks; together with Pid it names
	// a process for good.
	Start   uint64
	Dead    bool // a zombie, all its threads gone
	Stopped bool // by a job-control signal
}

// has reports whether a process is among some with their start times.
func has(some map[int]uint64, p Entry) bool {
	start, there := some[p.Pid]
	return there && start == p.Start
}

func byParent(list []Entry) map[int][]Entry {
	m := map[int][]Entry{}
	for _, p := range list {
		m[p.Ppid] = append(m[p.Ppid], p)
	}
	return m
}

// descend visits the descendants of pid, parents first, without those of a process for
// which visit returns false.
func descend(byParent map[int][]Entry, pid int, visit func(Entry) bool) {
	for queue := []int{pid}; len(queue) > 0; queue = queue[1:] {
		for _, p := range byParent[queue[0]] {
			if visit(p) {
				queue = append(queue, p.Pid)
			}
		}
	}
}
