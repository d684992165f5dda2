//go:build unix

package stdio

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"
)

// fullPipe is a pipe that takes no byte more.
func fullPipe(t *testing.T) (read, write File) {
	t.Helper()
	read, write, err := newPipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeFile(read); closeFile(write) })
	unblock(write)
	for err == nil {
		_, err = unix.Write(int(write), make([]byte, page))
	}
	return read, write
}

// A reader that takes nothing is given up after Patience, which begins when the program is
// to end; one that takes a byte now and then never is.
func TestReaderIsGivenUp(t *testing.T) {
	for name, test := range map[string]struct {
		ending time.Duration // when the program is to end
		every  time.Duration // the reader takes a byte, 0 for never
		done   time.Duration // the write returns
		want   error
		least  time.Duration
	}{
		"stuck":             {0, 0, time.Hour, ErrStuck, Patience},
		"stuck before":      {time.Minute, 0, time.Hour, ErrStuck, time.Minute + Patience},
		"not to end":        {2 * time.Hour, 0, time.Hour, nil, time.Hour},
		"slow":              {0, Patience - readerLook, time.Minute, nil, time.Minute},
		"slow, then stuck":  {0, 20 * Patience, time.Hour, ErrStuck, Patience},
		"takes all at once": {0, 0, 0, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			read, write := fullPipe(t)
			synctest.Test(t, func(t *testing.T) {
				begun, over := time.Now(), make(chan struct{})
				done := make(chan error, 1)
				time.AfterFunc(test.done, func() { done <- nil })
				go func() {
					for test.every > 0 {
						select {
						case <-over:
							return
						case <-time.After(test.every):
							_, _ = unix.Read(int(read), make([]byte, 1))
						}
					}
				}()
				err := await(done, write, new(atomic.Int64), func() bool { return time.Since(begun) >= test.ending })
				took := time.Since(begun)
				close(over)
				if err != test.want || took < test.least-readerLook || took > test.least+3*readerLook {
					t.Errorf("%v after %v, want %v after %v", err, took, test.want, test.least)
				}
			})
		})
	}
}

// A write to a pipe is no more than there is room for, or a page.
func TestPieces(t *testing.T) {
	_, write := fullPipe(t)
	if n := piecesFor(write).next(); n != page {
		t.Errorf("a full pipe takes %d at once", n)
	}
	_, empty, err := newPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer closeFile(empty)
	if n := piecesFor(empty).next(); n != pipeHold {
		t.Errorf("an empty pipe takes %d at once", n)
	}
	null, err := open("/dev/null", unix.O_WRONLY)
	if err != nil {
		t.Fatal(err)
	}
	defer closeFile(null)
	if n := piecesFor(null).next(); n < 1<<20 {
		t.Errorf("a file takes %d at once", n)
	}
}
