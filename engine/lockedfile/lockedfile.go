// Package lockedfile is files that several processes share: opened without following a link,
// checked for their owner, and locked by the kernel, which frees the lock when a process dies.
package lockedfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/retrysh/retry/engine/text"
)

// ErrHeld says that another process holds a lock.
var ErrHeld = errors.New("another process holds its lock")

// A lock is tried some times in a row: a transaction takes a few microseconds, in
// which a process on another core ends its own. Then waits follow that grow from
// the first to the longest. After patience of them the short waits begin again, so
// that none of many processes that want the lock waits for ever.
const (
	spins                  = 40
	firstPoll, longestPoll = time.Millisecond, 10 * time.Millisecond
	patience               = 8
	// justMade is how often one is opened again that may not be opened.
	justMade = 20
)

// Lock locks the file, or returns ErrHeld when ctx is done: flock has no time limit of its own.
// It tries once at least.
// The waits are spread by the clock, so that processes that wait together do not try together.
func (l *File) Lock(ctx context.Context) error {
	wait := firstPoll
	for tries := 1; ; tries++ {
		locked, err := l.TryLock()
		switch {
		case locked || err != nil:
			return err
		case ctx.Err() != nil:
			return ErrHeld
		case tries < spins:
			continue
		case tries > spins+patience:
			wait = firstPoll
		case tries > spins:
			wait = min(wait*3/2, longestPoll)
		}
		sleep(wait/2 + time.Duration(time.Now().UnixNano())%wait)
	}
}

// Queue locks the file as Lock does. It is for many processes that hold the lock for
// long: on Unix they wait in the kernel, since their polls would take the processor from
// the one that holds it. After an error the file is closed.
func (l *File) Queue(ctx context.Context) error {
	granted := make(chan error, 1)
	go func() { granted <- l.wait(ctx) }()
	select {
	case err := <-granted:
		if err != nil {
			l.Close()
		}
		return err
	case <-ctx.Done():
		go func() {
			<-granted
			l.Close()
		}()
		return ErrHeld
	}
}

// OpenLocked opens a file, makes it if create says so, and locks it. A file that was
// removed meanwhile is opened again.
func OpenLocked(ctx context.Context, path string, create bool) (*File, error) {
	return openLocked(ctx, func() (*File, error) { return Open(path, create) })
}

// OpenLocked is the same for a file of the directory.
func (d *Dir) OpenLocked(ctx context.Context, name string, create bool) (*File, error) {
	return openLocked(ctx, func() (*File, error) { return d.Open(name, create) })
}

func openLocked(ctx context.Context, open func() (*File, error)) (*File, error) {
	for {
		f, err := open()
		// A member of the group that has just made it has yet to open it to others.
		for tries := 0; tries < justMade && errors.Is(err, fs.ErrPermission) && ctx.Err() == nil; tries++ {
			sleep(firstPoll)
			f, err = open()
		}
		if err != nil {
			return nil, err
		}
		removed := false
		if err = f.Lock(ctx); err == nil {
			removed, err = f.Check()
		}
		if err == nil && !removed {
			return f, nil
		}
		f.Close()
		if err != nil {
			return nil, err
		}
	}
}

// OpenRegular opens a regular file as os.OpenFile does. It never waits for a FIFO.
func OpenRegular(path string, flags int, mode fs.FileMode) (*os.File, fs.FileInfo, error) {
	stat := os.Stat
	if flags&NoFollow == NoFollow {
		stat = os.Lstat
	}
	var info fs.FileInfo
	f, err := os.OpenFile(path, flags|syscall.O_NONBLOCK, mode)
	if err == nil {
		info, err = f.Stat()
	} else if at, e := stat(path); e == nil && !at.Mode().IsRegular() {
		info, err = at, nil
	}
	if err == nil && !info.Mode().IsRegular() {
		err = NotRegular(path)
	}
	if err != nil {
		_ = f.Close() // of nil as well
		return nil, nil, err
	}
	return f, info, nil
}

// ReadRegular reads a regular file that is named from outside: of at most so many bytes,
// and with these flags of open. It never waits for a FIFO.
func ReadRegular(path string, flags int, most int64) ([]byte, error) {
	f, _, err := OpenRegular(path, os.O_RDONLY|flags, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	data, more, err := text.ReadUpTo(f, most)
	if more {
		err = fmt.Errorf("%q has more than %d bytes", path, most)
	}
	return data, err
}

// NotRegular is the error for a path that names no regular file.
func NotRegular(path string) error { return fmt.Errorf("%q is not a regular file", path) }
