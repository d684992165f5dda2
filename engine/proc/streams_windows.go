package proc

// This file connects an attempt's standard streams.

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/retrysh/retry/engine/attempt"
)

// pumpBuffer is how much a pump reads at once.
const pumpBuffer = 64 << 10

// stdin is the program's standard input as the attempts get it.
type stdin struct {
	mode   StdinMode
	offset int64  // of a seekable file, at the start
	spool  *spool // of anything else that is replayed
}

func openStdin(mode StdinMode) (*stdin, error) {
	in := &stdin{mode: mode}
	if mode != Replay {
		return in, nil
	}
	if info, err := os.Stdin.Stat(); err == nil && info.Mode().IsRegular() {
		offset, err := os.Stdin.Seek(0, io.SeekCurrent)
		in.offset = offset
		return in, err
	}
	file, err := openSpool()
	if err != nil {
		return nil, fmt.Errorf("keeping standard input: %w", err)
	}
	in.spool = &spool{file: file, more: make(chan struct{})}
	return in, nil
}

// spool is what has been read of a live input so far.
type spool struct {
	file  *os.File
	begin sync.Once

	mu    sync.Mutex
	size  int64
	ended bool
	err   error
	more  chan struct{} // closed and replaced whenever the above change
}

// read copies the program's standard input to its end.
func (s *spool) read() {
	buf := make([]byte, pumpBuffer)
	for {
		n, err := os.Stdin.Read(buf)
		_, keepErr := s.file.WriteAt(buf[:n], s.size)
		s.mu.Lock()
		s.size += int64(n)
		s.ended = err != nil || keepErr != nil
		s.err = keepErr
		close(s.more)
		s.more = make(chan struct{})
		done := s.ended
		s.mu.Unlock()
		if done {
			return
		}
	}
}

// feed writes the input to one attempt, first what was kept, then what comes.
func (s *spool) feed(dst *os.File, over <-chan struct{}, fail func(error)) {
	defer func() { _ = dst.Close() }()
	s.begin.Do(func() { go s.read() })
	buf := make([]byte, pumpBuffer)
	for offset := int64(0); ; {
		s.mu.Lock()
		size, ended, err, more := s.size, s.ended, s.err, s.more
		s.mu.Unlock()
		switch {
		case offset < size:
			n, err := s.file.ReadAt(buf[:min(int64(len(buf)), size-offset)], offset)
			if err != nil && err != io.EOF {
				fail(fmt.Errorf("replaying standard input: %w", err))
				return
			}
			if _, err := dst.Write(buf[:n]); err != nil {
				return // the command has read all that it wanted
			}
			offset += int64(n)
		case err != nil:
			fail(fmt.Errorf("keeping standard input for the next attempt: %w", err))
			return
		case ended:
			return
		default:
			select {
			case <-more:
			case <-over:
				return
			}
		}
	}
}

// openSpool opens a temporary file that is removed when it is closed.
func openSpool() (*os.File, error) {
	f, err := os.CreateTemp("", "retry-*")
	if err != nil {
		return nil, fmt.Errorf("no temporary file in %q: %w; set TMP to another directory", os.TempDir(), err)
	}
	return f, nil
}

// held is one held output.
type held struct {
	file *os.File
	dst  *os.File
}

// drop forgets the output.
func (h *held) drop() {
	_ = h.file.Close()
	_ = os.Remove(h.file.Name())
}

// release writes the output to where it belongs, or to standard error where
// the attempt was rejected.
func (h *held) release(accepted bool) error {
	defer h.drop()
	dst := h.dst
	if !accepted {
		dst = os.Stderr
	}
	if _, err := h.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err := io.Copy(dst, h.file)
	if isGone(err) {
		if dst == os.Stdout {
			return attempt.ErrReaderGone
		}
		return nil
	}
	return err
}

func isGone(err error) bool {
	const noData, notConnected = syscall.Errno(232), syscall.Errno(233) // ERROR_NO_DATA, ERROR_PIPE_NOT_CONNECTED: the other end is closed
	return errors.Is(err, syscall.ERROR_BROKEN_PIPE) || errors.Is(err, noData) || errors.Is(err, notConnected)
}

// streams are the standard streams of one attempt.
type streams struct {
	child   [3]*os.File // what the command gets
	closing []*os.File  // those of them that are closed once it has started
	pumps   []*pump
	outputs []*held
	feed    func()
	over    chan struct{}
}

func (a *running) open() (*streams, error) {
	s := &streams{child: [3]*os.File{os.Stdin, os.Stdout, os.Stderr}, over: make(chan struct{})}
	err := s.openInput(a)
	if err == nil {
		err = s.openOutput(a, 1, a.cfg.Stdout, a.spec.Stdout)
	}
	if err == nil {
		err = s.openOutput(a, 2, a.cfg.Stderr, a.spec.Stderr)
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *streams) openInput(a *running) error {
	switch in := a.stdin; {
	case in.mode == Null:
		f, err := os.Open(os.DevNull)
		if err != nil {
			return err
		}
		s.child[0], s.closing = f, append(s.closing, f)
	case in.spool != nil:
		r, w, err := os.Pipe()
		if err != nil {
			return fmt.Errorf("no pipe to be had: %w", err)
		}
		s.child[0], s.closing = r, append(s.closing, r)
		s.feed = func() { in.spool.feed(w, s.over, a.fail) }
	case in.mode == Replay:
		if _, err := os.Stdin.Seek(in.offset, io.SeekStart); err != nil {
			return fmt.Errorf("rewinding standard input: %w", err)
		}
	}
	return nil
}

func (s *streams) openOutput(a *running, fd int, mode OutputMode, also io.Writer) error {
	dst := s.child[fd]
	if mode == Hold {
		file, err := openSpool()
		if err != nil {
			return fmt.Errorf("holding output: %w", err)
		}
		s.outputs = append(s.outputs, &held{file: file, dst: dst})
		dst = file
	}
	s.child[fd] = dst
	if also == nil {
		return nil
	}
	return s.pipe(a, []int{fd}, dst, also)
}

// pipe gives the command a pipe as fds, whose bytes go to dst, if any, and also.
func (s *streams) pipe(a *running, fds []int, dst *os.File, also io.Writer) error {
	r, w, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("no pipe to be had: %w", err)
	}
	for _, fd := range fds {
		s.child[fd] = w
	}
	s.closing = append(s.closing, w)
	p := &pump{src: r, dst: dst, also: also, done: make(chan struct{}), fail: a.fail, gone: func() {}}
	if fds[0] == 1 {
		p.gone = a.readerGone
	}
	s.pumps = append(s.pumps, p)
	return nil
}

// openProbe gives a probe no input, and one pipe for both its outputs.
func (s *streams) openProbe(a *running, output io.Writer) error {
	s.over = make(chan struct{})
	if err := s.openInput(a); err != nil {
		return err
	}
	if err := s.pipe(a, []int{1, 2}, nil, output); err != nil {
		s.close()
		return err
	}
	return nil
}

func (s *streams) start() {
	for _, f := range s.closing {
		_ = f.Close()
	}
	s.closing = nil
	for _, p := range s.pumps {
		go p.run()
	}
	if s.feed != nil {
		go s.feed()
	}
}

func (s *streams) close() {
	for _, f := range s.closing {
		_ = f.Close()
	}
	for _, p := range s.pumps {
		_ = p.src.Close()
	}
	for _, h := range s.outputs {
		_ = h.file.Close()
		_ = os.Remove(h.file.Name())
	}
	close(s.over)
}

// drain reads the pipes to their end, for drainTime after the last bytes that
// came, and where a time limit has ended the attempt, with patience for their
// reader; abandon ends it at any time.
func (s *streams) drain(abandon <-chan struct{}, limited bool) {
	close(s.over)
	for _, p := range s.pumps {
		p.drain(abandon, limited)
	}
}

// pump moves what the command writes: to dst first, then to also.
type pump struct {
	src, dst *os.File
	also     io.Writer
	done     chan struct{}
	gone     func()
	fail     func(error)

	mu      sync.Mutex
	dropped bool
	busy    bool
	moved   int64
}

func (p *pump) run() {
	defer close(p.done)
	defer func() { _ = p.src.Close() }()
	buf := make([]byte, pumpBuffer)
	for {
		n, err := p.src.Read(buf)
		if n > 0 && !p.pass(buf[:n]) {
			return
		}
		if err != nil {
			return
		}
	}
}

func (p *pump) pass(b []byte) bool {
	p.mark(true)
	defer p.mark(false)
	if p.dst != nil {
		if _, err := p.dst.Write(b); isGone(err) {
			p.gone()
			return false
		} else if err != nil {
			p.fail(fmt.Errorf("writing output: %w", err))
			return false
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dropped {
		return false
	}
	_, _ = p.also.Write(b)
	return true
}

func (p *pump) mark(busy bool) {
	p.mu.Lock()
	p.busy = busy
	p.moved++
	p.mu.Unlock()
}

// drain waits until the pipe has ended, or nothing has moved for drainTime: an
// anonymous pipe cannot be asked how much it holds. Where limited is set a
// reader that takes nothing is waited for no longer than patience.
func (p *pump) drain(abandon <-chan struct{}, limited bool) {
	for before, since := int64(-1), time.Now(); ; {
		select {
		case <-p.done:
			return
		case <-abandon:
			p.drop()
			return
		case <-time.After(drainTime):
		}
		p.mu.Lock()
		moved, busy := p.moved, p.busy
		p.mu.Unlock()
		if moved != before {
			before, since = moved, time.Now()
		} else if !busy || limited && time.Since(since) >= patience {
			p.drop()
			return
		}
	}
}

func (p *pump) drop() {
	p.mu.Lock()
	p.dropped = true
	p.mu.Unlock()
}
