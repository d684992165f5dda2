// Package stdio connects the standard streams of a process: to the program's own
// descriptors, or through pipes and pseudo-terminals to these and a second writer. It
// holds output back until the caller says where it goes, and gives any number of processes
// the same input from its first byte. It starts and ends no process and handles no signal.
package stdio

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/retrysh/retry/engine/attempt"
)

// InputMode says what a command reads as its standard input.
type InputMode int

// The modes of standard input.
const (
	Inherit InputMode = iota // the program's own standard input
	Replay                   // the same input from the first byte in every attempt
	Null                     // nothing
)

// OutputMode says when what a command writes is passed on.
type OutputMode int

// The modes of standard output and standard error.
const (
	Stream    OutputMode = iota // at once
	Hold                        // when the attempt has been judged
	OnFailure                   // when the run has given up: that of the last attempt
)

// Drain is for how long after the end of the command a captured pipe is read, since
// orphans may still write.
const Drain = 200 * time.Millisecond

// Plan says how to connect one process.
type Plan struct {
	*attempt.Spec // with an IdleTimeout both outputs are read, for LastByte
	In            InputMode
	Out, Err      OutputMode
	OutTo         int  // where standard output leads: 1, or 2 for standard error
	Question      bool // both outputs go to Stdout only
	Line          *Line
}

// Streams are the standard streams of one process.
type Streams struct {
	// Troubles delivers at most one error for each stream that is copied, among them
	// attempt.ErrReaderGone. It is nil if none is.
	Troubles chan error
	// NoTerminal says why a command has a pipe in place of a terminal.
	NoTerminal error
	Files      [3]File // of the command
	Pumps      []*Pump // copy the outputs

	closing []File // those of Files that the program closes after the start
	feeder  *feeder
	held    []held
	over    *wake // nil if no stream is copied
	timed   bool
	line    *Line
}

// errAgain says that there is nothing to read yet.
var errAgain = errors.New("nothing to read yet")

var names = [3]string{"standard input", "standard output", "standard error"}

// Open makes the streams of one process.
func Open(in *Input, p Plan) (*Streams, error) {
	s := &Streams{Files: [3]File{standard(0), noFile, noFile}, timed: p.IdleTimeout > 0, line: p.Line}
	if err := s.open(in, p); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Streams) open(in *Input, p Plan) (err error) {
	reads := s.timed || p.Stdout != nil || p.Stderr != nil
	if reads || p.Out != Stream || p.Err != Stream || p.In == Replay && (in.spool != nil || p.Streams == attempt.Held) {
		if s.over, err = newWake(); err != nil {
			return err
		}
		s.Troubles = make(chan error, len(names))
	}
	if err := s.openInput(in, p); err != nil {
		return err
	}
	together := p.Out == p.Err && p.Out != Hold && sameFile(standard(p.OutTo), standard(2))
	switch {
	case p.Question:
		err = s.pipe(1, noFile, "", p.Stdout)
	case together && p.Alike && (reads || p.Out == OnFailure):
		err = s.openOutput(1, p.OutTo, p.Out, each(p.Stdout, p.Stderr))
	default:
		if err := s.openOutput(1, p.OutTo, p.Out, p.Stdout); err != nil {
			return err
		}
		if together && p.Out == OnFailure { // in the order in which they are read
			return s.keepIn(s.held[0].file, 2, p.Stderr)
		}
		return s.openOutput(2, 2, p.Err, p.Stderr)
	}
	s.Files[2] = s.Files[1]
	return err
}

// each writes to both writers, each of which may be nil.
func each(a, b io.Writer) io.Writer {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return io.MultiWriter(a, b)
}

// openOutput decides where the command's descriptor fd leads. Output that is held back
// takes a pipe: the file itself would take half the time for 1 GiB, but the command may
// lock or truncate it, and neither a full disk nor the end of what children write would be
// noticed.
func (s *Streams) openOutput(fd, to int, mode OutputMode, also io.Writer) error {
	if mode != Stream {
		file, err := openSpool()
		if err != nil {
			return fmt.Errorf("holding %s: %w", names[fd], err)
		}
		s.held = append(s.held, held{file: file, fd: fd, mode: mode})
		return s.keepIn(file, fd, also)
	}
	if also == nil && !s.timed {
		s.Files[fd] = standard(to)
		return nil
	}
	if err := s.pipe(fd, standard(to), "writing "+names[to], also); err != nil {
		return err
	}
	s.Pumps[len(s.Pumps)-1].line = s.lineOf(to)
	return nil
}

// keepIn has the command's descriptor fd lead into a file.
func (s *Streams) keepIn(file File, fd int, also io.Writer) error {
	return s.pipe(fd, file, fmt.Sprintf("holding %s in a file in %q", names[fd], os.TempDir()), also)
}

// pipe gives the command a pipe as fd, or a pseudo-terminal if dst is a terminal. Its
// bytes go to dst and also.
func (s *Streams) pipe(fd int, dst File, doing string, also io.Writer) (err error) {
	var read, write File
	terminal := dst != noFile && isTerminal(dst)
	if terminal {
		read, write, s.NoTerminal = newTerminal(dst)
		terminal = s.NoTerminal == nil
	}
	if !terminal {
		if read, write, err = newPipe(); err != nil {
			return err
		}
		enlargePipe(read)
	}
	unblock(read)
	s.give(fd, write)
	s.Pumps = append(s.Pumps, &Pump{
		src: read, dst: dst, pieces: piecesFor(dst), terminal: terminal, doing: doing, also: also,
		over: s.over, timed: s.timed, troubles: s.Troubles, Done: make(chan struct{}),
	})
	return nil
}

// give makes f the command's descriptor fd.
func (s *Streams) give(fd int, f File) { s.Files[fd], s.closing = f, append(s.closing, f) }

// Start closes the command's ends and begins to copy.
func (s *Streams) Start() {
	s.closeGiven()
	for _, p := range s.Pumps {
		go p.run()
	}
	if s.feeder != nil {
		go s.feeder.run()
	}
}

func (s *Streams) closeGiven() {
	for _, f := range s.closing {
		closeFile(f)
	}
}

// Close undoes Open if no command has started.
func (s *Streams) Close() {
	s.closeGiven()
	for _, p := range s.Pumps {
		closeFile(p.src)
	}
	if s.feeder != nil {
		closeFile(s.feeder.dst)
	}
	s.Drop()
	if s.over != nil {
		s.over.call()
		s.over.close()
	}
}

// Finish says that the command has ended, and reports whether a stream is copied.
func (s *Streams) Finish() bool {
	if s.over == nil {
		return false
	}
	s.over.call()
	for _, p := range s.Pumps {
		p.watchOrphans()
	}
	return true
}

// Release closes what is no longer used.
func (s *Streams) Release() {
	all := true
	if s.feeder != nil {
		select {
		case <-s.feeder.done:
		case <-time.After(Drain): // its read of a terminal blocks if another process has taken the bytes
			all = false
		}
	}
	for _, p := range s.Pumps {
		all = all && p.HasEnded()
	}
	if all { // else one may still wait for it
		s.over.close()
	}
}

// LastByte returns when the command wrote last, or since if that is later. It is now
// while its bytes wait for their reader, or for this program.
func (s *Streams) LastByte(since time.Time) time.Time {
	for _, p := range s.Pumps {
		if !p.IsIdle() {
			return time.Now()
		}
		if last := time.Unix(0, p.last.Load()); last.After(since) {
			since = last
		}
	}
	return since
}

// wake signals to all pumps and feeders that the command has ended.
type wake struct {
	wakeable
	called chan struct{} // closed then
	at     time.Time     // when that was
}

func newWake() (*wake, error) {
	w := &wake{called: make(chan struct{})}
	return w, w.wakeable.open()
}

// call is called once.
func (w *wake) call() {
	w.at = time.Now()
	close(w.called)
	w.wakeable.call()
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
