//go:build unix

package proc

// This file looks how a terminal is used.

import "github.com/retrysh/retry/engine/proc/stdio"

// EditsLines reports whether the terminal edits lines itself.
func EditsLines(fd int) bool { return stdio.EditsLines(fd) }

// ShowsColors reports true: a terminal obeys escape sequences.
func ShowsColors(int) bool { return true }
