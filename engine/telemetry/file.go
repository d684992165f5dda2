package telemetry

// This file keeps the metrics in a file that Prometheus's textfile collector
// reads. The file is the state: it is locked by itself, read, added to, written
// aside and renamed, so that a process that is killed loses no other run and
// counts none twice, and a reader never sees half of it.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/retrysh/retry/engine/lockedfile"
	"github.com/retrysh/retry/engine/text"
)

const (
	lockLimit   = time.Second
	largestFile = 8 << 20
	fileMode    = 0o644
	fileEnding  = ".prom"
)

// CheckMetricsFile returns an error where the textfile collector would not read
// a file of this name.
func CheckMetricsFile(name string) error {
	if base := filepath.Base(name); len(base) <= len(fileEnding) || !strings.HasSuffix(base, fileEnding) {
		return fmt.Errorf("%q is not NAME%s, and the textfile collector reads nothing else", name, fileEnding)
	}
	return nil
}

// addToFile counts the run in the file.
func addToFile(ctx context.Context, name string, r *run) error {
	ctx, cancel := context.WithTimeoutCause(ctx, lockLimit, fmt.Errorf("%q: not locked within %v", name, lockLimit))
	defer cancel()
	lockName := name
	if runtime.GOOS == "windows" { // where a file that is open cannot be replaced
		lockName += ".lock"
	}
	lock, err := lockCurrent(ctx, lockName)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }()
	f, err := open(name)
	if err != nil {
		return err
	}
	data, more, err := text.ReadUpTo(f, largestFile)
	_ = f.Close()
	if err != nil {
		return err
	}
	if more {
		return fmt.Errorf("%q is larger than %d MiB; it is left as it is", name, largestFile>>20)
	}
	m, err := decode(data)
	if err != nil {
		return fmt.Errorf("%q %w; it is left as it is", name, err)
	}
	m.add(r.metrics)
	return replace(name, m.encode())
}

// open opens the file, made if it is missing. No link is followed.
func open(name string) (*os.File, error) {
	f, _, err := lockedfile.OpenRegular(name, os.O_RDWR|os.O_CREATE|lockedfile.NoFollow, fileMode)
	return f, err
}

// lockCurrent opens the file and locks it. Where it was replaced meanwhile, the
// new one is locked.
func lockCurrent(ctx context.Context, name string) (*os.File, error) {
	for {
		f, err := open(name)
		if err != nil {
			return nil, err
		}
		if err := lockedfile.Of(f).Lock(ctx); err != nil {
			_ = f.Close()
			if errors.Is(err, lockedfile.ErrHeld) {
				err = context.Cause(ctx)
			}
			return nil, err
		}
		locked, err := f.Stat()
		if current, e := os.Lstat(name); err == nil && e == nil && os.SameFile(locked, current) {
			return f, nil
		}
		_ = f.Close()
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
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
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(aside, name)
	}
	if err != nil {
		_ = os.Remove(aside)
	}
	return err
}
