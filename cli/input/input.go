// Package input reads the files that a user names on the command line.
package input

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/retrysh/retry/engine/text"
)

// patience is how long a named pipe may have no writer.
const patience = 5 * time.Second

// Open opens a file for reading. open(2) of a named pipe waits for a writer, for as
// long as it takes; Open returns an error if there is still none after some time. It
// refuses a device, which may have no end, except a terminal and the null device.
func Open(name string) (*os.File, error) {
	info, err := os.Stat(name)
	if err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		f, err := os.Open(name)
		if err == nil && info.Mode()&os.ModeDevice != 0 && !isNull(info) && !term.IsTerminal(int(f.Fd())) {
			_ = f.Close()
			return nil, Regular(name, info)
		}
		return f, err
	}
	var f *os.File
	opened := make(chan struct{})
	go func() {
		f, err = os.Open(name)
		close(opened)
	}()
	select {
	case <-opened:
		return f, err
	case <-time.After(patience):
		return nil, fmt.Errorf("the pipe %q has no writer", name)
	}
}

// isNull reports whether a file is the null device, under whatever name.
func isNull(info os.FileInfo) bool {
	null, err := os.Stat(os.DevNull)
	return err == nil && os.SameFile(null, info)
}

// ReadAll reads what is left of f. More than that many bytes are an error; what says
// what the file should hold.
func ReadAll(f *os.File, most int, what string) ([]byte, error) {
	data, more, err := text.ReadUpTo(f, int64(most))
	if more {
		err = fmt.Errorf("%q has more than %d MiB, which %s do not", f.Name(), most>>20, what)
	}
	return data, err
}

// Regular returns an error if a file that exists cannot be read from its first byte
// again: it is neither a regular file nor the null device.
func Regular(name string, info os.FileInfo) error {
	switch {
	case info.IsDir():
		return fmt.Errorf("%q is a directory", name)
	case !info.Mode().IsRegular() && name != os.DevNull:
		return fmt.Errorf("%q is not a regular file", name)
	}
	return nil
}
