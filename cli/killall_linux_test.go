package cli

// This file ends what a script leaves.

import (
	"bytes"
	"os"
	"syscall"

	"github.com/retrysh/retry/testdata/session"
)

// killAll kills every process that has the script's directory in its
// environment, and what such a one has started meanwhile.
func killAll(work string) {
	entry := []byte("WORK=" + work + "\x00")
	for found, rounds := true, 0; found && rounds < 100; rounds++ {
		found = false
		for pid, dir := range session.Processes() {
			environ, err := os.ReadFile(dir + "/environ")
			if err != nil || !bytes.HasPrefix(environ, entry) && !bytes.Contains(environ, append([]byte{0}, entry...)) {
				continue
			}
			if syscall.Kill(pid, syscall.SIGKILL) == nil {
				found = true
			}
		}
	}
}
