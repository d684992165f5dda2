// Package mode reads the command line of a mode that runs no command, runs it and
// prints what it found: --status, --letters, --report and the like.
package mode

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"strconv"

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

	Given []option.Setting // those of a run on the command line
	Words []string         // the others
	Out   bytes.Buffer     // goes to standard output when the mode has ended
}

// Common is what every mode embeds: its call, and the flags that all know.
type Common struct {
	Call      `kong:"-"`
	LogFormat string `enum:"text,json" default:"text"`
	Color     string `enum:"auto,always,never" default:"auto"`
	Quiet     bool   `short:"q"`
	Verbose   bool   `short:"v"`
	NoEnv     bool   `variable:"-"`
}

// Mode is a pointer to a struct that embeds Common and has the flags of the mode.
type Mode interface {
	Run() int // returns the exit code
	call() *Call
}

func (c *Common) call() *Call { return &c.Call }

func (c *Common) JSON() bool { return c.LogFormat == "json" }

// Run reads the words of a call, and runs its mode.
func Run(c Call, m Mode) int {
	call := m.call()
	*call = c
	var err error
	if call.Given, call.Words, err = option.ReadMode(m, c.OfRun, c.Args, c.Environ); err != nil {
		return call.Usage(err)
	}
	code := m.Run()
	if err := call.Flush(); err != nil {
		return call.Fail(err)
	}
	return code
}

// Usage reports a usage error of the mode and returns its exit code.
func (c *Call) Usage(err error) int {
	code := c.Fail(err)
	fmt.Fprintf(c.Stderr, "Try 'retry --%s --help'.\n", c.Name)
	return code
}

// Fail reports any other error and returns the code of the program's own failures.
func (c *Call) Fail(err error) int {
	c.Complain(text.Masked(err.Error()))
	return exitcodes.Failure
}

// Complain prints a line about the mode.
func (c *Call) Complain(line string) {
	fmt.Fprintf(c.Stderr, "retry: --%s: %s\n", c.Name, message.Printable(line))
}

// Limit is a greatest number, 0 for no limit.
type Limit int

// UnmarshalText reads a limit.
func (l *Limit) UnmarshalText(text []byte) error {
	n, err := strconv.ParseUint(string(text), 10, 31)
	if err != nil {
		return fmt.Errorf("%q is not a whole number from 0 to %d; 0 is no limit", text, math.MaxInt32)
	}
	*l = Limit(n)
	return nil
}
