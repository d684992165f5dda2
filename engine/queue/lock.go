package queue

import (
	"context"
	"errors"
	"time"

	"github.com/retrysh/retry/engine/lockedfile"
)

// lockFile makes a file and locks it, or returns ErrClaimed when it has waited so
// long. A file that was removed meanwhile is made again.
func lockFile(path string, wait time.Duration) (*lockedfile.File, error) {
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	for {
		f, err := lockedfile.Open(path, true)
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
		switch {
		case errors.Is(err, lockedfile.ErrHeld):
			return nil, ErrClaimed
		case err != nil:
			return nil, err
		}
	}
}
