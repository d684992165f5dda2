package telemetry

// This file keeps the metrics in a file that Prometheus's textfile collector
// reads. The file is the state: it is locked by itself, read, added to, written
// aside and renamed, so that a process that is killed loses no other run and
// counts none twice, and a reader never sees half of it. A run that does not get
// the lock soon leaves its metrics in a file beside it (beside.go), for whoever
// has the lock.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/engine/lockedfile"
	"github.com/retrysh/retry/engine/text"
)

// lockLimit is how long a run waits for the lock of the file, and besideLimit how
// long for that of the file beside. A test of many writers has no such limit.
const lockLimit = 100 * time.Millisecond

var besideLimit = 5 * time.Second

const (
	largestFile = 8 << 20
	fileMode    = 0o644
	fileEnding  = ".prom"
)

// CheckMetricsFile returns an error if the textfile collector would not read
// a file of this name.
func CheckMetricsFile(name string) error {
	if base := filepath.Base(name); len(base) <= len(fileEnding) || !strings.HasSuffix(base, fileEnding) {
		return fmt.Errorf("%q is not NAME%s, and the textfile collector reads nothing else", name, fileEnding)
	}
	return nil
}

// addToFile counts the run in the file, or leaves it beside the file if that is not
// locked within lockLimit. A cancelled run does not wait.
func addToFile(ctx context.Context, name string, r *run) error {
	wait := lockLimit
	if r.End.Outcome == event.Cancelled {
		wait = 0
	}
	err := merge(ctx, name, wait, r.metrics)
	if errors.Is(err, lockedfile.ErrHeld) {
		err = leaveBeside(ctx, name, r.metrics)
	}
	if err != nil {
		return err
	}
	// What others have left while this run had the lock, or has left itself: another run
	// that has the lock now takes it in.
	for err == nil && liesBeside(name) {
		err = merge(ctx, name, 0, nil)
	}
	if errors.Is(err, lockedfile.ErrHeld) {
		return nil
	}
	return err
}

// merge locks the file and adds to it what lies beside it and a run's metrics.
func merge(ctx context.Context, name string, wait time.Duration, run metrics) error {
	lockName := name
	if runtime.GOOS == "windows" { // where a file that is open cannot be replaced
		lockName += ".lock"
	}
	lock, err := lockCurrent(ctx, lockName, wait, true)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }()
	data, err := read(name)
	if err != nil {
		return err
	}
	m, err := decode(data)
	if err != nil {
		return leftAsItIs(name, err)
	}
	m.add(run)
	return takeIn(ctx, name, data, m)
}

// read reads the file, made if it is missing.
func read(name string) ([]byte, error) {
	f, err := open(name, true)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return readAll(f, name)
}

var errLarge = fmt.Errorf("is larger than %d MiB", largestFile>>20)

func readAll(f *os.File, name string) ([]byte, error) {
	data, more, err := text.ReadUpTo(f, largestFile)
	if more {
		err = leftAsItIs(name, errLarge)
	}
	return data, err
}

func leftAsItIs(name string, err error) error {
	return fmt.Errorf("%q %w; it is left as it is", name, err)
}

// open opens a file. No link is followed.
func open(name string, create bool) (*os.File, error) {
	flags := os.O_RDWR | lockedfile.NoFollow
	if create {
		flags |= os.O_CREATE
	}
	f, _, err := lockedfile.OpenRegular(name, flags, fileMode)
	return f, err
}

// lockCurrent opens the file and locks it within so long, or returns ErrHeld. If
// the file was replaced or removed meanwhile, the new one is locked.
func lockCurrent(ctx context.Context, name string, wait time.Duration, create bool) (*os.File, error) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for {
		f, err := open(name, create)
		if err != nil {
			return nil, err
		}
		if err := lockedfile.FromFile(f).Lock(ctx); err != nil {
			_ = f.Close()
			return nil, err
		}
		locked, err := f.Stat()
		if current, e := os.Lstat(name); err == nil && e == nil && os.SameFile(locked, current) {
			return f, nil
		}
		_ = f.Close()
	}
}

// replace writes the file aside, under one name that the collector does not
// read, and renames it.
func replace(name string, data []byte) error {
	aside := name + ".new"
	if err := os.Remove(aside); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(aside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(fileMode) // without the umask
	}
	closeErr := f.Close()
	if err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(aside, name)
	}
	if err != nil {
		_ = os.Remove(aside)
	}
	return err
}
