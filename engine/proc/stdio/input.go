package stdio

// This file gives every process the same standard input.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
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
	if !in.replays {
		return in
	}
	info, err := os.Stdin.Stat()
	if err == nil && info.Mode().IsRegular() {
		in.offset, err = os.Stdin.Seek(0, io.SeekCurrent)
	}
	if err != nil || !info.Mode().IsRegular() {
		in.spool = &spool{file: nowhere, turn: make(chan struct{}, 1), more: make(chan struct{})}
	}
	return in
}

// All returns the whole input, which it reads until ctx is done; nil if it is not
// replayed.
func (in *Input) All(ctx context.Context) (io.Reader, error) {
	switch {
	case !in.replays:
		return nil, nil
	case in.spool == nil:
		return io.NewSectionReader(fileSource(in.offset), 0, math.MaxInt64), nil
	}
	over, err := newWake()
	if err != nil {
		return nil, err
	}
	defer over.call()
	troubles := make(chan error, 1)
	f := &feeder{from: in.spool, offset: in.spool.length(), dst: nowhere, over: over, troubles: troubles, done: make(chan struct{})}
	go func() {
		defer over.close()
		f.run()
	}()
	select {
	case <-f.done:
		return io.NewSectionReader(in.spool, 0, math.MaxInt64), nil
	case err := <-troubles:
		return nil, err
	case <-ctx.Done():
		return nil, errors.New("standard input has not ended")
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
		s.give(0, f)
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

// openAgain opens the file that is standard input for the command, so that processes do
// not share the position. If that fails, the command gets a pipe.
func (s *Streams) openAgain(offset int64) error {
	if f, err := reopen(); err == nil {
		if seek(f, offset) == nil {
			s.give(0, f)
			return nil
		}
		closeFile(f)
	}
	return s.feed(fileSource(offset))
}

func (s *Streams) feed(from source) error {
	read, write, err := newPipe()
	if err != nil {
		return err
	}
	unblock(write)
	s.give(0, read)
	s.feeder = &feeder{from: from, dst: write, over: s.over, troubles: s.Troubles, done: make(chan struct{})}
	return nil
}

// source is where a feeder takes the input from.
type source interface {
	// next reads into b from offset on, and waits until there is something. It returns
	// io.EOF at the end, or if f is to stop.
	next(f *feeder, b []byte, offset int64) (int, error)
}

// fileSource is a seekable file that is standard input, read from that offset on.
type fileSource int64

// ReadAt reads the file.
func (s fileSource) ReadAt(b []byte, offset int64) (int, error) {
	n, err := readAt(standard(0), b, int64(s)+offset)
	if n > 0 {
		err = nil
	}
	return n, err
}

func (s fileSource) next(_ *feeder, b []byte, offset int64) (int, error) { return s.ReadAt(b, offset) }

// spool is what has been read of an input, in memory and then in a file without a name. Of
// its readers, the one that is ahead and has the turn reads the input for all.
type spool struct {
	turn chan struct{} // has a token while a feeder reads the input

	mu     sync.Mutex // a leaf: only system calls while it is held
	memory []byte
	file   File // nowhere while memory is enough
	size   int64
	ended  bool
	more   chan struct{} // closed, and replaced, when the above change
}

// ReadAt reads what has been kept.
func (s *spool) ReadAt(b []byte, offset int64) (int, error) {
	n, _, err := s.kept(b, offset)
	return n, err
}

// kept is ReadAt. If it returns 0, more is closed when there may be more.
func (s *spool) kept(b []byte, offset int64) (n int, more <-chan struct{}, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case offset >= s.size && s.ended:
		return 0, nil, io.EOF
	case offset >= s.size:
		return 0, s.more, nil
	case s.file == nowhere:
		return copy(b, s.memory[offset:]), nil, nil
	}
	n, err = readAt(s.file, b[:min(int64(len(b)), s.size-offset)], offset)
	if n > 0 {
		err = nil
	}
	return n, nil, err
}

func (s *spool) next(f *feeder, b []byte, offset int64) (int, error) {
	for {
		n, more, err := s.kept(b, offset)
		if n > 0 || err != nil {
			return n, err
		}
		select {
		case <-more:
			continue
		case <-f.over.called:
			return 0, io.EOF
		case s.turn <- struct{}{}:
		}
		switch {
		case isClosed(more): // it came while the turn was another's
		case f.awaitInput():
			err = s.grow(b)
		default:
			err = io.EOF
		}
		<-s.turn
		if err != nil {
			return 0, err
		}
	}
}

func (s *spool) length() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.size
}

// grow reads once from the program's standard input, which does not block, and keeps it.
// The caller has the turn.
func (s *spool) grow(buf []byte) error {
	n, err := readFile(standard(0), buf)
	if err == errAgain {
		return nil
	}
	if err != nil && err != io.EOF {
		return fmt.Errorf("reading standard input: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = err == io.EOF
	if err := s.keep(buf[:n]); err != nil {
		return fmt.Errorf("keeping standard input for the next attempt: %w", err)
	}
	close(s.more)
	s.more = make(chan struct{})
	return nil
}

// keep adds b; s.mu is held.
func (s *spool) keep(b []byte) error {
	if s.file == nowhere && len(s.memory)+len(b) > spoolMemory {
		file, err := openSpool()
		if err == nil {
			err = writeAll(file, s.memory)
		}
		if err != nil {
			return err
		}
		s.file, s.memory = file, nil
	}
	if s.file == nowhere {
		s.memory = append(s.memory, b...)
	} else if err := writeAll(s.file, b); err != nil {
		return err
	}
	s.size += int64(len(b))
	return nil
}

// feeder writes the input, from an offset on, to one command, or only reads it.
type feeder struct {
	from     source
	offset   int64
	dst      File // may be nowhere
	over     *wake
	troubles chan<- error
	done     chan struct{}
}

// wait waits for a feeder after the command, and reports whether it has ended: its read of
// a terminal may block, if another process has taken the bytes.
func (f *feeder) wait() bool {
	select {
	case <-f.done:
		return true
	case <-time.After(Drain):
		return false
	}
}

func (f *feeder) run() {
	defer close(f.done)
	defer closeFile(f.dst)
	buf := make([]byte, pumpBuffer)
	for !isClosed(f.over.called) {
		n, err := f.from.next(f, buf, f.offset)
		f.offset += int64(n)
		if err == nil && f.dst != nowhere {
			err = f.write(buf[:n])
		}
		switch {
		case err == nil:
		case err == io.EOF, isGone(err): // the command has closed its input, or has it all
			return
		default:
			f.troubles <- err
			<-f.over.called // until then the command must not see the end of its input
			return
		}
	}
}
