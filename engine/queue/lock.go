package queue

import (
	"os"
	"time"
)

// lockedFile is a file whose lock this process holds.
type lockedFile struct{ *os.File }

// Unlock frees the lock for all who have inherited it, and closes the file.
func (l lockedFile) Unlock() {
	unlock(l.File)
	_ = l.Close()
}

// lockFile makes a file and locks it, or says ErrClaimed when it has waited for so
// long. One that was removed meanwhile is made again.
func lockFile(path string, wait time.Duration) (lockedFile, error) {
	const pause = 2 * time.Millisecond
	for waited := time.Duration(0); ; {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|noFollow, 0o600)
		if err != nil {
			return lockedFile{}, err
		}
		locked, err := tryLock(f)
		if locked {
			mine, statErr := f.Stat()
			there, err := os.Lstat(path)
			if statErr == nil && err == nil && os.SameFile(mine, there) {
				return lockedFile{f}, nil
			}
			_ = f.Close()
			continue
		}
		_ = f.Close()
		switch {
		case err != nil:
			return lockedFile{}, err
		case waited >= wait:
			return lockedFile{}, ErrClaimed
		}
		time.Sleep(pause)
		waited += pause
	}
}
