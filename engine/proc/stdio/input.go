package stdio

// This file gives every process the same standard input.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"
	"time"
)

// spoolMemory is how much of a replayed input is kept in memory, 1 MiB.
const spoolMemory = 1 << 20

// Input is the program's standard input as its processes get it.
type Input struct {
	replays bool
	offset  int64  // of a seekable file, at the start
	spool   *spool // of anything else that is replayed
}

// OpenInput looks at standard input for processes that get it in mode.
func OpenInput(mode InputMode) *Input {
	in := &Input{replays: mode == Replay}
	if in.replays {
		offset, seekable := position()
		in.offset = offset
		if !seekable {
			in.spool = &spool{file: nowhere, turn: make(chan struct{}, 1), more: make(chan struct{})}
		}
	}
	return in
}

// ErrUnended says that standard input has not ended in time.
var ErrUnended = errors.New("standard input has not ended")

// All returns the whole input from its first byte on, nil where nothing is replayed.
// What has not been read yet is read until ctx is done.
func (in *Input) All(ctx context.Context) (io.Reader, error) {
	switch {
	case !in.replays:
		return nil, nil
	case in.spool == nil:
		return io.NewSectionReader(&fileSource{offset: in.offset}, 0, math.MaxInt64), nil
	}
	over, err := newWake()
	if err != nil {
		return nil, err
	}
	defer over.call()
	ended := make(chan error, 1)
	go func() {
		defer over.close()
		ended <- in.spool.rest(&feeder{dst: nowhere, over: over})
	}()
	select {
	case err := <-ended:
		return io.NewSectionReader(in.spool, 0, math.MaxInt64), err
	case <-ctx.Done():
		return nil, ErrUnended
	}
}

// openInput decides where the command's standard input comes from.
func (s *Streams) openInput(in *Input, p Plan) error {
	switch {
	case p.In == Null:
		f, err := openNull()
		if err != nil {
			return err
		}
		s.child[0], s.closing = f, append(s.closing, f)
	case p.In == Replay && in.spool != nil:
		return s.feed(in.spool)
	case p.In == Replay && p.Beside:
		return s.openAgain(in.offset)
	case p.In == Replay:
		if err := seek(standard(0), in.offset); err != nil {
			return fmt.Errorf("rewinding standard input: %w", err)
		}
	}
	return nil
}

// openAgain gives the command a description of its own of the file that is
// standard input, since processes beside one another would share the position.
// Where the file may not be opened again, the command is fed from it.
func (s *Streams) openAgain(offset int64) error {
	if f, err := reopen(); err == nil {
		if seek(f, offset) == nil {
			s.child[0], s.closing = f, append(s.closing, f)
			return nil
		}
		closeFile(f)
	}
	return s.feed(&fileSource{offset: offset})
}

// feed gives the command a pipe that a feeder writes to.
func (s *Streams) feed(from source) error {
	read, write, err := newInputPipe()
	if err != nil {
		return err
	}
	s.child[0], s.closing = read, append(s.closing, read)
	s.feeder = &feeder{from: from, dst: write, over: s.over, fail: s.fail, done: make(chan struct{})}
	return nil
}

// source is where a feeder takes the input from.
type source interface {
	// ReadAt fills b from offset on: io.EOF where there will be nothing more, and
	// 0 where more has to be awaited first.
	io.ReaderAt
	// await returns when there may be more than offset. It reports false where f
	// is not to go on.
	await(f *feeder, buf []byte, offset int64) (bool, error)
}

// fileSource is a seekable file that is standard input, read from offset on.
type fileSource struct{ offset int64 }

// ReadAt reads the file.
func (s *fileSource) ReadAt(b []byte, offset int64) (int, error) {
	n, err := readAt(standard(0), b, s.offset+offset)
	if n > 0 {
		err = nil
	}
	return n, err
}

func (s *fileSource) await(*feeder, []byte, int64) (bool, error) { return true, nil }

// spool is what has been read of a live input so far: in memory at first, then
// in a file without a name. Each of those who read it has its own pace; the one
// that is ahead, and has the turn, reads the input for all.
type spool struct {
	turn chan struct{} // has a token while a feeder reads the input

	mu     sync.Mutex // a leaf: only system calls while it is held
	memory []byte
	file   File // nowhere while memory is enough
	size   int64
	ended  bool          // the input has no more
	more   chan struct{} // closed, and replaced, when the above have changed
}

// ReadAt reads what has been kept.
func (s *spool) ReadAt(b []byte, offset int64) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case offset >= s.size && s.ended:
		return 0, io.EOF
	case offset >= s.size:
		return 0, nil
	case s.file == nowhere:
		return copy(b, s.memory[offset:]), nil
	}
	n, err := readAt(s.file, b[:min(int64(len(b)), s.size-offset)], offset)
	if n > 0 {
		err = nil
	}
	return n, err
}

// beyond reports whether there is more than offset, and else returns what is
// closed when there is.
func (s *spool) beyond(offset int64) (bool, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.size > offset || s.ended, s.more
}

func (s *spool) await(f *feeder, buf []byte, offset int64) (bool, error) {
	there, more := s.beyond(offset)
	if there {
		return true, nil
	}
	select {
	case <-more:
		return true, nil
	case <-f.over.called:
		return false, nil
	case s.turn <- struct{}{}:
	}
	defer func() { <-s.turn }()
	if there, _ := s.beyond(offset); there { // it came while the turn was another's
		return true, nil
	}
	if !f.awaitInput() {
		return false, nil
	}
	return true, s.grow(buf)
}

// rest reads the input to its end.
func (s *spool) rest(f *feeder) error {
	buf := make([]byte, pumpBuffer)
	for {
		s.mu.Lock()
		size, ended := s.size, s.ended
		s.mu.Unlock()
		if ended {
			return nil
		}
		if goOn, err := s.await(f, buf, size); err != nil || !goOn {
			return err
		}
	}
}

// grow reads once from the program's standard input, which has something to
// read or has ended, and keeps it. The caller has the turn.
func (s *spool) grow(buf []byte) error {
	n, err := readFile(standard(0), buf)
	switch {
	case err == errAgain:
		return nil
	case err == io.EOF:
		s.mu.Lock()
		defer s.mu.Unlock()
		s.ended = true
		s.signal()
		return nil
	case err != nil:
		return fmt.Errorf("reading standard input: %w", err)
	}
	if err := s.keep(buf[:n]); err != nil {
		return fmt.Errorf("keeping standard input for the next attempt: %w", err)
	}
	return nil
}

// signal wakes the feeders that wait for more; s.mu is held.
func (s *spool) signal() {
	close(s.more)
	s.more = make(chan struct{})
}

func (s *spool) keep(b []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.file == nowhere && len(s.memory)+len(b) <= spoolMemory:
		s.memory = append(s.memory, b...)
	case s.file == nowhere:
		file, err := openSpool()
		if err != nil {
			return err
		}
		if err := writeAll(file, s.memory); err != nil {
			return err
		}
		s.file, s.memory = file, nil
		fallthrough
	default:
		if err := writeAll(s.file, b); err != nil {
			return err
		}
	}
	s.size += int64(len(b))
	s.signal()
	return nil
}

// feeder writes the input to one command, first what was kept, then what comes.
type feeder struct {
	from source
	dst  File
	over *wake
	fail func(error)
	done chan struct{}
}

// wait waits for a feeder after the command, and reports whether it has ended:
// a terminal's reader may be stuck where another process took the bytes.
func (f *feeder) wait() bool {
	timer := time.NewTimer(Drain)
	defer timer.Stop()
	select {
	case <-f.done:
		return true
	case <-timer.C:
		return false
	}
}

func (f *feeder) run() {
	defer close(f.done)
	defer closeFile(f.dst)
	buf := make([]byte, pumpBuffer)
	var offset int64
	for f.over.at.Load() == nil {
		n, err := f.from.ReadAt(buf, offset)
		if err == io.EOF {
			return
		}
		if err == nil && n == 0 {
			goOn := false
			if goOn, err = f.from.await(f, buf, offset); err == nil && !goOn {
				return
			}
		}
		if err == nil && n > 0 {
			err = f.write(buf[:n])
			offset += int64(n)
		}
		if isGone(err) { // the command has read all that it wanted
			return
		}
		if err != nil {
			f.fail(err)
			<-f.over.called // the command must not take what it has got for all that there is
			return
		}
	}
}
