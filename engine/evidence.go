package engine

// This file reads what an attempt writes and keeps, in bounded memory, what the decision
// needs.

import (
	"bytes"
	"cmp"
	"io"
	"regexp"
	"sync"
	"time"

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
	// Stdout and Stderr are the last part of each stream, nil if it was not captured.
	// StdoutHead and StderrHead are the first part of one that did not fit: the header
	// of a response precedes its body.
	Stdout, Stderr         []byte
	StdoutHead, StderrHead []byte
	// Order is how much of each came when, if both were captured.
	Order []classify.Arrival

	// The last lines that matched Fail, Stop and Retry, "" if the tail has lost them.
	failLine, stopLine, retryLine string
}

// line returns the line that decided on a failure, by a pattern or the rule table, or else
// the last line that was captured, of standard error before standard output.
func (e *Evidence) line(d *Decision) string {
	by := e.failLine
	switch d.Rule {
	case "":
	case e.Stop:
		by = e.stopLine
	case e.Retry:
		by = e.retryLine
	}
	any := func(line string) bool { return line != "" }
	return cmp.Or(by, d.Line, lastLine(e.Stderr, any), lastLine(e.Stdout, any))
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

// Watch reads the output of one attempt: its writers are nil for a stream that is not read.
type Watch struct {
	Stdout, Stderr io.Writer
	arrivals       arrivals
}

// arrivals notes how much of each stream was read when.
type arrivals struct {
	mu    sync.Mutex
	since time.Time // when the last one began
	list  []classify.Arrival
}

const (
	// together is how long after one another two reads count as one time: pipes that
	// become readable at once are read in any order.
	together = 20 * time.Millisecond
	// maxArrivals bounds the list. What came before is in no order.
	maxArrivals = 1024
)

// note adds what was read of a stream.
func (a *arrivals) note(n int, isStderr bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if now := time.Now(); len(a.list) == 0 || now.Sub(a.since) > together {
		a.since = now
		a.list = append(a.list[max(0, len(a.list)-maxArrivals):], classify.Arrival{})
	}
	last := &a.list[len(a.list)-1]
	if isStderr {
		last.Stderr += n
	} else {
		last.Stdout += n
	}
}

// NewWatch returns a watch for one attempt.
func (r *Rules) NewWatch() *Watch {
	stdout, stderr := r.Reads()
	w := &Watch{Stdout: newStream(stdout, "stdout", &r.Stdout), Stderr: newStream(stderr, "stderr", &r.Stderr)}
	if stdout && stderr {
		w.Stdout.(*stream).arrivals = &w.arrivals
		w.Stderr.(*stream).arrivals = &w.arrivals
	}
	return w
}

// Close ends both streams and returns the evidence.
func (w *Watch) Close() Evidence {
	var e Evidence
	e.Stdout, e.StdoutHead = e.add(w.Stdout)
	e.Stderr, e.StderrHead = e.add(w.Stderr)
	e.Order = w.arrivals.list
	return e
}

// stream is one output stream.
type stream struct {
	name     string
	patterns *Patterns
	matcher  *linematch.Matcher
	tail     classify.Tail
	arrivals *arrivals // nil if the other stream is not read
	head     []byte    // the first headSize bytes
	size     int64
}

// headSize is the usual limit of servers for a header (nginx, large_client_header_buffers;
// Apache, LimitRequestFieldSize).
const headSize = 8 << 10

func newStream(read bool, name string, p *Patterns) io.Writer {
	if !read {
		return nil
	}
	s := &stream{name: name, patterns: p}
	if all := p.all(); len(all) > 0 {
		s.matcher = linematch.New(all)
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
	if s.arrivals != nil {
		s.arrivals.note(len(p), s.name == "stderr")
	}
	return s.tail.Write(p)
}

// add ends a stream and adds the patterns that matched. It returns the last part of the
// stream, and the first part if that is not in the last.
func (e *Evidence) add(w io.Writer) (tail, head []byte) {
	s, read := w.(*stream)
	if !read {
		return nil, nil
	}
	tail = s.tail.Bytes()
	if s.matcher != nil {
		s.matcher.Close()
		s.match(e, tail)
	}
	if s.size > classify.TailSize {
		head = s.head
	}
	return tail, head
}

// match adds the first pattern of each group that matched a line, and the last line that it
// matched; of the --until-* rules the first that matched none.
func (s *stream) match(e *Evidence, tail []byte) {
	p := s.patterns
	failOn := len(p.Until)
	stopOn := failOn + len(p.FailOn)
	on := stopOn + len(p.StopOn)
	if missing := s.first(p.Until, 0, false); missing != nil && e.Missing == "" {
		e.Missing = s.flag("--until-", missing)
	}
	if e.Fail == "" {
		e.Fail, e.failLine = s.matched("--fail-on-", p.FailOn, failOn, tail)
	}
	if e.Stop == "" {
		e.Stop, e.stopLine = s.matched("--stop-on-", p.StopOn, stopOn, tail)
	}
	if e.Retry == "" {
		e.Retry, e.retryLine = s.matched("--on-", p.On, on, tail)
	}
}

// matched returns the first of a group of patterns that matched a line, behind its flag, and the
// last line of output that it matches; both are "" for none. number is that of first.
func (s *stream) matched(prefix string, group []*linematch.Pattern, number int, output []byte) (flag, line string) {
	p := s.first(group, number, true)
	if p == nil {
		return "", ""
	}
	matches := regexp.MustCompile(p.String()).MatchString // Parse has accepted it
	return s.flag(prefix, p), lastLine(output, matches)
}

// first returns the first of a group of patterns that matched a line, or with seen false the first
// that did not; nil for none. number is the matcher's of the first pattern of the group.
func (s *stream) first(group []*linematch.Pattern, number int, seen bool) *linematch.Pattern {
	for i, p := range group {
		if s.matcher.Seen(number+i) == seen {
			return p
		}
	}
	return nil
}

// flag is a pattern of this stream behind its flag.
func (s *stream) flag(prefix string, p *linematch.Pattern) string {
	return prefix + s.name + " " + text.CutMiddle(p.String(), excerptLimit)
}

// excerptLimit is the most of a pattern that is shown. It is part of a line for a person
// and of a variable of the next attempt, which the kernel limits (execve(2),
// MAX_ARG_STRLEN).
const excerptLimit = 120
