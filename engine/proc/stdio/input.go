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

	"github.com/retrysh/retry/engine/attempt"
)

// spoolMemory is how much of a replayed input is kept in memory, 1 MiB.
const spoolMemory = 1 << 20

// Input is the program's standard input as its processes get it.
type Input struct {
	offset int64  // of a seekable file, at the start
	spool  *spool // of anything else that is replayed
}

// OpenInput looks at standard input for processes that get it in mode. It returns nil if
// they do not replay it.
func OpenInput(mode InputMode) *Input {
	if mode != Replay {
		return nil
	}
	in := new(Input)
	info, err := os.Stdin.Stat()
	if err == nil && info.Mode().IsRegular() {
		in.offset, err = os.Stdin.Seek(0, io.SeekCurrent)
	}
	if err != nil || !info.Mode().IsRegular() {
		in.spool = &spool{file: noFile, turn: make(chan struct{}, 1), more: make(chan struct{})}
	}
	return in
}

// All returns the whole input, which it reads until ctx is done.
func (in *Input) All(ctx context.Context) (io.Reader, error) {
	if in.spool == nil {
		return io.NewSectionReader(standard(0), in.offset, math.MaxInt64), nil
	}
	over, err := newWake()
	if err != nil {
		return nil, err
	}
	defer over.call()
	f := &feeder{spool: in.spool, offset: math.MaxInt64, dst: noFile, over: over} // which reads to the end
	read := make(chan error, 1)
	go func() {
		_, err := f.next(make([]byte, pumpBuffer))
		over.close()
		read <- err
	}()
	select {
	case err := <-read:
		if err != io.EOF {
			return nil, err
		}
		return io.NewSectionReader(in.spool, 0, math.MaxInt64), nil
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
			return fmt.Errorf("opening %s: %w", os.DevNull, err)
		}
		s.give(0, f)
	case p.In == Replay && in.spool != nil:
		return s.feed(in.spool, 0)
	case p.In == Replay && p.Streams == attempt.Held: // beside others that read it
		return s.openAgain(in.offset)
	case p.In == Replay:
		if _, err := standard(0).Seek(in.offset, io.SeekStart); err != nil {
			return fmt.Errorf("rewinding standard input: %w", err)
		}
	}
	return nil
}

// openAgain opens the file that is standard input for the command, so that processes do
// not share the position. If that fails, the command gets a pipe.
func (s *Streams) openAgain(offset int64) error {
	if f, err := reopen(); err == nil {
		if _, err := f.Seek(offset, io.SeekStart); err == nil {
			s.give(0, f)
			return nil
		}
		closeFile(f)
	}
	return s.feed(nil, offset)
}

func (s *Streams) feed(from *spool, offset int64) error {
	read, write, err := newPipe()
	if err != nil {
		return err
	}
	unblock(write)
	s.give(0, read)
	s.feeder = &feeder{
		spool: from, offset: offset, dst: write, over: s.over, troubles: s.Troubles, done: make(chan struct{}),
	}
	return nil
}

// spool is what has been read of an input, in memory and then in a file without a name. Of
// its readers, the one that is ahead and has the turn reads the input for all.
type spool struct {
	turn chan struct{} // has a token while a feeder reads the input

	mu     sync.Mutex // a leaf: only system calls while it is held
	memory []byte
	file   File // noFile while memory is enough
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
	case s.file == noFile:
		return copy(b, s.memory[offset:]), nil, nil
	}
	n, err = s.file.ReadAt(b[:min(int64(len(b)), s.size-offset)], offset)
	return n, nil, err
}

// next reads into b, and waits until there is something. It returns io.EOF at the end, or
// if f is to stop.
func (f *feeder) next(b []byte) (int, error) {
	s := f.spool
	if s == nil {
		return standard(0).ReadAt(b, f.offset)
	}
	for {
		n, more, err := s.kept(b, f.offset)
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

// grow reads once from the program's standard input, which does not block, and keeps it.
// The caller has the turn.
func (s *spool) grow(buf []byte) error {
	n, err := standard(0).Read(buf)
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
	if s.file == noFile && len(s.memory)+len(b) > spoolMemory {
		file, err := openSpool()
		if err == nil {
			_, err = file.Write(s.memory)
		}
		if err != nil {
			return err
		}
		s.file, s.memory = file, nil
	}
	if s.file == noFile {
		s.memory = append(s.memory, b...)
	} else if _, err := s.file.Write(b); err != nil {
		return err
	}
	s.size += int64(len(b))
	return nil
}

// feeder writes the input, from an offset on, to one command.
type feeder struct {
	spool    *spool // nil if the input is a file that is read again
	offset   int64
	dst      File
	over     *wake
	troubles chan<- error
	done     chan struct{}
}

func (f *feeder) run() {
	defer close(f.done)
	defer closeFile(f.dst)
	if err := f.copy(); err != io.EOF && !isGone(err) { // the command has not closed its input
		f.troubles <- err
		<-f.over.called // until then the command must not see the end of its input
	}
}

func (f *feeder) copy() error {
	buf := make([]byte, pumpBuffer)
	for !isClosed(f.over.called) {
		n, err := f.next(buf)
		f.offset += int64(n)
		if n > 0 {
			err = f.write(buf[:n])
		}
		if err != nil {
			return err
		}
	}
	return io.EOF
}
