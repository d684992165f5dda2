//go:build !linux

package cli

import (
	"fmt"
	"os"
)

// ttyMain: scripts that need a terminal are for Linux.
func ttyMain() {
	fmt.Fprintln(os.Stderr, "tty: only on linux")
	os.Exit(99)
}
