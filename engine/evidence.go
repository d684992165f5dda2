package engine

// This file reads what an attempt writes and keeps, in bounded memory, what the decision
// needs.

import (
	"bytes"
	"cmp"
	"io"
	"regexp"

	"github.com/retrysh/retry/engine/classify"
	"github.com/retrysh/retry/engine/linematch"
	"github.com/retrysh/retry/engine/text"
)

// Evidence is what the output of one attempt says about its result.
type Evidence struct {
	// Missing is an --until-* rule that no line matched; Fail, Stop and Retry are the
	// first rule of their kind that a line matched. Each is the flag with its pattern,
	// or "".
	Missing, Fail, Stop, Retry string
	// Stdout and Stderr are the last part of each stream, nil where it was not captured.
	// StdoutHead and StderrHead are the first part of one that did not fit: the header
	// of a response precedes its body.
	Stdout, Stderr         []byte
	StdoutHead, StderrHead []byte

	fail, stop, retry matched
}

// matched is a pattern that a line matched, and the end of its stream.
type matched struct {
	pattern *linematch.Pattern
	tail    []byte
}

// line returns the last line that the pattern matches, "" where the tail has lost it.
func (m *matched) line() string {
	if m.pattern == nil {
		return ""
	}
	return lastLine(m.tail, regexp.MustCompile(m.pattern.String()).MatchString) // Parse has accepted it
}

// line returns the line that decided on a failure, by a pattern or the rule table, or else
// the last line that was captured, of standard error before standard output.
func (e *Evidence) line(d *Decision) string {
	by := &e.fail
	switch {
	case d.Rule == "":
	case d.Rule == e.Stop:
		by = &e.stop
	case d.Rule == e.Retry:
		by = &e.retry
	}
	line := cmp.Or(by.line(), d.Line)
	any := func(line string) bool { return line != "" }
	for _, tail := range [][]byte{e.Stderr, e.Stdout} {
		if line == "" {
			line = lastLine(tail, any)
		}
	}
	return line
}

// lastLine returns the last line of output that is what is looked for, without escape
// sequences and surrounding blanks; "" for none.
func lastLine(output []byte, is func(line string) bool) string {
	for len(output) > 0 {
		i := bytes.LastIndexAny(output, "\r\n")
		if line := string(bytes.TrimSpace(linematch.Visible(nil, output[i+1:]))); is(line) {
			return line
		}
		output = output[:max(i, 0)]
	}
	return ""
}

// Watch reads the output of one attempt.
type Watch struct {
	out, err *stream
}

// NewWatch returns a watch for one attempt.
func (r *Rules) NewWatch() *Watch {
	stdout, stderr := r.Reads()
	w := new(Watch)
	if stdout {
		w.out = newStream("stdout", &r.Stdout)
	}
	if stderr {
		w.err = newStream("stderr", &r.Stderr)
	}
	return w
}

// Stdout returns the writer for standard output, nil where that is not read.
func (w *Watch) Stdout() io.Writer { return w.out.writer() }

// Stderr returns the writer for standard error, nil where that is not read.
func (w *Watch) Stderr() io.Writer { return w.err.writer() }

// Close ends both streams and returns the evidence.
func (w *Watch) Close() Evidence {
	var e Evidence
	e.Stdout, e.Stderr = w.out.close(&e), w.err.close(&e)
	e.StdoutHead, e.StderrHead = w.out.beginning(), w.err.beginning()
	return e
}

// stream is one output stream. A nil stream is not read.
type stream struct {
	name     string
	patterns *Patterns
	matcher  *linematch.Matcher
	tail     classify.Tail
	head     []byte // the first headSize bytes
	size     int64
}

// headSize is the usual limit of servers for a header (nginx, large_client_header_buffers;
// Apache, LimitRequestFieldSize).
const headSize = 8 << 10

func newStream(name string, p *Patterns) *stream {
	s := &stream{name: name, patterns: p}
	if p.any() {
		var all []*linematch.Pattern
		for _, group := range [][]*linematch.Pattern{p.Until, p.FailOn, p.StopOn, p.On} {
			all = append(all, group...)
		}
		s.matcher = linematch.New(all)
	}
	return s
}

func (s *stream) writer() io.Writer {
	if s == nil {
		return nil
	}
	return s
}

// Write never fails, and never changes p.
func (s *stream) Write(p []byte) (int, error) {
	if s.matcher != nil {
		s.matcher.Write(p)
	}
	if left := headSize - len(s.head); left > 0 {
		s.head = append(s.head, p[:min(left, len(p))]...)
	}
	s.size += int64(len(p))
	return s.tail.Write(p)
}

// beginning returns the first part of the stream, nil where the tail has it.
func (s *stream) beginning() []byte {
	if s == nil || s.size <= classify.TailSize {
		return nil
	}
	return s.head
}

// close adds the patterns that matched to e, and returns the last part of the stream.
func (s *stream) close(e *Evidence) []byte {
	if s == nil {
		return nil
	}
	if s.matcher == nil {
		return s.tail.Bytes()
	}
	s.matcher.Close()
	i := 0
	for _, group := range []struct {
		flag     string
		patterns []*linematch.Pattern
		seen     bool
		into     *string
		by       *matched
	}{
		{"--until-", s.patterns.Until, false, &e.Missing, new(matched)},
		{"--fail-on-", s.patterns.FailOn, true, &e.Fail, &e.fail},
		{"--stop-on-", s.patterns.StopOn, true, &e.Stop, &e.stop},
		{"--on-", s.patterns.On, true, &e.Retry, &e.retry},
	} {
		for _, p := range group.patterns {
			if s.matcher.Seen(i) == group.seen && *group.into == "" {
				*group.into, *group.by = group.flag+s.name+" "+text.CutMiddle(p.String(), excerptLimit), matched{p, s.tail.Bytes()}
			}
			i++
		}
	}
	return s.tail.Bytes()
}

// excerptLimit is the most of a pattern that is shown. It is part of a line for a person
// and of a variable of the next attempt, which the kernel limits (execve(2),
// MAX_ARG_STRLEN).
const excerptLimit = 120
