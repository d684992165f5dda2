// Package blockfile reads the lines of files that are made of blocks, as rule files
// and policy files are.
//
// A line is "key value": key and value are divided by blanks or tabs, the value
// is the rest of the line without the blanks at its ends, and so needs no
// quotes. A blank line ends a block; a line that begins with # is a comment,
// which ends nothing. It knows no key and keeps no block: what a key means, and
// which keys begin a block, is for the readers of the two kinds of file.
package blockfile

import (
	"iter"
	"strings"
)

// Line is one line that is not a comment. Key and Value are "" for a blank line,
// which ends a block; Value is "" too where the key stands alone.
type Line struct {
	Number     int // from 1
	Key, Value string
}

// Lines returns the lines of text. A byte order mark at its beginning, as some
// editors on Windows write it, is not part of the first one.
func Lines(text string) iter.Seq[Line] {
	return func(yield func(Line) bool) {
		rest := strings.TrimPrefix(text, "\ufeff")
		for number := 1; rest != ""; number++ {
			var line string
			line, rest, _ = strings.Cut(rest, "\n")
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
