//go:build unix && !linux

package lockedfile

import "time"

func status(fd int) (fileStatus, error) { return fstat(fd) }

func sleep(d time.Duration) { time.Sleep(d) }
