package cli

// This file opens --log-file so that it can never hold up the run: a pipe
// without a reader is refused, and one whose reader is stuck is given up.

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"
)

// logPatience is how long a reader of the log may keep a line waiting.
const logPatience = time.Second

// logFile is the log. It is closed where it cannot take a line in time.
type logFile struct{ *os.File }

// openLog opens the log for appending. Where it is the program's own standard
// output or error, and that is a file, its descriptor is used: one of its own
// would not share the place at which the command writes (open(2)).
func openLog(name string) (io.Writer, error) {
	for _, own := range []*os.File{os.Stdout, os.Stderr} {
		if info, err := own.Stat(); name == own.Name() && err == nil && info.Mode().IsRegular() {
			return own, nil
		}
	}
	file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY|syscall.O_NONBLOCK, 0o666)
	if errors.Is(err, syscall.ENXIO) {
		return nil, noReader(name)
	}
	if err != nil {
		return nil, err
	}
	return logFile{file}, nil
}

// noReader says what ENXIO means: a FIFO has no reader (open(2), O_NONBLOCK), a device
// does not exist, as /dev/tty in a process without a terminal (tty(4)).
func noReader(name string) error {
	info, err := os.Stat(name)
	switch {
	case err == nil && info.Mode()&os.ModeNamedPipe != 0:
		return fmt.Errorf("the pipe %q has no reader", name)
	case name == "/dev/tty":
		return fmt.Errorf("%q: there is no terminal", name)
	}
	return fmt.Errorf("%q: no such device, or no listener", name)
}

func (l logFile) Write(line []byte) (int, error) {
	_ = l.SetWriteDeadline(time.Now().Add(logPatience)) // plain files need none and have none
	n, err := l.File.Write(line)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		_ = l.Close()
	}
	return n, err
}
