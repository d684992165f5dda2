package classify

// This file tells what a line is by the lines above it: how a help text goes on,
// and the causes that a tool merely thinks of.

import "strings"

// maxAbove is how many lines above a line are looked at for what it belongs to.
const maxAbove = 12

// kindByAbove recognises lines that go on with a help text, indented further
// than an option or "usage:" above them, and the items of a list of guesses.
func (o *output) kindByAbove(start, end int, kind lineKind) lineKind {
	item := isItem(o.lower[start:end])
	depth := columns(o.lower[start:end])
	if depth == 0 && !item {
		return kind
	}
	first, _ := o.line(start)
	for n := 0; n < maxAbove && first > 0; n++ {
		from, to := o.line(first - 1)
		above := o.lower[from:to]
		if strings.TrimSpace(above) == "" {
			break
		}
		if item && isGuess(above) {
			return guessLine
		}
		if d := columns(above); d < depth {
			if k := kindOf(above); k == helpLine || k == usageLine {
				return helpLine
			}
			depth = d
		}
		first = from
	}
	return kind
}

// columns is how far the line is indented, a tab being eight columns.
func columns(line string) int {
	n := 0
	for _, c := range line {
		switch c {
		case ' ':
			n++
		case '\t':
			n += 8 - n%8
		default:
			return n
		}
	}
	return n
}

// isItem recognises the item of a list, behind a date and a severity or not.
func isItem(line string) bool {
	trimmed := strings.TrimLeft(line, " \t")
	return strings.HasPrefix(trimmed, "- ") || strings.HasPrefix(trimmed, "* ") || strings.HasPrefix(trimmed, "• ") || strings.Contains(line, " - ")
}

// isGuess recognises what a tool says of causes that it only thinks of.
func isGuess(line string) bool {
	return holds(line, "be caused by", "possible cause", "possible reason", "common cause", "common reason", "probable cause", "likely cause", "one or more of:", "common situations", "may indicate that")
}
