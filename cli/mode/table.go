package mode

// This file prints tables.

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/fatih/color"
	"golang.org/x/term"

	"github.com/retrysh/retry/engine/message"
)

// Width is that of the terminal which standard output is, 0 where it is none.
func (c Call) Width() int {
	width, _, err := term.GetSize(int(c.Stdout.Fd()))
	if err != nil {
		return 0
	}
	return max(width, 0)
}

// Table writes rows of cells in columns, with control characters as blanks. A line is cut
// to width characters; 0 cuts nothing.
func Table(w io.Writer, width int, rows [][]string) error {
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
	_, err := io.WriteString(w, text.String())
	return err
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

// Print writes to standard output, and returns code or that of a failed write.
func (c Call) Print(code int, print func(w *os.File) error) int {
	if err := print(c.Stdout); err != nil {
		return c.Fail(err)
	}
	return code
}

// Colored reports whether the output is coloured: auto by the rules of fatih/color.
func (c Call) Colored(when string) bool { return when == "always" || when == "auto" && !color.NoColor }
