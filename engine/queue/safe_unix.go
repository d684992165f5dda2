//go:build unix

package queue

import (
	"os"
	"syscall"
)

// noFollow opens no symbolic link, and waits for no FIFO.
const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// syncDir writes the names in a directory to the disk.
func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	err = d.Sync()
	_ = d.Close()
	return err
}
