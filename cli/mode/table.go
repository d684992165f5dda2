package mode

// This file prints.

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/fatih/color"
	"golang.org/x/term"

	"github.com/retrysh/retry/engine/message"
	"github.com/retrysh/retry/engine/text"
)

// Width is that of the terminal which standard output is, 0 where it is none.
func (c *Call) Width() int {
	width, _, err := term.GetSize(int(c.Stdout.Fd()))
	if err != nil {
		return 0
	}
	return max(width, 0)
}

// Table is rows of cells in columns, with control characters as blanks. A line is cut
// to width characters; 0 cuts nothing.
func Table(width int, rows [][]string) string {
	var table, text strings.Builder
	columns := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		for i, cell := range row {
			row[i] = message.Printable(cell)
		}
		fmt.Fprintln(columns, strings.Join(row, "\t"))
	}
	_ = columns.Flush()
	for line := range strings.Lines(table.String()) {
		cut := []rune(strings.TrimRight(line, " \n"))
		if width > 0 && len(cut) > width {
			cut = append(cut[:width-1], '…')
		}
		text.WriteString(string(cut) + "\n")
	}
	return text.String()
}

// Pairs are the rows of a table of names and values in turn, without those of no value.
func Pairs(cells ...string) (rows [][]string) {
	for pair := range slices.Chunk(cells, 2) {
		if pair[1] != "" {
			rows = append(rows, pair)
		}
	}
	return rows
}

// Print adds to the output.
func (c *Call) Print(text string) { c.Out.WriteString(text) }

// PrintJSON adds an object, and returns code or that of a failure.
func (c *Call) PrintJSON(code int, object any) int {
	if err := text.WriteJSON(&c.Out, object); err != nil {
		return c.Fail(err)
	}
	return code
}

// Flush writes the output so far.
func (c *Call) Flush() error {
	_, err := c.Out.WriteTo(c.Stdout)
	return err
}

// Colored reports whether the output is coloured: auto by the rules of fatih/color.
func (c *Common) Colored() bool { return c.Color == "always" || c.Color == "auto" && !color.NoColor }
