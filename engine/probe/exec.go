package probe

// exec: targets.

import (
	"context"
	"strconv"
	"sync"

	"github.com/retrysh/retry/engine/linematch"
	"github.com/retrysh/retry/engine/text"
)

// maxLine bounds how much is kept of a line that a command writes.
const maxLine = 200

// execCheck runs a command by the system's shell.
type execCheck struct{ command string }

func (c *execCheck) run(ctx context.Context, t *try) error {
	if t.exec == nil {
		return errNoExec
	}
	t.missing = "command not done"
	var last lastLine
	t.result = t.exec(ctx, text.Shell(c.command, nil), &last)
	r, line := t.result, last.text()
	if line != "" {
		t.missing = line + ": command not done"
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
	mu         sync.Mutex
	line, past []byte
}

func (l *lastLine) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
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
	if oneLine(string(l.line)) != "" {
		l.past = append(l.past[:0], l.line...)
	}
	l.line = l.line[:0]
}

func (l *lastLine) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.end()
	return text.Masked(oneLine(string(l.past)))
}

// oneLine makes s fit for a line of a terminal, without escape sequences.
func oneLine(s string) string { return text.OneLine(string(linematch.Visible(nil, []byte(s)))) }
