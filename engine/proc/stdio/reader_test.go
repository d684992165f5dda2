//go:build unix

package stdio

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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
		late   time.Duration // each look is late by this
		want   error
		least  time.Duration
	}{
		"stuck":             {done: time.Hour, want: ErrStuck, least: Patience},
		"stuck before":      {ending: time.Minute, done: time.Hour, want: ErrStuck, least: time.Minute + Patience},
		"not to end":        {ending: 2 * time.Hour, done: time.Hour, least: time.Hour},
		"slow":              {every: Patience - readerLook, done: time.Minute, least: time.Minute},
		"slow, then stuck":  {every: 20 * Patience, done: time.Hour, want: ErrStuck, least: Patience},
		"takes all at once": {},
		"a late program":    {every: 10 * Patience, done: time.Minute, late: Patience, least: time.Minute},
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
				err := await(done, write, new(atomic.Int64), func() bool {
					time.Sleep(test.late)
					return time.Since(begun) >= test.ending
				})
				took := time.Since(begun)
				close(over)
				if err != test.want || took < test.least-readerLook || took > test.least+3*readerLook+test.late {
					t.Errorf("%v after %v, want %v after %v", err, took, test.want, test.least)
				}
			})
		})
	}
}

// Lines for standard error wait for its reader, until that takes nothing and the program is
// to end: then they are dropped, and the program goes on.
func TestLinesWithoutReader(t *testing.T) {
	t.Parallel()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	reportRead, report, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reportRead.Close()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), sceneVariable+`={"Play":"lines"}`)
	cmd.Stderr, cmd.ExtraFiles = write, []*os.File{report}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	write.Close()
	report.Close()
	said, err := io.ReadAll(reportRead)
	want := fmt.Sprintf("4 <nil>, dropped false\n%d <nil>, dropped true\n4 <nil>, dropped true\n", 4*pipeHold)
	if err != nil || string(said) != want {
		t.Errorf("%q, %v; want %q", said, err, want)
	}
	shown, err := io.ReadAll(read)
	if err != nil || !strings.HasPrefix(string(shown), "one\nxxx") || strings.Contains(string(shown), "two") {
		t.Errorf("%d bytes, %.10q..., %v", len(shown), shown, err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	// A file has no reader to wait for.
	name := filepath.Join(t.TempDir(), "file")
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	cmd = exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), sceneVariable+`={"Play":"lines"}`)
	cmd.Stderr = file
	if err := cmd.Run(); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(name); err != nil || len(text) != 4*pipeHold+8 {
		t.Errorf("%d bytes, %v", len(text), err)
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
