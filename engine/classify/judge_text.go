package classify

// This file makes lines of the tails of an attempt's output: without terminal
// escape sequences, with \r as a line's end too (progress bars).

import "strings"

// output is the text of both streams, standard output first, so that a later
// line is nearer to the end of the failure: tools write their last word to
// standard error.
type output struct {
	text  string // as it was
	lower string // the same in lower case (ASCII), byte for byte
	// stderr is where standard error begins.
	stderr int
}

func newOutput(stdout, stderr []byte) output {
	b := make([]byte, 0, len(stdout)+len(stderr)+1)
	b = append(plain(b, stdout), '\n')
	split := len(b)
	text := string(plain(b, stderr))
	return output{text: text, lower: lowerASCII(text), stderr: split}
}

// lowerASCII keeps every byte's place, which strings.ToLower does not promise.
func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// line returns where the line around position i begins and ends.
func (o *output) line(i int) (start, end int) {
	start = strings.LastIndexByte(o.text[:i], '\n') + 1
	end = strings.IndexByte(o.text[i:], '\n')
	if end < 0 {
		return start, len(o.text)
	}
	return start, i + end
}

// maxLine is the longest line that is matched as a whole. A longer one (a JSON
// answer without line ends) is matched in pieces of that length, which overlap
// by half; where it is cut, the cut counts as a beginning or an end.
const maxLine = 2048

// around returns the part of the line to match for a literal at position i.
func (o *output) around(i int) (start, end int) {
	low := max(0, i-maxLine/2)
	high := min(len(o.text), i+maxLine/2)
	start, end = low, high
	if n := strings.LastIndexByte(o.text[low:i], '\n'); n >= 0 {
		start = low + n + 1
	} else if low > 0 {
		start = low - low%(maxLine/2)
	}
	if n := strings.IndexByte(o.text[i:high], '\n'); n >= 0 {
		end = i + n
	} else if high < len(o.text) {
		end = high - high%(maxLine/2) + maxLine/2
		end = min(end, len(o.text))
		if n := strings.IndexByte(o.text[i:end], '\n'); n >= 0 {
			end = i + n
		}
	}
	return start, end
}

// plain appends the text without escape sequences (ECMA-48: CSI, OSC and other
// strings, two-byte escapes) and with \r as \n.
func plain(dst, text []byte) []byte {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case 0x1b:
			i = skipEscape(text, i)
		case '\r':
			dst = append(dst, '\n')
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// skipEscape returns the index of the last byte of the sequence that begins
// with the escape character at i. A sequence never runs past the end of its
// line, so that a stray escape hides one line at most.
func skipEscape(text []byte, i int) int {
	if i+1 >= len(text) {
		return i
	}
	switch text[i+1] {
	case '[': // CSI: parameters, then one final byte
		for j := i + 2; j < len(text); j++ {
			if text[j] == '\n' {
				return j - 1
			}
			if text[j] >= 0x40 && text[j] <= 0x7e {
				return j
			}
		}
		return len(text) - 1
	case ']', 'P', 'X', '^', '_': // strings, up to BEL or ESC \
		for j := i + 2; j < len(text); j++ {
			switch {
			case text[j] == '\n':
				return j - 1
			case text[j] == 0x07:
				return j
			case text[j] == 0x1b && j+1 < len(text) && text[j+1] == '\\':
				return j + 1
			}
		}
		return len(text) - 1
	case '(', ')', '*', '+', '#', '%', ' ': // one more byte
		return min(i+2, len(text)-1)
	case '\n', '\r', 0x1b:
		return i
	}
	return i + 1
}
