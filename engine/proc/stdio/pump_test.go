//go:build unix

package stdio

// This file tests that what is read along is what was passed on, in its order,
// whether it is read at once or on a thread of its own.

import (
	"bytes"
	"crypto/sha256"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/retrysh/retry/testdata/tries"
)

// uneven is a reader along that falls behind at random.
type uneven struct {
	io.Writer
	random *rand.Rand
}

func (u uneven) Write(b []byte) (int, error) {
	for range u.random.IntN(50) {
		runtime.Gosched()
	}
	return u.Writer.Write(b)
}

// A command has written what this program was too late to read.
func TestLastByteWaitsInThePipe(t *testing.T) {
	read, write, err := newPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer closeFile(read)
	defer closeFile(write)
	s := &Streams{Pumps: []*Pump{{src: read}}}
	since := time.Now()
	if got := s.LastByte(since); !got.Equal(since) {
		t.Errorf("%v later, and nothing was written", got.Sub(since))
	}
	if _, err := write.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if got := s.LastByte(since); !got.After(since) {
		t.Error("a byte waits, and none was written")
	}
}

// Whenever one looks, a byte that was written is in the pipe, with the pump, or noted.
func TestLastByteIsSeenOnItsWay(t *testing.T) {
	read, write, err := newPipe()
	if err != nil {
		t.Fatal(err)
	}
	unblock(read)
	p := newPump(t, read, noFile, nil)
	p.timed = true
	s := &Streams{Pumps: []*Pump{p}, over: p.over}
	go p.run()
	for n := range tries.Of(5000) {
		for !p.IsIdle() {
			runtime.Gosched()
		}
		since := time.Now()
		if _, err := write.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		for range n % 100 {
			runtime.Gosched()
		}
		if got := s.LastByte(since); !got.After(since) {
			t.Fatalf("byte %d was written and is not seen", n)
		}
	}
	closeFile(write)
	<-p.Done
	if since := time.Now(); !s.LastByte(since).Equal(since) {
		t.Error("a pump that has ended has something to pass on")
	}
	s.Release()
}

func TestPumpKeepsTheOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	whole := make([]byte, 48<<20)
	for i := range whole {
		whole[i] = byte(i * 31 >> uint(i%13))
	}
	passed, err := os.Create(filepath.Join(t.TempDir(), "passed on"))
	if err != nil {
		t.Fatal(err)
	}
	defer passed.Close()
	read, write, err := newPipe()
	if err != nil {
		t.Fatal(err)
	}
	enlargePipe(read)
	along := sha256.New()
	troubles := make(chan error, 1)
	p := newPump(t, read, File(passed.Fd()), uneven{along, random})
	p.pieces, p.troubles = pieces{waits: true}, troubles
	go p.run()
	bursts := rand.New(rand.NewPCG(3, 4))
	for rest := whole; len(rest) > 0; {
		n := min(len(rest), 1+bursts.IntN(1<<bursts.IntN(21))) // from a byte to 1 MiB
		if _, err := write.Write(rest[:n]); err != nil {
			t.Fatal(err)
		}
		rest = rest[n:]
	}
	_ = unix.Close(int(write))
	select {
	case <-p.Done:
	case <-time.After(5 * time.Minute):
		t.Fatal("the pump has not ended")
	}
	if len(troubles) > 0 {
		t.Error(<-troubles)
	}
	if p.lagging.queue == nil {
		t.Error("nothing was handed over")
	}
	want := sha256.Sum256(whole)
	if got := along.Sum(nil); !bytes.Equal(got, want[:]) {
		t.Error("what was read along differs")
	}
	got, err := os.ReadFile(passed.Name())
	if err != nil || !bytes.Equal(got, whole) {
		t.Errorf("what was passed on differs (%d bytes, %v)", len(got), err)
	}
}

// newPump is a pump that is not running, and whose first trouble nobody waits for.
func newPump(t *testing.T, src, dst File, also io.Writer) *Pump {
	t.Helper()
	over, err := newWake()
	if err != nil {
		t.Fatal(err)
	}
	return &Pump{src: src, dst: dst, also: also, over: over, troubles: make(chan error, 1), Done: make(chan struct{})}
}

// slow takes its time for each write.
type slow struct{ bytes.Buffer }

func (s *slow) Write(b []byte) (int, error) {
	time.Sleep(50 * time.Millisecond)
	return s.Buffer.Write(b)
}

// A pump has ended when all has been read along, however slow that is.
func TestPumpEndsWithItsReader(t *testing.T) {
	read, write, err := newPipe()
	if err != nil {
		t.Fatal(err)
	}
	along := new(slow)
	p := newPump(t, read, noFile, along)
	go p.run()
	for range 4 {
		if _, err := write.Write(make([]byte, worthHandingOver)); err != nil {
			t.Fatal(err)
		}
	}
	closeFile(write)
	<-p.Done
	if along.Len() != 4*worthHandingOver {
		t.Errorf("%d bytes are read along at the end", along.Len())
	}
}

// Only what is worth it is handed over to another goroutine, and what follows comes behind it,
// whether that has been written by then or not.
func TestHandingOver(t *testing.T) {
	for _, c := range []struct {
		n       int
		handed  bool // to another goroutine
		written bool // when more comes
	}{{worthHandingOver - 1, false, true}, {worthHandingOver, true, false}, {worthHandingOver, true, true}} {
		n, handed := c.n, c.handed
		var l laggingWriter
		var got []byte
		write := func(b []byte) { got = append(got, b...) }
		buf := bytes.Repeat([]byte{'a'}, pumpBuffer)
		next := l.take(buf, n, write)
		if (l.queue != nil) != handed || (&next[0] == &buf[0]) == handed || len(next) != pumpBuffer {
			t.Errorf("%d bytes: handed over %t, a buffer of %d", n, l.queue != nil, len(next))
		}
		for handed && c.written && len(l.free) < buffers-1 { // which orders nothing for the race detector
			time.Sleep(time.Millisecond)
		}
		next[0] = 'b'
		if buf := l.take(next, 1, write); c.written && &buf[0] != &next[0] {
			t.Error("a byte is handed over although nothing is to be written before it")
		}
		l.finish()
		if len(got) != n+1 || got[0] != 'a' || got[n] != 'b' {
			t.Errorf("%d bytes: %d are written", n, len(got))
		}
	}
}

// A pump ends although an orphan writes for ever, with all that the command has written.
func TestPumpEndsDespiteAnOrphan(t *testing.T) {
	t.Parallel()
	for name, writes := range map[string]bool{"one that writes": true, "one that does not": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			read, write, err := newPipe()
			if err != nil {
				t.Fatal(err)
			}
			unblock(read)
			if _, err := write.Write([]byte("last words")); err != nil {
				t.Fatal(err)
			}
			var along bytes.Buffer
			p := newPump(t, read, noFile, &along)
			p.over.call()
			orphan := make(chan struct{})
			go func() {
				defer close(orphan)
				for writes && !p.HasEnded() {
					_, _ = unix.Write(int(write), []byte("more"))
				}
			}()
			go p.run()
			select {
			case <-p.Done:
			case <-time.After(5 * time.Minute):
				t.Fatal("the pump has not ended")
			}
			if least := p.over.at.Add(Drain); time.Now().Before(least) {
				t.Errorf("ended %v too early", time.Until(least))
			}
			s := &Streams{Pumps: []*Pump{p}, over: p.over}
			s.Release()
			closeFile(write)
			<-orphan
			text := along.String()
			if !strings.HasPrefix(text, "last words") || !writes && text != "last words" {
				t.Errorf("read is %.20q", text)
			}
		})
	}
}

// gate lets writes pass one by one.
type gate struct {
	bytes.Buffer
	came, pass chan struct{}
}

func (g *gate) Write(b []byte) (int, error) {
	g.came <- struct{}{}
	<-g.pass
	return g.Buffer.Write(b)
}

// What an orphan has written within Drain is read, also if the pump comes to it later.
func TestPumpIsLateForAnOrphan(t *testing.T) {
	t.Parallel()
	read, write, err := newPipe()
	if err != nil {
		t.Fatal(err)
	}
	unblock(read)
	along := &gate{came: make(chan struct{}), pass: make(chan struct{})}
	p := newPump(t, read, noFile, along)
	send := func(text string) {
		if _, err := write.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	send("the command's ")
	go p.run()
	<-along.came
	send("last words")
	p.over.call()
	along.pass <- struct{}{}
	<-along.came // which is all that the command has written
	send(", and an orphan's")
	time.Sleep(Drain)
	along.pass <- struct{}{}
	for !p.HasEnded() {
		select {
		case <-along.came:
			along.pass <- struct{}{}
		case <-p.Done:
		}
	}
	closeFile(write)
	if got := along.String(); got != "the command's last words, and an orphan's" {
		t.Errorf("read is %q", got)
	}
}

// What a pump waits for is closed when all have ended, and not before.
func TestRelease(t *testing.T) {
	isOpen := func(f File) bool {
		_, err := unix.FcntlInt(uintptr(f), unix.F_GETFD, 0)
		return err == nil
	}
	over, err := newWake()
	if err != nil {
		t.Fatal(err)
	}
	p := &Pump{Done: make(chan struct{}), src: noFile, dst: noFile, over: over}
	ended := &Pump{Done: make(chan struct{}), src: noFile, dst: noFile, over: over}
	close(ended.Done)
	s := &Streams{Pumps: []*Pump{p, ended}, over: over}
	over.call()
	if s.Release(); !isOpen(over.read) {
		t.Error("a pump may still wait for it")
	}
	close(p.Done)
	if s.Release(); isOpen(over.read) {
		t.Error("nothing waits for it")
	}
}
