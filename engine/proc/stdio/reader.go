package stdio

// This file gives up readers that take nothing, when the program is to end.

import (
	"errors"
	"os"
	"slices"
	"sync/atomic"
	"time"
)

// Patience is how long a reader may take nothing while the program is to end. It is counted in
// looks: if a busy machine does not run the program, it may not have run the reader either.
const Patience = 500 * time.Millisecond

// readerLook is the interval between two looks at what a reader has taken.
const readerLook = 20 * time.Millisecond

const (
	page     = 4 << 10  // a write that finds a pipe full waits for the first page to be read
	pipeHold = 64 << 10 // what a pipe holds unless its size was changed (pipe(7))
)

// pieces says how much to write at once to a file whose reader may be slow: it has to take
// the rest of a write that blocks within Patience to be distinguished from a stuck one.
type pieces struct {
	dst         File
	waits, pipe bool
}

func piecesFor(dst File) pieces {
	waits, pipe := readerOf(dst)
	return pieces{dst, waits, pipe}
}

func (p pieces) next() int {
	switch {
	case !p.waits:
		return 1 << 30 // the kernel's limit is just under 2 GiB (sendfile(2))
	case p.pipe:
		return max(page, pipeHold-pending(p.dst))
	}
	return page
}

// ErrStuck says that the reader of an output was given up.
var ErrStuck = errors.New("its reader takes nothing; the rest is dropped")

// await returns what comes out of done, the end of a write to f that may block, or ErrStuck
// if the reader has taken nothing for Patience while isEnding reported true. written is how
// many bytes have been written so far.
func await(done <-chan error, f File, written *atomic.Int64, isEnding func() bool) error {
	last := int64(-1)
	var waited time.Duration
	for {
		select {
		case err := <-done:
			return err
		case <-time.After(readerLook):
		}
		taken := written.Load() - int64(pending(f))
		waited += readerLook
		switch {
		case taken != last || !isEnding():
			last, waited = taken, 0
		case waited >= Patience:
			return ErrStuck
		}
	}
}

// Lines writes the program's own lines to standard error. Once the program is to end, it
// drops those that a stuck reader leaves.
type Lines struct {
	isEnding func() bool
	waits    bool
	dropped  atomic.Bool
}

// NewLines is for the standard error of a program that is to end when isEnding says so.
func NewLines(isEnding func() bool) *Lines {
	waits, _ := readerOf(standard(2))
	return &Lines{isEnding: isEnding, waits: waits}
}

// HasDropped reports whether something was dropped.
func (l *Lines) HasDropped() bool { return l.dropped.Load() }

// Write writes b.
func (l *Lines) Write(b []byte) (int, error) {
	switch {
	case !l.waits:
		return os.Stderr.Write(b)
	case l.HasDropped():
		return len(b), nil
	}
	own := slices.Clone(b) // b is the caller's again when the reader has been given up
	done := make(chan error, 1)
	go func() {
		_, err := os.Stderr.Write(own)
		done <- err
	}()
	err := await(done, standard(2), new(atomic.Int64), l.isEnding)
	if err == ErrStuck {
		l.dropped.Store(true)
		err = nil
	}
	return len(b), err
}
