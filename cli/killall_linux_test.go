package cli

// This file ends what a script leaves.

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// killAll kills every process that has the script's directory in its
// environment, and what such a one has started meanwhile.
func killAll(work string) {
	entry := []byte("WORK=" + work + "\x00")
	for found, rounds := true, 0; found && rounds < 100; rounds++ {
		found = false
		processes, _ := filepath.Glob("/proc/[0-9]*") // with a name behind it Glob reads each folder
		for _, process := range processes {
			environ, err := os.ReadFile(filepath.Join(process, "environ"))
			if err != nil || !bytes.HasPrefix(environ, entry) && !bytes.Contains(environ, append([]byte{0}, entry...)) {
				continue
			}
			pid, err := strconv.Atoi(filepath.Base(process))
			if err == nil && syscall.Kill(pid, syscall.SIGKILL) == nil {
				found = true
			}
		}
	}
}
