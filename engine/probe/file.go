package probe

// file:// targets.

import (
	"context"
	"os"
)

// fileCheck looks whether a path exists; a link that leads nowhere does not.
type fileCheck struct{ path string }

func (c *fileCheck) run(ctx context.Context, t *try) error {
	// A look at a file system whose server is gone cannot be broken off. The
	// try still ends, and the next one waits for the same look, so that
	// no more than one hangs.
	if t.stat == nil {
		done := make(chan error, 1)
		t.stat = done
		go func() {
			_, err := os.Stat(c.path)
			done <- err
		}()
	}
	select {
	case err := <-t.stat:
		t.stat = nil
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
