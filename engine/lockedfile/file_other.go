//go:build !linux

package lockedfile

import "time"

func sleep(d time.Duration) { time.Sleep(d) }
