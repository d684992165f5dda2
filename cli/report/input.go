// Package report is the modes that read the history (docs/history.md): --last,
// --report and --learn.
//
// It selects and prints. The figures are computed by engine/history, and nothing
// is run or written but the output.
package report

// This file chooses what is read.

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/retrysh/retry/cli/mode"
	"github.com/retrysh/retry/engine/history"
	"github.com/retrysh/retry/engine/message"
	"github.com/retrysh/retry/exitcodes"
)

// Where is the flag that says where the history is.
type Where struct {
	History string `variable:"yes"`
}

// sources are the files that were named, - for standard input, or else the history
// in force. Where there is none yet, path says where it would be.
func (w *Where) sources(c *mode.Call, files []string) (sources []history.Source, path string, err error) {
	if len(files) == 0 {
		return history.InForce(w.History)
	}
	for _, name := range files {
		s := history.Source{Path: name}
		if name == "-" {
			s.Stdin = c.Stdin
		}
		sources = append(sources, s)
	}
	return sources, "", nil
}

// none reports on standard error that there is nothing to show, and returns the
// exit code for that.
func none(c *mode.Call, sources []history.Source, path, what string) int {
	switch {
	case len(sources) == 0:
		fmt.Fprintf(c.Stderr, "retry: --%s: there is no history in %q; --history on keeps one\n", c.Name, message.Printable(short(path)))
	case path != "":
		fmt.Fprintf(c.Stderr, "retry: --%s: %s in %q\n", c.Name, what, message.Printable(short(path)))
	default:
		fmt.Fprintf(c.Stderr, "retry: --%s: %s in what was read\n", c.Name, what)
	}
	return exitcodes.Rejected
}

// short is a path with ~ for the home directory.
func short(path string) string {
	if home, err := os.UserHomeDir(); err == nil {
		if rest, err := filepath.Rel(home, path); err == nil && filepath.IsLocal(rest) {
			return filepath.Join("~", rest)
		}
	}
	return path
}

// badLines reports how many lines are no records.
func badLines(c *mode.Call, n int) {
	if n > 0 {
		fmt.Fprintf(c.Stderr, "retry: --%s: %s\n", c.Name, skipped(n))
	}
}

func skipped(n int) string {
	if n == 1 {
		return "1 line is not a record and was skipped"
	}
	return fmt.Sprintf("%d lines are not records and were skipped", n)
}

// now is the time in milliseconds, as records have it.
func now() time.Time { return time.UnixMilli(time.Now().UnixMilli()) }

// milliseconds is a duration of so many.
func milliseconds(ms float64) time.Duration {
	const most = 1e15 // some 30,000 years
	return time.Duration(min(ms, most)*1000) * time.Microsecond
}
