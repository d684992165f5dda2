package probe

// This file is file://, pid: and exec: targets.

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"strconv"

	"github.com/retrysh/retry/engine/linematch"
	"github.com/retrysh/retry/engine/text"
)

// fileCheck looks whether a path exists; a link that leads nowhere does not.
type fileCheck struct{ path string }

func (c *fileCheck) run(ctx context.Context, p *Probe) error {
	// A look at a file system whose server is gone cannot be broken off. The try still
	// ends, and the next one waits for the same look, so that no more than one hangs.
	if p.stat == nil {
		done := make(chan error, 1)
		p.stat = done
		go func() {
			_, err := os.Stat(c.path)
			done <- err
		}()
	}
	select {
	case err := <-p.stat:
		p.stat = nil
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// pidCheck looks whether a process lives.
type pidCheck struct{ pid int }

func (c *pidCheck) run(_ context.Context, p *Probe) error {
	if p.Alive(c.pid) {
		return nil
	}
	return plain("no such process")
}

// parsePID reads the number of a process.
func parsePID(s string) (check, error) {
	pid, err := strconv.Atoi(s)
	if err != nil || pid <= 0 || pid > math.MaxInt32 || s[0] == '+' {
		return nil, fmt.Errorf("%s is not the number of a process; valid is pid:$! in a shell, or pid:1234",
			text.Quote(s))
	}
	return &pidCheck{pid}, nil
}

// maxLine bounds how much is kept of a line that a command or a server writes.
const maxLine = 200

// execCheck runs a command by the system's shell.
type execCheck struct{ command string }

func (c *execCheck) run(ctx context.Context, p *Probe) error {
	p.missing = "command not done"
	var last lastLine
	p.result = p.exec(ctx, text.Shell(c.command, nil), &last)
	last.end()
	r, line := p.result, text.Masked(last.text)
	if line != "" {
		p.missing = line + ": command not done"
	}
	switch {
	case r.Err != nil:
		return r.Err
	case r.StartErr != nil:
		return plain(text.Masked(oneLine(r.StartErr.Error()))) // it names the shell; in an empty image there is none
	case r.ExitCode == 0 && !r.TimedOut && !r.DeadlinePassed && r.Cancelled == "":
		return nil
	case line != "":
		return plain(line)
	case r.Signal != "":
		return plain("command ended by " + string(r.Signal))
	default:
		return plain("command exited " + strconv.Itoa(r.ExitCode))
	}
}

// lastLine keeps the last line with something in it of all that is written to
// it, in bounded memory.
type lastLine struct {
	line []byte
	text string
}

func (l *lastLine) Write(p []byte) (int, error) {
	for _, b := range p {
		switch {
		case b == '\n' || b == '\r':
			l.end()
		case len(l.line) < maxLine:
			l.line = append(l.line, b)
		}
	}
	return len(p), nil
}

// end closes a line; an empty one does not count.
func (l *lastLine) end() {
	l.text, l.line = cmp.Or(oneLine(string(l.line)), l.text), l.line[:0]
}

// oneLine makes s fit for a line of a terminal, without escape sequences.
func oneLine(s string) string { return text.OneLine(string(linematch.Visible(nil, []byte(s)))) }
