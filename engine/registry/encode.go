package registry

// This file is the format of a record: two slots (package lockedfile) with what
// changes, and behind them what does not. Both are JSON objects with the fields of
// Run. A run writes them by text.JSON: the first json.Marshal of a process takes longer
// than all of its registration.

import (
	"encoding/json"
	"io"

	"github.com/retrysh/retry/engine/lockedfile"
	"github.com/retrysh/retry/engine/text"
)

var magic = lockedfile.Magic{'r', 'e', 't', 'r', 'y', ' ', 'r', '1'}

const (
	// slotSize holds 32 attempts with reasons of longestReason bytes.
	slotSize      = 16 << 10
	longestReason = 200
	// longestCommand is how much of a command a record holds, in bytes.
	longestCommand = 64 << 10
	// largestRecord is how much of a file is read.
	largestRecord = 2*slotSize + 1<<20
)

// cut shortens a text to so many bytes.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return text.Cut(s, most) + "…"
}

// decode reads a record, and reports whether one of its slots is whole and the rest
// can be read.
func decode(raw []byte, run *Run) bool {
	if len(raw) < 2*slotSize {
		return false
	}
	state, _, _, ok := lockedfile.Latest(raw[:2*slotSize], magic)
	return ok && json.Unmarshal(raw[2*slotSize:], run) == nil && json.Unmarshal(state, run) == nil
}

// read reads the file of a record.
func read(file io.ReaderAt) ([]byte, error) {
	return io.ReadAll(io.NewSectionReader(file, 0, largestRecord))
}
