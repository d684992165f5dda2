package stdio

// This file has the files of Windows. An anonymous pipe cannot be polled: reading it
// blocks, and a caller that stops waiting leaves the reading goroutine behind.

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// File is an open file.
type File = *os.File

// nowhere is a File that nothing is written to.
var nowhere File

// errAgain is not used: reading blocks.
var errAgain = errors.New("nothing to read yet")

func standard(fd int) File { return [...]File{os.Stdin, os.Stdout, os.Stderr}[fd] }

func closeFile(f File) { _ = f.Close() }

func newPipe() (read, write File, err error) {
	read, write, err = os.Pipe()
	if err != nil {
		return nil, nil, fmt.Errorf("cannot make a pipe: %w", err)
	}
	return read, write, nil
}

func readFile(f File, b []byte) (int, error) {
	n, err := f.Read(b)
	if n > 0 {
		err = nil
	}
	return n, err
}

func readAt(f File, b []byte, offset int64) (int, error) { return f.ReadAt(b, offset) }

func writeAll(f File, b []byte) error {
	_, err := f.Write(b)
	return err
}

// isGone reports whether a write failed without a reader.
func isGone(err error) bool {
	const noData, notConnected = syscall.Errno(232), syscall.Errno(233) // ERROR_NO_DATA, ERROR_PIPE_NOT_CONNECTED: the other end is closed
	return errors.Is(err, syscall.ERROR_BROKEN_PIPE) || errors.Is(err, noData) || errors.Is(err, notConnected)
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
			if time.Since(over) >= Drain && !p.busy.Load() && pending(p.src) == 0 {
				p.Drop()
				p.end()
				return
			}
			time.Sleep(orphanLook)
		}
	}()
}

// There is no polling: reading blocks, and so does writing.
type wakeable struct{}

func (wakeable) open() error           { return nil }
func (wakeable) call()                 {}
func (wakeable) close()                {}
func unblock(File)                     {}
func widen(File)                       {}
func awaitReadable(File, *wake)        {}
func (f *feeder) awaitInput() bool     { return true }
func (f *feeder) write(b []byte) error { return writeAll(f.dst, b) }

func seek(f File, offset int64) error {
	_, err := f.Seek(offset, io.SeekStart)
	return err
}

func openNull() (File, error) { return os.Open(os.DevNull) }

// openSpool opens a temporary file that the system removes when it is closed.
func openSpool() (File, error) {
	f, err := openTemporary()
	if err != nil {
		return nil, fmt.Errorf("no temporary file in %q: %w; set TMP to another directory", os.TempDir(), err)
	}
	return f, nil
}

func openTemporary() (File, error) {
	f, err := os.CreateTemp("", "retry-*")
	if err != nil {
		return nil, err
	}
	name := f.Name()
	_ = f.Close()
	path, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return nil, err
	}
	const share = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	h, err := windows.CreateFile(path, windows.GENERIC_READ|windows.GENERIC_WRITE, share, nil, windows.OPEN_EXISTING,
		windows.FILE_ATTRIBUTE_TEMPORARY|windows.FILE_FLAG_DELETE_ON_CLOSE, 0)
	if err != nil {
		_ = os.Remove(name)
		return nil, err
	}
	return os.NewFile(uintptr(h), name), nil
}

// The following have no counterpart here: a console is read through a pipe, and a
// duplicate of a handle shares the position.
const terminalHolds = 0

type keys struct{}

func EditsLines(int) bool                                    { return false }
func isTerminal(File) bool                                   { return false }
func newTerminal(File) (read, write File, err error)         { return nil, nil, errors.ErrUnsupported }
func (p *Pump) readTerminal(b []byte) (int, error)           { return readFile(p.src, b) }
func (*Pump) modesBack()                                     {}
func NoReader() bool                                         { return false }
func sameFile(File, File) bool                               { return false }
func copyInKernel(File, File, *int64) (done bool, err error) { return false, nil }
func reopen() (File, error)                                  { return nil, errors.ErrUnsupported }
