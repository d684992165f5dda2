package classify

// This file finds the beginning that a logger gives to each line, a time and a level: what a
// line says, and what its shape is, stands behind it.

import (
	"regexp"
	"strings"
	"sync"
)

// stamp is a time (ISO 8601, RFC 3164 with host and program, or a time alone, in brackets or
// not), and a level behind it.
var stamp = sync.OnceValue(func() *regexp.Regexp {
	const (
		iso    = `\[?(?:\d{4}[-/.]\d\d[-/.]\d\d[t ,]+)?\d\d:\d\d:\d\d(?:[.,]\d+)?(?: ?z| ?[+-]\d\d:?\d\d| utc)?\]?:?`
		months = `jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec`
		syslog = `(?:` + months + `) [ \d]\d \d\d:\d\d:\d\d(?: [\w.-]+ [\w./-]+(?:\[\d+\])?:)?`
		levels = `trace|debug|info|notice|warn|warning|error|err|fatal|crit|critical|panic|severe|emerg`
		level  = `[ \t]*(?:[-|] (?:[\w.]+ [-|] )?)?[\[<]?(` + levels + `)\b[\]>]?:?[ \t]+(?:[-|][ \t]+)?`
	)
	return regexp.MustCompile(`^(?i)(?:` + iso + `|` + syslog + `)[ \t](?:` + level + `)?`)
})

// stampSize is more than a stamp has.
const stampSize = 128

// stamps are the stamps of the lines of a text.
type stamps struct {
	ends map[int]int // by where the line begins
	// quiet are the lines that a logger marks as less than errors. They are warnings if it
	// marks others as errors.
	quiet map[int]bool
	loud  bool
}

func findStamps(text string) *stamps {
	s := &stamps{ends: map[int]int{}, quiet: map[int]bool{}}
	start := 0
	for line := range strings.Lines(text) {
		if end, level := stampOf(line); end > 0 {
			s.ends[start] = start + end
			s.quiet[start] = strings.IndexByte("tdinw", level) >= 0
			s.loud = s.loud || strings.IndexByte("efcps", level) >= 0
		}
		start += len(line)
	}
	return s
}

// behind returns where the text begins of the line that begins at start.
func (s *stamps) behind(start int) int { return max(start, s.ends[start]) }

// isQuiet reports whether the line that begins at start is a warning by its level.
func (s *stamps) isQuiet(start int) bool { return s.loud && s.quiet[start] }

// stampOf returns the length of the line's stamp, and the first letter of its level in lower
// case, 0 for none. A number behind a level belongs to it, as in "ERROR 404".
func stampOf(line string) (end int, level byte) {
	if strings.IndexByte("[0123456789JFMASONDjfmasond", line[0]) < 0 {
		return 0, 0
	}
	line = line[:min(len(line), stampSize)]
	at := stamp().FindStringSubmatchIndex(line)
	if at == nil {
		return 0, 0
	}
	end = at[1]
	if at[2] >= 0 {
		level = line[at[2]] | ' '
		if end < len(line) && '0' <= line[end] && line[end] <= '9' {
			end = at[2]
		}
	}
	return end, level
}
