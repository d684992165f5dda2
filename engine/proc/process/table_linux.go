package process

// This file lists processes through /proc.

import (
	"bytes"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// ticksPerSecond is USER_HZ, 100 on every architecture that Go knows (proc(5)).
const ticksPerSecond = 100

// ticks is the present in ticks since boot.
func ticks() uint64 {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts)
	return uint64(time.Duration(ts.Nano()) / (time.Second / ticksPerSecond))
}

// List returns the processes that /proc shows.
func List() ([]Entry, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }()
	names, _ := dir.Readdirnames(-1)
	fd := int(dir.Fd())
	var list []Entry
	for _, name := range names {
		if _, err := strconv.Atoi(name); err != nil {
			continue // self, or no process
		}
		if p, ok := readStat(fd, name+"/stat"); ok {
			list = append(list, p)
		}
	}
	if len(list) == 0 { // not even this process: /proc is not mounted here
		return nil, unix.ENOENT
	}
	return list, nil
}

// readStat reads one /proc/PID/stat (proc(5)).
func readStat(dir int, name string) (Entry, bool) {
	fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return Entry{}, false
	}
	var stat [1 << 10]byte
	n, err := unix.Read(fd, stat[:])
	_ = unix.Close(fd)
	if err != nil {
		return Entry{}, false
	}
	return parseStat(stat[:n])
}

// parseStat reads what follows the command's name, which may itself hold
// spaces and parentheses.
func parseStat(line []byte) (Entry, bool) {
	number, _, _ := bytes.Cut(line, []byte{' '})
	pid, err := strconv.Atoi(string(number))
	// Field numbers count from 1 in proc(5); the state is number 3.
	var fields [23]uint64
	var state byte
	field := 2
	for word := range bytes.FieldsSeq(line[bytes.LastIndexByte(line, ')')+1:]) {
		switch field++; field {
		case 3:
			state = word[0]
		case 4, 5, 6, 20, 22:
			fields[field], _ = strconv.ParseUint(string(word), 10, 64)
		}
	}
	if err != nil || pid <= 0 || field < 22 {
		return Entry{}, false
	}
	return Entry{
		Pid: pid, Ppid: int(fields[4]), Pgid: int(fields[5]), Sid: int(fields[6]), Start: fields[22],
		// A process whose first thread has ended looks like a zombie while others run
		// (field 20 counts the threads).
		Dead:    (state == 'Z' || state == 'X') && fields[20] <= 1,
		Stopped: state == 'T',
	}, true
}

// Stat looks at one process.
func Stat(pid int) (Entry, bool) {
	return readStat(unix.AT_FDCWD, "/proc/"+strconv.Itoa(pid)+"/stat")
}

// isAnother reports whether the process runs this very program.
func isAnother(pid int) bool {
	own, _ := os.Stat("/proc/self/exe")
	its, _ := os.Stat("/proc/" + strconv.Itoa(pid) + "/exe")
	return os.SameFile(own, its) // false if one is not known
}

// HasInEnvironment reports whether the environment that a process was started
// with has all entries. That of another user's cannot be read.
func HasInEnvironment(pid int, entries []string) bool {
	return hasEntries(environment(pid), entries)
}

// hasEntries reports whether an environment, each entry of which ends in NUL, has all entries.
func hasEntries(environ []byte, entries []string) bool {
	text := append([]byte{0}, environ...)
	for _, entry := range entries {
		if !bytes.Contains(text, []byte("\x00"+entry+"\x00")) {
			return false
		}
	}
	return true
}

// longestExec is how long a process may take to execute another program, most of it
// without a processor on a busy machine.
const longestExec = time.Second

// environment reads /proc/PID/environ.
func environment(pid int) []byte {
	dir := "/proc/" + strconv.Itoa(pid) + "/"
	return environ(func(name string) ([]byte, error) { return os.ReadFile(dir + name) })
}

// environ reads the file environ of a process (proc(5)). Like cmdline it is empty while the
// process executes another program; alone, it is that of a program without variables.
func environ(read func(name string) ([]byte, error)) []byte {
	for limit := time.Now().Add(longestExec); ; time.Sleep(200 * time.Microsecond) {
		text, err := read("environ")
		if err != nil || len(text) > 0 {
			return text
		}
		if words, _ := read("cmdline"); len(words) > 0 || time.Now().After(limit) {
			text, _ = read("environ") // the program may have been executed meanwhile
			return text
		}
	}
}
