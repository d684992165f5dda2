package stdio

// This file has the files of Windows. An anonymous pipe cannot be polled: reading it
// blocks, and a caller that stops waiting leaves the reading goroutine behind.

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// File is an open file.
type File = *os.File

// noFile is a File that nothing is written to.
var noFile File

func standard(fd int) File { return [...]File{os.Stdin, os.Stdout, os.Stderr}[fd] }

func closeFile(f File) { _ = f.Close() }

func newPipe() (read, write File, err error) {
	return os.Pipe()
}

// readerOf takes every file for a pipe, whose bytes that wait are not known here.
func readerOf(File) (waits, pipe bool) { return true, true }

// isGone reports whether a write failed without a reader.
func isGone(err error) bool {
	return errors.Is(err, windows.ERROR_BROKEN_PIPE) || errors.Is(err, windows.ERROR_NO_DATA) ||
		errors.Is(err, windows.ERROR_PIPE_NOT_CONNECTED)
}

var peekNamedPipe = windows.NewLazySystemDLL("kernel32.dll").NewProc("PeekNamedPipe")

// pending returns how many bytes a pipe holds. PeekNamedPipe takes the reading end
// of an anonymous pipe as well.
func pending(f File) int {
	var n uint32
	ok, _, _ := peekNamedPipe.Call(f.Fd(), 0, 0, 0, uintptr(unsafe.Pointer(&n)), 0)
	if ok == 0 {
		return 0
	}
	return int(n)
}

// orphanLook is the interval between two looks at a pipe that an orphan holds.
const orphanLook = 10 * time.Millisecond

// watchOrphans ends a pump that waits for an orphan, after Drain and when all has been
// written.
func (p *Pump) watchOrphans() {
	go func() {
		over := time.Now()
		for !p.HasEnded() {
			if time.Since(over) >= Drain && p.IsIdle() {
				p.Drop()
				p.end()
				return
			}
			time.Sleep(orphanLook)
		}
	}()
}

// readWaits says that a pump waits in its read: for a moment it has bytes and is not busy.
const readWaits = true

// There is no polling: reading blocks, and so does writing.
type wakeable struct{}

func (wakeable) open() error       { return nil }
func (wakeable) call()             {}
func (wakeable) close()            {}
func unblock(File)                 {}
func enlargePipe(File)             {}
func awaitReadable(File, *wake)    {}
func (f *feeder) awaitInput() bool { return true }
func openNull() (File, error)      { return os.Open(os.DevNull) }

func (f *feeder) write(b []byte) error {
	_, err := f.dst.Write(b)
	return err
}

// openSpool opens a temporary file that the system removes when it is closed.
func openSpool() (File, error) {
	f, err := os.CreateTemp("", "retry-*")
	if err == nil {
		name := f.Name()
		_ = f.Close()
		if f, err = os.OpenFile(name, os.O_RDWR|windows.FILE_FLAG_DELETE_ON_CLOSE, 0o600); err != nil {
			_ = os.Remove(name)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("no temporary file in %q: %w; set TMP to another directory", os.TempDir(), err)
	}
	return f, nil
}

// The following have no counterpart here: a console is read through a pipe, and a
// duplicate of a handle shares the position.
const terminalHolds = 0

type keys struct{}

func EditsLines(int) bool                                           { return false }
func TakesLineFeeds(int) bool                                       { return false }
func IsJournal(int) bool                                            { return false }
func isTerminal(File) bool                                          { return false }
func newTerminal(File) (read, write File, err error)                { return nil, nil, errors.ErrUnsupported }
func (p *Pump) read(b []byte) (int, error)                          { return p.src.Read(b) }
func (*Pump) modesBack()                                            {}
func NoReader() bool                                                { return false }
func sameFile(File, File) bool                                      { return false }
func copyInKernel(File, File, *atomic.Int64) (done bool, err error) { return false, nil }
func reopen() (File, error)                                         { return nil, errors.ErrUnsupported }

func sizeOf(f File) int64 {
	info, err := f.Stat()
	if err != nil {
		return 0
	}
	return info.Size()
}
