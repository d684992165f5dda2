package cli

// This file opens --log-file so that it can never hold up the run: a pipe that
// nobody reads is refused, and one whose reader is stuck is given up.

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// logPatience is how long a reader of the log may keep a line waiting.
const logPatience = time.Second

// logFile is the log; what it cannot take in time it loses.
type logFile struct {
	file  *os.File
	stuck bool
}

// openLog opens the log for appending.
func openLog(name string) (*logFile, error) {
	file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY|syscall.O_NONBLOCK, 0o666)
	if errors.Is(err, syscall.ENXIO) { // open(2), O_NONBLOCK on a FIFO
		return nil, fmt.Errorf("nobody reads the pipe %q", name)
	}
	if err != nil {
		return nil, err
	}
	return &logFile{file: file}, nil
}

// Write appends one line.
func (l *logFile) Write(line []byte) (int, error) {
	if l.stuck {
		return 0, os.ErrDeadlineExceeded
	}
	_ = l.file.SetWriteDeadline(time.Now().Add(logPatience)) // plain files need none and have none
	n, err := l.file.Write(line)
	l.stuck = errors.Is(err, os.ErrDeadlineExceeded)
	return n, err
}

// Close closes the file.
func (l *logFile) Close() error { return l.file.Close() }
