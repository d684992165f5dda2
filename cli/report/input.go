// Package report is the modes that read the history (docs/history.md): --last,
// --report and --learn.
//
// It selects and prints. The figures are computed by engine/history, and nothing
// is run or written but the output.
package report

// This file chooses what is read.

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/retrysh/retry/cli/input"
	"github.com/retrysh/retry/cli/mode"
	"github.com/retrysh/retry/cli/option"
	"github.com/retrysh/retry/engine/history"
	"github.com/retrysh/retry/engine/message"
	"github.com/retrysh/retry/engine/text"
	"github.com/retrysh/retry/engine/xdg"
	"github.com/retrysh/retry/exitcodes"
)

// Flags are those of every mode for the history.
type Flags struct {
	mode.Common
	History option.Place

	sources []history.Source
	path    string // of the history in force, even if there is none yet; "" for files that were named
}

// find sets the sources: the files that were named, - for standard input, or else the
// history in force.
func (g *Flags) find(files []string) (err error) {
	if len(files) == 0 {
		g.sources, g.path, err = history.InForce(string(g.History))
	}
	for _, name := range files {
		s := history.Source{Path: name}
		if s.Stdin, err = g.pipe(name); err != nil {
			return err
		}
		g.sources = append(g.sources, s)
	}
	return err
}

// pipe opens standard input or a named pipe, nil for another file. A device, which may have
// no end, is an error.
func (g *Flags) pipe(name string) (io.Reader, error) {
	if name == "-" {
		return g.Call.Stdin, nil
	}
	info, err := os.Stat(name)
	switch {
	case err != nil || info.Mode().IsRegular() || info.IsDir():
		return nil, nil // the error is that of reading it
	case info.Mode()&os.ModeNamedPipe != 0:
		return input.Open(name)
	}
	return nil, input.Regular(name, info)
}

// none reports on standard error that there is nothing to show, and returns the
// exit code for that.
func (g *Flags) none(what string) int {
	where := message.Printable(short(g.path))
	switch {
	case len(g.sources) == 0:
		g.Warn(fmt.Sprintf("there is no history in %q; --history on keeps one", where))
	case g.path != "":
		g.Warn(fmt.Sprintf("%s in %q", what, where))
	default:
		g.Warn(what + " in what was read")
	}
	return exitcodes.Rejected
}

// short is a path with ~ for the home directory.
func short(path string) string {
	home := xdg.Lookup(os.LookupEnv).Home()
	if rest, err := filepath.Rel(home, path); home != "" && err == nil && filepath.IsLocal(rest) {
		return filepath.Join("~", rest)
	}
	return path
}

// badLines reports how many lines are no records.
func (g *Flags) badLines(n int) {
	if n > 0 {
		g.Warn(skipped(n))
	}
}

func skipped(n int) string {
	return text.Count(n, "line is not a record and was skipped", "lines are not records and were skipped")
}

// now is the time in milliseconds, as records have it.
func now() time.Time { return time.UnixMilli(time.Now().UnixMilli()) }

// milliseconds is a duration of so many.
func milliseconds(ms float64) time.Duration {
	const most = 1e15 // some 30,000 years
	return time.Duration(min(ms, most)*1000) * time.Microsecond
}
