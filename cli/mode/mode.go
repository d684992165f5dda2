// Package mode reads the command line of a mode that runs no command, runs it and
// prints what it found: --status, --letters, --report and the like.
package mode

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/fatih/color"
	"golang.org/x/term"

	"github.com/retrysh/retry/cli/option"
	"github.com/retrysh/retry/engine/message"
	"github.com/retrysh/retry/engine/text"
	"github.com/retrysh/retry/exitcodes"
)

// Call is one use of a mode.
type Call struct {
	Name                  string   // the mode's flag without dashes, such as "status"
	Args                  []string // all words but the mode's own flag
	Environ               []string
	Stdin, Stdout, Stderr *os.File
	OfRun                 []option.Flag // flags of a run that the mode has as well

	Given []option.Setting // of the flags of a run, on the command line
	Out   bytes.Buffer     // goes to standard output when the mode has ended
}

// Common is what every mode embeds: its call, and the flags that all know.
type Common struct {
	Call      Call `kong:"-"`
	LogFormat option.Word[formats]
	Color     option.Word[option.Colors]
	Quiet     bool     `short:"q"`
	Verbose   bool     `short:"v"`
	NoEnv     bool     `variable:"no"`
	Words     []string `arg:"" optional:""` // that are no flags
}

// Defaults are the flags that all modes know, as they are if nothing sets them.
func Defaults() Common { return Common{LogFormat: "text", Color: "auto"} }

// formats are those of a mode.
type formats struct{}

func (formats) Words() []string { return []string{"text", "json"} }

// Mode is a pointer to a struct that embeds Common and has the flags of the mode.
type Mode interface {
	Run() int // returns the exit code
	common() *Common
}

func (c *Common) common() *Common { return c }

func (c *Common) JSON() bool { return c.LogFormat == "json" }

// Run reads the words of a call, and runs its mode.
func Run(c Call, m Mode) int {
	common := m.common()
	common.Call = c
	var err error
	if common.Call.Given, err = option.ReadMode(m, c.OfRun, c.Args, c.Environ); err != nil {
		return common.Usage(err)
	}
	code := m.Run()
	if err := common.Flush(); err != nil {
		return common.Fail(err)
	}
	return code
}

// Usage reports a usage error of the mode and returns its exit code.
func (c *Common) Usage(err error) int {
	code := c.Fail(err)
	fmt.Fprintf(c.Call.Stderr, "Try 'retry --%s --help'.\n", c.Call.Name)
	return code
}

// Fail reports any other error and returns the code of the program's own failures.
func (c *Common) Fail(err error) int {
	c.Warn(option.Shown(err))
	return exitcodes.Failure
}

// Warn prints a line about the mode.
func (c *Common) Warn(line string) {
	fmt.Fprintf(c.Call.Stderr, "retry: --%s: %s\n", c.Call.Name, message.Printable(line))
}

// Width is that of the terminal which standard output is, 0 if it is none.
func (c *Common) Width() int { return WidthOf(c.Call.Stdout) }

// WidthOf is the number of columns of the terminal which a file is, 0 if it is none.
func WidthOf(f *os.File) int {
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return max(width, 0)
}

// Table is rows of cells in columns, with control characters as blanks. A line is cut
// to width characters; 0 cuts nothing.
func Table(width int, rows [][]string) string {
	var table, cut strings.Builder
	columns := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		for i, cell := range row {
			row[i] = message.Printable(cell)
		}
		fmt.Fprintln(columns, strings.Join(row, "\t"))
	}
	_ = columns.Flush()
	for line := range strings.Lines(table.String()) {
		cut.WriteString(Cut(strings.TrimRight(line, " \n"), width) + "\n")
	}
	return cut.String()
}

// Cut cuts a text to so many characters; 0 cuts nothing.
func Cut(s string, most int) string {
	if all := []rune(s); 0 < most && most < len(all) {
		return string(all[:most-1]) + "…"
	}
	return s
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
func (c *Common) Print(text string) { c.Call.Out.WriteString(text) }

// PrintJSON adds an object, and returns code or that of a failure.
func (c *Common) PrintJSON(code int, object any) int {
	if err := text.WriteJSON(&c.Call.Out, object); err != nil {
		return c.Fail(err)
	}
	return code
}

// Flush writes the output so far, once: an error is one line.
func (c *Common) Flush() error {
	defer c.Call.Out.Reset()
	_, err := c.Call.Out.WriteTo(c.Call.Stdout)
	return err
}

// Colored reports whether the output is coloured: auto by the rules of fatih/color.
func (c *Common) Colored() bool { return c.Color == "always" || c.Color == "auto" && !color.NoColor }
