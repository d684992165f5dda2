package stdio

// This file copies a command's output to its destination and to a second writer.

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/retrysh/retry/engine/attempt"
)

// Pump moves what a command writes: first to its destination, then to the writer
// also.
type Pump struct {
	src, dst File
	terminal bool      // src is a pseudo-terminal that stands for dst
	keys     keys      // passed from dst to src
	doing    string    // for errors
	also     io.Writer // may be nil
	over     *wake
	activity *activity // may be nil
	troubles chan<- error

	ending  sync.Once
	done    chan struct{}
	passed  atomic.Int64 // pieces that dst has taken
	busy    atomic.Bool  // it passes on what it has read
	dropped atomic.Bool  // the attempt is over
	mu      sync.Mutex   // guards src against Resize; held while also is written to, which calls nothing here
	behind  behind
}

// piece is the most that is written at once: less than a pump reads, so that a
// slow reader, of 32 KiB a second within 2 s, can be distinguished from none.
const piece = 64 << 10

// Done is closed when everything has been copied to both.
func (p *Pump) Done() <-chan struct{} { return p.done }

// HasEnded reports whether Done is closed.
func (p *Pump) HasEnded() bool { return isClosed(p.done) }

// Passed is the number of pieces written to the destination. While it does not grow,
// the reader reads nothing.
func (p *Pump) Passed() int64 { return p.passed.Load() }

// Drop stops a blocked pump from writing any more. The second writer is not used
// after it returns.
func (p *Pump) Drop() {
	p.dropped.Store(true)
	p.mu.Lock()
	defer p.mu.Unlock()
}

func (p *Pump) end() { p.ending.Do(func() { close(p.done) }) }

func (p *Pump) run() {
	defer p.end()
	defer p.behind.finish()
	defer p.close()
	buf := make([]byte, pumpBuffer)
	left := -1 // what was in the pipe when the command had ended; -1 before
	for {
		if left < 0 && isClosed(p.over.called) {
			if left = pending(p.src); p.terminal {
				left = terminalHolds
			}
		}
		if left == 0 && time.Since(p.over.at) >= Drain {
			return
		}
		n, err := p.read(buf)
		switch {
		case err == errAgain:
			left = min(left, 0)
			awaitReadable(p.src, p.over)
		case err != nil:
			return
		default:
			if left > 0 {
				left = max(0, left-n)
			}
			if !p.take(buf[:n]) {
				return
			}
			if p.also != nil {
				buf = p.behind.take(buf, n, p.readAlong)
			}
		}
	}
}

// close closes the source, which Resize may look at.
func (p *Pump) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.modesBack()
	closeFile(p.src)
	p.src = nowhere
}

// read reads once; errAgain where there is nothing yet.
func (p *Pump) read(b []byte) (int, error) {
	if p.terminal {
		return p.readTerminal(b)
	}
	return readFile(p.src, b)
}

// take passes b on, and reports whether to go on. The command is not idle
// meanwhile.
func (p *Pump) take(b []byte) bool {
	p.busy.Store(true)
	defer p.busy.Store(false)
	if a := p.activity; a != nil {
		a.passing.Add(1)
		defer func() {
			a.last.Store(time.Now().UnixNano())
			a.passing.Add(-1)
		}()
	}
	return p.pass(b)
}

// pass writes b to where it belongs and reports whether to go on.
func (p *Pump) pass(b []byte) bool {
	if p.dst == nowhere {
		return !p.dropped.Load()
	}
	for len(b) > 0 {
		n := min(len(b), piece)
		if err := writeAll(p.dst, b[:n]); err != nil {
			if !isGone(err) {
				p.troubles <- fmt.Errorf("%s: %w", p.doing, err)
			} else if p.dst == standard(1) {
				p.troubles <- attempt.ErrReaderGone
			}
			return false
		}
		b = b[n:]
		if p.passed.Add(1); p.dropped.Load() {
			return false
		}
	}
	return true
}

// readAlong hands b to the second writer.
func (p *Pump) readAlong(b []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.dropped.Load() {
		_, _ = p.also.Write(b)
	}
}

// behind writes to the second writer on a thread of its own while the pump moves the
// next bytes. It is started only by an amount that is worth a thread: a command that
// writes line by line would pay for a hand-over with each of them.
type behind struct {
	queue   chan []byte // nil until it is started
	free    chan []byte
	pending atomic.Int32
	ended   chan struct{}
}

const (
	// pumpBuffer is how much a pump reads at once.
	pumpBuffer = 256 << 10
	// buffers are how many a pump has at most: one that is filled, one that the second
	// writer has, and the rest between the two.
	buffers = 4
	// worthHandingOver takes about as long to write as waking a thread does.
	worthHandingOver = 32 << 10
)

// take has the first n bytes of buf written and returns the buffer to fill
// next. The order is kept.
func (b *behind) take(buf []byte, n int, write func([]byte)) []byte {
	if n < worthHandingOver && b.pending.Load() == 0 {
		write(buf[:n])
		return buf
	}
	if b.queue == nil {
		b.start(write)
	}
	b.pending.Add(1)
	b.queue <- buf[:n]
	return <-b.free
}

func (b *behind) start(write func([]byte)) {
	b.queue, b.free, b.ended = make(chan []byte, buffers), make(chan []byte, buffers), make(chan struct{})
	for range buffers - 1 {
		b.free <- make([]byte, pumpBuffer)
	}
	go func() {
		defer close(b.ended)
		for filled := range b.queue {
			write(filled)
			b.pending.Add(-1)
			b.free <- filled[:cap(filled)]
		}
	}()
}

// finish returns when all has been written.
func (b *behind) finish() {
	if b.queue != nil {
		close(b.queue)
		<-b.ended
	}
}
