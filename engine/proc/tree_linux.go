package proc

// This file lists processes through /proc.

import (
	"bytes"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// process is one line of the process table.
type process struct {
	pid, ppid, pgid, sid int
	// start is when it was started, in ticks since boot; together with pid it
	// names a process for good.
	start   uint64
	dead    bool // a zombie, all its threads gone
	stopped bool // by a job-control signal
}

// ticksPerSecond is USER_HZ, 100 on every architecture that Go knows (proc(5)).
const ticksPerSecond = 100

// nowInTicks is the present in the unit of process.start.
func nowInTicks() uint64 {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts) != nil {
		return 0
	}
	return uint64(time.Duration(ts.Nano()) / (time.Second / ticksPerSecond))
}

// scanBuffer is shared by all scans, one at a time.
var scan struct {
	sync.Mutex
	names [16 << 10]byte
	stat  [1 << 10]byte
}

// processes lists all processes that /proc shows.
func processes() ([]process, error) {
	scan.Lock()
	defer scan.Unlock()
	dir, err := unix.Open("/proc", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = unix.Close(dir) }()
	var list []process
	var names []string
	for {
		n, err := unix.ReadDirent(dir, scan.names[:])
		if err == unix.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			break
		}
		_, _, names = unix.ParseDirent(scan.names[:n], -1, names[:0])
		for _, name := range names {
			if name[0] < '1' || name[0] > '9' {
				continue
			}
			if p, ok := readStat(dir, name+"/stat"); ok {
				list = append(list, p)
			}
		}
	}
	if len(list) == 0 { // not even this process: /proc is not mounted here
		return nil, unix.ENOENT
	}
	return list, nil
}

// readStat reads one /proc/PID/stat (proc(5)).
func readStat(dir int, name string) (process, bool) {
	fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return process{}, false
	}
	n, err := unix.Read(fd, scan.stat[:])
	_ = unix.Close(fd)
	if err != nil || n <= 0 {
		return process{}, false
	}
	return parseStat(scan.stat[:n])
}

// parseStat reads what follows the command's name, which may itself hold
// spaces and parentheses.
func parseStat(line []byte) (process, bool) {
	open, closed := bytes.IndexByte(line, ' '), bytes.LastIndexByte(line, ')')
	if open < 0 || closed < 0 {
		return process{}, false
	}
	fields := bytes.Fields(line[closed+1:])
	if len(fields) < 20 {
		return process{}, false
	}
	// Field numbers count from 1 in proc(5); the first here is number 3.
	number := func(field int) int {
		n, _ := strconv.Atoi(string(fields[field-3]))
		return n
	}
	pid, err := strconv.Atoi(string(line[:open]))
	start, err2 := strconv.ParseUint(string(fields[22-3]), 10, 64)
	p := process{pid: pid, ppid: number(4), pgid: number(5), sid: number(6), start: start}
	// A process whose first thread has ended looks like a zombie while others
	// run on (field 20 counts the threads).
	state := fields[0][0]
	p.dead = (state == 'Z' || state == 'X') && number(20) <= 1
	p.stopped = state == 'T'
	return p, err == nil && err2 == nil
}

// statOf looks at one process.
func statOf(pid int) (process, bool) {
	scan.Lock()
	defer scan.Unlock()
	return readStat(unix.AT_FDCWD, "/proc/"+strconv.Itoa(pid)+"/stat")
}
