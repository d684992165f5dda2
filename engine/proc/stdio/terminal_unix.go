//go:build unix

package stdio

// This file gives a command a pseudo-terminal for its output if the program's own stream
// is a terminal. It is the controlling terminal of no process.

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// terminalHolds is more than a pseudo-terminal holds, of which pending does not count what
// the kernel has not yet passed on.
const terminalHolds = 64 << 10

func isTerminal(f File) bool {
	_, err := unix.IoctlGetTermios(int(f), getTermios)
	return err == nil
}

// EditsLines reports whether the terminal edits lines (termios(3), ICANON), which programs
// that draw their own screen or read keys switch off.
func EditsLines(fd int) bool {
	modes, err := unix.IoctlGetTermios(fd, getTermios)
	return err == nil && modes.Lflag&unix.ICANON != 0
}

// TakesLineFeeds reports whether a line feed leaves the column as it is on the terminal
// (termios(3), OPOST and ONLCR): sudo and ssh switch the processing of output off while
// their command has a terminal of its own.
func TakesLineFeeds(fd int) bool {
	modes, err := unix.IoctlGetTermios(fd, getTermios)
	const both = unix.OPOST | unix.ONLCR
	return err == nil && modes.Oflag&both != both
}

// IsJournal reports whether a descriptor leads to systemd's journal, whose device and inode
// numbers are in JOURNAL_STREAM (systemd.exec(5)).
func IsJournal(fd int) bool {
	stream := os.Getenv("JOURNAL_STREAM")
	var stat unix.Stat_t
	return stream != "" && unix.Fstat(fd, &stat) == nil && stream == fmt.Sprintf("%d:%d", stat.Dev, stat.Ino)
}

// newTerminal opens a pseudo-terminal with the modes and the size of the terminal f, which
// alone processes output (OPOST).
func newTerminal(f File) (read, write File, err error) {
	modes, err := unix.IoctlGetTermios(int(f), getTermios)
	if err != nil {
		return noFile, noFile, err
	}
	if read, write, err = OpenPty(); err != nil {
		return noFile, noFile, err
	}
	modes.Oflag &^= unix.OPOST
	watchModes(read, modes)
	if err = unix.IoctlSetTermios(int(write), setTermios, modes); err != nil {
		closeFile(read)
		closeFile(write)
		return noFile, noFile, err
	}
	copySize(read, f)
	return read, write, nil
}

// copySize gives a terminal the size of another, and reports whether it had another.
func copySize(to, from File) bool {
	size, err := unix.IoctlGetWinsize(int(from), unix.TIOCGWINSZ)
	if err != nil {
		return false
	}
	old, err := unix.IoctlGetWinsize(int(to), unix.TIOCGWINSZ)
	return err == nil && *old != *size && unix.IoctlSetWinsize(int(to), unix.TIOCSWINSZ, size) == nil
}

// Resize gives the pseudo-terminals the size of their terminals, and reports whether one
// had another.
func (s *Streams) Resize() (changed bool) {
	for _, p := range s.Pumps {
		p.mu.Lock()
		if copySize(p.src, p.dst) { // false for what is no terminal, or closed
			changed = true
		}
		p.mu.Unlock()
	}
	return changed
}

// sameFile reports whether what is written to a and b has one order: they are the
// same pipe, socket or device, or one open file, or both append to one file. Two
// opens of one file that do not append have positions of their own.
func sameFile(a, b File) bool {
	var x, y unix.Stat_t
	if unix.Fstat(int(a), &x) != nil || unix.Fstat(int(b), &y) != nil || x.Dev != y.Dev || x.Ino != y.Ino {
		return false
	}
	if kind := x.Mode & unix.S_IFMT; kind != unix.S_IFREG && kind != unix.S_IFBLK {
		return true
	}
	flags := func(f File) int {
		n, _ := unix.FcntlInt(uintptr(f), unix.F_GETFL, 0)
		return n
	}
	of := flags(a)
	if append := of & flags(b) & unix.O_APPEND; append != 0 || of != flags(b) {
		return append != 0
	}
	// Copies of one descriptor share their flags, which kcmp(2) would say too if
	// it is permitted. O_NONBLOCK has no effect on a file.
	other := of ^ unix.O_NONBLOCK
	_, _ = unix.FcntlInt(uintptr(a), unix.F_SETFL, other)
	shared := flags(b) == other
	_, _ = unix.FcntlInt(uintptr(a), unix.F_SETFL, of)
	return shared
}
