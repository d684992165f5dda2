//go:build unix

package history

import "os"

// rename renames the open file, and reports whether it did.
func rename(_ *os.File, from, to string) bool { return os.Rename(from, to) == nil }
