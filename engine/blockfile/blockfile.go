// Package blockfile reads the lines of files that are made of blocks, as rule files
// and policy files are.
//
// A line is "key value": key and value are divided by blanks or tabs, the value is the rest
// of the line without the blanks at its ends. A blank line ends a block; a line that begins
// with # is a comment, which ends nothing. What a key means, and which keys begin a block,
// is for the readers of the two kinds of file.
package blockfile

import (
	"iter"
	"strings"
)

// Line is one line that is not a comment. Key and Value are "" for a blank line,
// which ends a block; Value is "" too if the key stands alone.
type Line struct {
	Number     int // from 1
	Key, Value string
}

// Lines returns the lines of text. A byte order mark at its beginning, as some
// editors on Windows write it, is not part of the first one.
func Lines(text string) iter.Seq[Line] {
	return func(yield func(Line) bool) {
		number := 0
		for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
			number++
			if line = strings.TrimSpace(line); strings.HasPrefix(line, "#") {
				continue
			}
			key, value := line, ""
			if i := strings.IndexAny(line, " \t"); i >= 0 {
				key, value = line[:i], strings.TrimSpace(line[i:])
			}
			if !yield(Line{Number: number, Key: key, Value: value}) {
				return
			}
		}
	}
}
