package stdio

// This file copies a command's output to its destination and to a second writer, or keeps
// it until it has been judged, in a file without a name: memory stays small, and no file
// remains however the program ends.

import (
	"fmt"
	"io"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/retrysh/retry/engine/attempt"
)

// Pump copies what a command writes to its destination, then to the writer also.
type Pump struct {
	src, dst File
	pieces   pieces    // of dst
	terminal bool      // src is a pseudo-terminal that stands for dst
	keys     keys      // passed from dst to src
	doing    string    // for errors
	also     io.Writer // may be nil
	over     *wake
	timed    bool // last is used
	troubles chan<- error

	Done   chan struct{} // closed when all has been copied
	passed atomic.Int64  // bytes written to the destination

	ending  sync.Once
	busy    atomic.Bool  // it may have bytes that it has not passed on
	writing atomic.Bool  // to the destination
	last    atomic.Int64 // when it has written last, in Unix nanoseconds
	dropped atomic.Bool  // the attempt has ended
	mu      sync.Mutex   // guards src against Resize; held while also, which calls nothing here, is written to
	lagging laggingWriter
	line    *Line // nil if dst is not where the messages of the program go
}

// HasEnded reports whether Done is closed.
func (p *Pump) HasEnded() bool { return isClosed(p.Done) }

// Doing says what the pump does, for errors.
func (p *Pump) Doing() string { return p.doing }

// IsWriting reports whether the pump writes to its destination.
func (p *Pump) IsWriting() bool { return p.writing.Load() }

// IsIdle reports whether it has nothing to pass on. What leaves the pipe while this looks
// makes the pump busy before.
func (p *Pump) IsIdle() bool { return p.waiting() == 0 && !p.busy.Load() }

// Taken is how many bytes the reader of the destination has taken.
func (p *Pump) Taken() int64 { return p.passed.Load() - int64(pending(p.dst)) }

// waiting is how many bytes of the command wait to be read.
func (p *Pump) waiting() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return pending(p.src)
}

// Drop ends the writing of a pump, which may be blocked. The second writer is not used
// after it returns.
func (p *Pump) Drop() {
	p.dropped.Store(true)
	p.mu.Lock()
	defer p.mu.Unlock()
}

func (p *Pump) end() { p.ending.Do(func() { close(p.Done) }) }

func (p *Pump) run() {
	defer p.end()
	defer p.lagging.finish()
	defer p.close()
	defer p.busy.Store(false)
	buf := make([]byte, pumpBuffer)
	left := -1       // of what was in the pipe at the end of the command; -1 before
	drained := false // left is of what was in it when Drain had passed
	for {
		if left < 0 && isClosed(p.over.called) {
			left = p.holds()
		}
		if left == 0 && time.Since(p.over.at) >= Drain {
			if drained {
				return
			}
			left, drained = p.holds(), true // written in time, however late this thread is
			continue
		}
		p.busy.Store(!readWaits)
		n, err := p.read(buf)
		p.busy.Store(true) // so the command is not idle
		switch {
		case err == errAgain:
			left = min(left, 0)
			p.busy.Store(false)
			awaitReadable(p.src, p.over)
		case err != nil:
			return
		default:
			if left > 0 {
				left = max(0, left-n)
			}
			goOn := p.pass(buf[:n])
			if p.timed {
				p.last.Store(time.Now().UnixNano())
			}
			if !goOn {
				return
			}
			if p.also != nil {
				buf = p.lagging.take(buf, n, p.passAlso)
			}
		}
	}
}

// holds is how much the source holds at most.
func (p *Pump) holds() int {
	if p.terminal {
		return terminalHolds
	}
	return pending(p.src)
}

// close closes the source, which Resize may look at.
func (p *Pump) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.modesBack()
	closeFile(p.src)
	p.src = noFile
}

// pass writes b to dst, and reports whether to go on.
func (p *Pump) pass(b []byte) bool {
	if p.dst == noFile {
		return !p.dropped.Load()
	}
	p.writing.Store(true)
	defer p.writing.Store(false)
	for len(b) > 0 {
		n := min(len(b), p.pieces.next())
		if _, err := p.dst.Write(b[:n]); err != nil {
			if !isGone(err) {
				p.troubles <- fmt.Errorf("%s: %w", p.doing, err)
			} else if p.dst == standard(1) {
				p.troubles <- attempt.ErrReaderGone
			}
			return false
		}
		p.line.wrote(b[:n])
		b = b[n:]
		p.passed.Add(int64(n))
		if p.dropped.Load() {
			return false
		}
	}
	return true
}

// passAlso writes b to the second writer.
func (p *Pump) passAlso(b []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.dropped.Load() {
		_, _ = p.also.Write(b)
	}
}

// laggingWriter writes to the second writer on a thread of its own while the pump copies the next
// bytes. Only an amount that is worth it starts the thread: to hand over each line of a
// command costs more than to write it.
type laggingWriter struct {
	queue chan []byte // nil until it is started
	free  chan []byte // buffers that are not being filled or written
	ended chan struct{}
	// behind counts the buffers that are handed over and not yet written. Who finds none has
	// the second writer to itself: the length of a channel would not order the writes.
	behind atomic.Int32
}

const (
	// pumpBuffer is how much a pump reads at once.
	pumpBuffer = 256 << 10
	// buffers is how many a pump has: one that is filled, one that is written, and the
	// rest between the two.
	buffers = 4
	// worthHandingOver takes about as long to write as waking a thread does.
	worthHandingOver = 32 << 10
)

// take writes the first n bytes of buf, in order, and returns the buffer to fill next.
func (l *laggingWriter) take(buf []byte, n int, write func([]byte)) []byte {
	if n < worthHandingOver && l.behind.Load() == 0 {
		write(buf[:n])
		return buf
	}
	if l.queue == nil {
		l.start(write)
	}
	l.behind.Add(1)
	l.queue <- buf[:n]
	return <-l.free
}

func (l *laggingWriter) start(write func([]byte)) {
	l.queue = make(chan []byte, buffers)
	l.free = make(chan []byte, buffers)
	l.ended = make(chan struct{})
	for range buffers - 1 {
		l.free <- make([]byte, pumpBuffer)
	}
	go func() {
		defer close(l.ended)
		for filled := range l.queue {
			write(filled)
			l.behind.Add(-1)
			l.free <- filled[:cap(filled)]
		}
	}()
}

// finish returns when all has been written.
func (l *laggingWriter) finish() {
	if l.queue != nil {
		close(l.queue)
		<-l.ended
	}
}

// held is one output that is held back.
type held struct {
	file  File
	fd    int // where it belongs: 1 or 2
	mode  OutputMode
	stuck bool // its writing has been given up, and may go on
}

// Settle writes held output to its destination, or to standard error if the attempt was
// rejected. The error is attempt.ErrReaderGone if standard output has no reader. It wraps
// ErrStuck if a reader was given up while isEnding reported true.
func (s *Streams) Settle(accepted bool, isEnding func() bool) (first error) {
	defer s.Drop()
	return s.release(s.held, accepted, isEnding)
}

func (s *Streams) release(outputs []held, accepted bool, isEnding func() bool) (first error) {
	for i, h := range outputs {
		to := h.fd
		if !accepted {
			to = 2
		}
		err := copyOut(standard(to), h.file, isEnding)
		if err == ErrStuck {
			outputs[i].stuck = true
		} else {
			s.lineOf(to).wroteFile(h.file)
		}
		switch {
		case first != nil, err == nil, isGone(err) && to == 2:
		case isGone(err):
			first = attempt.ErrReaderGone
		default:
			first = fmt.Errorf("writing %s: %w", names[to], err)
		}
	}
	return first
}

// Drop drops held output.
func (s *Streams) Drop() {
	drop(s.held)
	s.held = nil
}

func drop(outputs []held) {
	for _, h := range outputs {
		if !h.stuck {
			closeFile(h.file)
		}
	}
}

// copyOut writes all of file to dst, in the kernel if that works. If the reader is given up,
// the goroutine that writes stays behind.
func copyOut(dst, file File, isEnding func() bool) error {
	var written atomic.Int64
	done := make(chan error, 1)
	go func() {
		finished, err := copyInKernel(dst, file, &written)
		if !finished {
			rest := io.NewSectionReader(file, written.Load(), math.MaxInt64)
			_, err = io.CopyBuffer(&counting{dst, &written}, rest, make([]byte, page))
		}
		done <- err
	}()
	return await(done, dst, &written, isEnding)
}

// counting counts the bytes that it writes.
type counting struct {
	to      io.Writer
	written *atomic.Int64
}

func (c *counting) Write(b []byte) (int, error) {
	n, err := c.to.Write(b)
	c.written.Add(int64(n))
	return n, err
}
