//go:build unix

package stdio

// This file tests where the streams of a command lead: the test program runs again as a
// program that connects a command, and writes as the command would.

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/testdata/session"
)

const sceneVariable = "TEST_OF_STREAMS_SCENE"

func TestMain(m *testing.M) {
	if text := os.Getenv(sceneVariable); text != "" {
		var s scene
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			panic(err)
		}
		plays[s.Play](&s)
		os.Exit(0)
	}
	os.Exit(session.Run(m))
}

// plays are what scenes show, by name.
var plays = map[string]func(*scene){"": (*scene).play, "lines": (*scene).playLines,
	"few files": (*scene).playFewFiles, "copies": (*scene).playCopies}

// scene is a program with a command.
type scene struct {
	Play                        string
	In                          InputMode
	Out, Err                    OutputMode
	OutTo                       int
	Read, Alike, Question, Idle bool
	Held                        bool     // a copy of a hedged attempt
	ReadsLate                   bool     // the command reads no input until something is wrong
	Writes                      []string // of the command, with the descriptor in front: "1:text"
	NoPlace                     bool     // for files without a name
	First                       int64    // so many bytes of the input are read, 0 for all
	Whole                       bool     // the input is read to its end when no command runs
	// what becomes of its output, and whether a second command reads the input
	Rejected, Kept, GivesUp, Starts2 bool
}

// say reports what a scene sees on descriptor 3.
func say(format string, args ...any) {
	_, _ = unix.Write(3, fmt.Appendf(nil, format+"\n", args...))
}

// play connects a command, or two one after the other.
func (c *scene) play() {
	var along [2]bytes.Buffer
	line := new(Line)
	spec := &attempt.Spec{Alike: c.Alike}
	if c.Read {
		spec.Stdout, spec.Stderr = &along[0], &along[1]
	}
	if c.Idle {
		spec.IdleTimeout = 1 // the shortest
	}
	if c.Held {
		spec.Streams = attempt.Held
	}
	if c.NoPlace {
		_ = os.Setenv("TMPDIR", "/no/such")
	}
	p := Plan{Spec: spec, In: c.In, Out: c.Out, Err: c.Err, OutTo: c.OutTo, Question: c.Question, Line: line}
	in := OpenInput(c.In)
	before := 0
	for n := range 2 {
		if n == 1 && !c.Starts2 {
			break
		}
		if n == 0 {
			before = descriptorsBefore()
		}
		begun := time.Now()
		s, err := Open(in, p)
		if err != nil {
			say("error: %v", err)
			break
		}
		var command [3]int
		for fd, f := range s.Files {
			if command[fd], err = unix.Dup(int(f)); err != nil {
				panic(err)
			}
		}
		s.Start()
		if c.ReadsLate {
			say("%v", <-s.Troubles)
			say("its input has ended %t", poll(0, pollFd(File(command[0]), unix.POLLIN))[0].Revents != 0)
			_ = unix.Close(command[0])
		} else if c.In != Inherit {
			file := os.NewFile(uintptr(command[0]), "input")
			text, err := io.ReadAll(file)
			file.Close()
			say("input %d bytes %.20q %v", len(text), text, err)
		}
		for _, write := range c.Writes {
			fd, text, _ := strings.Cut(write, ":")
			_, _ = unix.Write(command[fd[0]-'0'], []byte(text))
		}
		_ = unix.Close(command[1])
		_ = unix.Close(command[2])
		copied := s.Finish()
		for _, pump := range s.Pumps {
			<-pump.Done
		}
		last := s.LastByte(begun)
		say("copied %t, pumps %d, wrote since %t", copied, len(s.Pumps), last.After(begun) && !last.After(time.Now()))
		for _, h := range s.held {
			say("held %d bytes of %d", sizeOf(h.file), h.fd)
		}
		kept := s.Kept()
		if err := s.Settle(!c.Rejected, func() bool { return false }); err != nil {
			say("settling: %v", err)
		}
		if kept != nil {
			say("kept %d", len(kept.outputs))
			if c.GivesUp {
				err = kept.Release(func() bool { return false })
			} else {
				kept.Drop()
			}
			if err != nil {
				say("releasing: %v", err)
			}
		}
		for len(s.Troubles) > 0 {
			err := <-s.Troubles
			say("trouble: %v, no reader %t", err, errors.Is(err, attempt.ErrReaderGone))
		}
		if copied {
			s.Release()
		}
		if c.In == Inherit {
			_ = unix.Close(command[0])
		}
	}
	if NoReader() {
		say("standard output has no reader")
	}
	if c.Whole {
		r, err := in.All(context.Background())
		if err != nil {
			panic(err)
		}
		text, err := io.ReadAll(r)
		say("all %d bytes %.20q %v", len(text), text, err)
	}
	if in == nil || in.spool == nil || in.spool.file == noFile {
		if left := descriptors() - before; left != 0 {
			say("%d descriptors are left", left)
		}
	}
	say("along %q %q, line open %t", along[0].String(), along[1].String(), line.End())
}

// playCopies connects two commands to one input at the same time.
func (c *scene) playCopies() {
	in := OpenInput(Replay)
	sums, streams := make(chan string, 2), [2]*Streams{}
	for n := range streams {
		s, err := Open(in, Plan{Spec: &attempt.Spec{Streams: attempt.Held}, In: Replay})
		if err != nil {
			panic(err)
		}
		streams[n] = s
		input, err := unix.Dup(int(s.Files[0]))
		if err != nil {
			panic(err)
		}
		s.Start()
		go func() {
			hash := sha256.New()
			file := os.NewFile(uintptr(input), "input")
			var from io.Reader = file
			if c.First > 0 {
				from = io.LimitReader(file, c.First)
			}
			n, err := io.Copy(hash, from)
			sums <- fmt.Sprintf("%d bytes %x %v", n, hash.Sum(nil)[:4], err)
			file.Close()
		}()
	}
	say("%s\n%s", <-sums, <-sums)
	for _, s := range streams {
		s.Finish()
		s.Release()
		if len(s.Troubles) > 0 {
			say("%v", <-s.Troubles)
		}
	}
}

// playFewFiles opens the streams of a command with few files left, and then with enough:
// those that are opened before it fails are closed.
func (c *scene) playFewFiles() {
	in := OpenInput(c.In)
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		panic(err)
	}
	before, most := descriptorsBefore(), limit.Cur
	failed := 0
	for limit.Cur = 3; ; limit.Cur++ {
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
			panic(err)
		}
		s, err := Open(in, Plan{Spec: &attempt.Spec{Streams: attempt.Held}, In: c.In, Out: c.Out, Err: c.Err, OutTo: 1})
		if err == nil {
			s.Close()
		} else {
			failed++
		}
		if left := descriptors() - before; left != 0 {
			say("%d are left after %v with a limit of %d", left, err, limit.Cur)
		}
		if err == nil {
			break
		}
	}
	limit.Cur = most
	_ = unix.Setrlimit(unix.RLIMIT_NOFILE, &limit)
	say("failed %t", failed > 0)
}

// playLines writes to a standard error whose reader takes nothing, or what it can.
func (c *scene) playLines() {
	ending := false
	l := NewLines(func() bool { return ending })
	write := func(text string) {
		n, err := l.Write([]byte(text))
		say("%d %v, dropped %t", n, err, l.HasDropped())
	}
	write("one\n")
	ending = true
	write(strings.Repeat("x", 4*pipeHold))
	write("two\n")
}

// descriptorsBefore counts those that are open before a scene.
func descriptorsBefore() int {
	if r, w, err := os.Pipe(); err == nil { // which opens what Go's runtime waits for files with
		r.Close()
		w.Close()
	}
	return descriptors()
}

// descriptors counts those that are open.
func descriptors() (n int) {
	for fd := range 100 {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil {
			n++
		}
	}
	return n
}

func TestStreams(t *testing.T) {
	writes := []string{"1:a\n", "2:b\n", "1:c"}
	for name, c := range map[string]struct {
		scene
		together       bool   // both outputs are one pipe
		input          string // a pipe, one that stays open ("open:"), a file ("file:") or a directory
		to             string // a file for standard output
		out, err, says string
	}{
		"passed on": {scene: scene{}, out: "a\nc", err: "b\n",
			says: "copied false, pumps 0, wrote since false\nalong \"\" \"\", line open false"},
		"read along": {scene: scene{Read: true}, out: "a\nc", err: "b\n",
			says: "copied true, pumps 2, wrote since false\nalong \"a\\nc\" \"b\\n\", line open false"},
		"a limit without output": {scene: scene{Idle: true}, out: "a\nc", err: "b\n",
			says: "copied true, pumps 2, wrote since true\nalong \"\" \"\", line open false"},
		"held": {scene: scene{Out: Hold, Err: Hold}, out: "a\nc", err: "b\n",
			says: "copied true, pumps 2, wrote since false\nheld 3 bytes of 1\nheld 2 bytes of 2\nalong \"\" " +
				"\"\", line open false"},
		"held, and rejected": {scene: scene{Out: Hold, Err: Hold, Rejected: true}, err: "a\ncb\n",
			says: "copied true, pumps 2, wrote since false\nheld 3 bytes of 1\nheld 2 bytes of 2\nalong \"\" " +
				"\"\", line open false"},
		"standard output is held": {scene: scene{Out: Hold, Read: true}, out: "a\nc", err: "b\n",
			says: "copied true, pumps 2, wrote since false\nheld 3 bytes of 1\nalong \"a\\nc\" \"b\\n\", line " +
				"open false"},
		"kept and dropped": {scene: scene{Out: OnFailure, Err: OnFailure},
			says: "copied true, pumps 2, wrote since false\nheld 3 bytes of 1\nheld 2 bytes of 2\nkept 2\nalong " +
				"\"\" \"\", line open false"},
		"kept and written": {scene: scene{Out: OnFailure, Err: OnFailure, GivesUp: true, Rejected: true}, out: "a\nc",
			err: "b\n",
			says: "copied true, pumps 2, wrote since false\nheld 3 bytes of 1\nheld 2 bytes of 2\nkept 2\nalong " +
				"\"\" \"\", line open false"},
		"one held, one kept": {scene: scene{Out: Hold, Err: OnFailure}, out: "a\nc",
			says: "copied true, pumps 2, wrote since false\nheld 3 bytes of 1\nheld 2 bytes of 2\nkept 1\nalong " +
				"\"\" \"\", line open false"},
		"a hook": {scene: scene{OutTo: 2, Read: true, Writes: []string{"1:a\n", "1:c"}}, err: "a\nc",
			says: "copied true, pumps 2, wrote since false\nalong \"a\\nc\" \"\", line open true"},
		"a hook that is not read": {scene: scene{OutTo: 2}, err: "a\nb\nc",
			says: "copied false, pumps 0, wrote since false\nalong \"\" \"\", line open false"},
		"a question": {scene: scene{Question: true, Read: true},
			says: "copied true, pumps 1, wrote since false\nalong \"a\\nb\\nc\" \"\", line open false"},
		"one pipe": {scene: scene{}, together: true, out: "a\nb\nc",
			says: "copied false, pumps 0, wrote since false\nalong \"\" \"\", line open false"},
		"one pipe, read along": {scene: scene{Read: true, Alike: true}, together: true, out: "a\nb\nc",
			says: "copied true, pumps 1, wrote since false\nalong \"a\\nb\\nc\" \"a\\nb\\nc\", line open true"},
		"one pipe, held": {scene: scene{Out: Hold, Err: Hold}, together: true, out: "a\ncb\n",
			says: "copied true, pumps 2, wrote since false\nheld 3 bytes of 1\nheld 2 bytes of 2\nalong \"\" " +
				"\"\", line open false"},
		"one pipe, kept": {scene: scene{Out: OnFailure, Err: OnFailure, Alike: true, GivesUp: true}, together: true,
			out:  "a\nb\nc",
			says: "copied true, pumps 1, wrote since false\nheld 5 bytes of 1\nkept 1\nalong \"\" \"\", line open true"},
		"no place to hold": {scene: scene{Out: Hold, Err: Hold, In: Null, NoPlace: true},
			says: "error: holding standard output: no temporary file in \"/no/such\": no such file or " +
				"directory; set TMPDIR to another directory\nalong \"\" \"\", line open false"},
		"one byte": {scene: scene{Read: true, Writes: []string{"1:x", "2:y"}}, out: "x", err: "y",
			says: "copied true, pumps 2, wrote since false\nalong \"x\" \"y\", line open true"},
		"a full disk": {scene: scene{Read: true, Writes: []string{"1:x"}}, to: "/dev/full",
			says: "copied true, pumps 2, wrote since false\ntrouble: writing standard output: no space left on " +
				"device, no reader false\nalong \"\" \"\", line open false"},
		"a full disk for what is held": {scene: scene{Out: Hold, Writes: []string{"1:x"}}, to: "/dev/full",
			says: "copied true, pumps 1, wrote since false\nheld 1 bytes of 1\nsettling: writing standard " +
				"output: no space left on device\nalong \"\" \"\", line open false"},
		"a directory for an input": {scene: scene{In: Replay, ReadsLate: true, Writes: []string{}}, input: "dir:",
			says: "reading standard input: is a directory\nits input has ended false\ncopied true, pumps 0, " +
				"wrote since false\nalong \"\" \"\", line open false"},
		"the whole input": {scene: scene{In: Replay, Whole: true, Writes: []string{}}, input: "hello\n",
			says: "input 6 bytes \"hello\\n\" <nil>\ncopied true, pumps 0, wrote since false\nall 6 bytes " +
				"\"hello\\n\" <nil>\nalong \"\" \"\", line open false"},
		"the whole file": {scene: scene{In: Replay, Whole: true, Writes: []string{}}, input: "file:skipped:hello\n",
			says: "input 6 bytes \"hello\\n\" <nil>\ncopied false, pumps 0, wrote since false\nall 6 bytes " +
				"\"hello\\n\" <nil>\nalong \"\" \"\", line open false"},
		"a small input, and no place": {scene: scene{In: Replay, NoPlace: true, Starts2: true, Writes: []string{}},
			input: "hello\n",
			says: twice("input 6 bytes \"hello\\n\" <nil>\ncopied true, pumps 0, wrote since false") +
				"\nalong \"\" \"\", line open false"},
		"two commands, and more to come": {scene: scene{Play: "copies", First: 6}, input: "open:hello\n",
			says: twice("6 bytes 5891b5b5 <nil>")},
		"two commands": {scene: scene{Play: "copies"}, input: strings.Repeat("0123456789abcdef", 200_000),
			says: twice("3200000 bytes 69cc92e4 <nil>")},
		"few files": {scene: scene{Play: "few files", In: Replay, Out: Hold, Err: OnFailure}, input: "x",
			says: "failed true"},
		"few files, and one": {scene: scene{Play: "few files", In: Replay, Out: OnFailure, Err: OnFailure},
			input: "file:skipped:x", together: true, says: "failed true"},
		"no input": {scene: scene{In: Null, Writes: []string{}},
			says: "input 0 bytes \"\" <nil>\ncopied false, pumps 0, wrote since false\nalong \"\" \"\", line open false"},
		"the same input": {scene: scene{In: Replay, Starts2: true, Writes: []string{}}, input: "hello\n",
			says: "input 6 bytes \"hello\\n\" <nil>\ncopied true, pumps 0, wrote since false\ninput 6 bytes " +
				"\"hello\\n\" <nil>\ncopied true, pumps 0, wrote since false\nalong \"\" \"\", line open false"},
		"the same large one": {scene: scene{In: Replay, Starts2: true, Writes: []string{}},
			input: strings.Repeat("0123456789abcdef", 200_000),
			says: "input 3200000 bytes \"0123456789abcdef0123\" <nil>\ncopied true, pumps 0, wrote since " +
				"false\ninput 3200000 bytes \"0123456789abcdef0123\" <nil>\ncopied true, pumps 0, wrote since " +
				"false\nalong \"\" \"\", line open false"},
		"the same file": {scene: scene{In: Replay, Starts2: true, Writes: []string{}},
			input: "file:skipped:hello\n",
			says: "input 6 bytes \"hello\\n\" <nil>\ncopied false, pumps 0, wrote since false\ninput 6 bytes " +
				"\"hello\\n\" <nil>\ncopied false, pumps 0, wrote since false\nalong \"\" \"\", line open false"},
		"the file for a copy": {scene: scene{In: Replay, Held: true, Starts2: true, Writes: []string{}},
			input: "file:skipped:hello\n",
			says: "input 6 bytes \"hello\\n\" <nil>\ncopied true, pumps 0, wrote since false\ninput 6 bytes " +
				"\"hello\\n\" <nil>\ncopied true, pumps 0, wrote since false\nalong \"\" \"\", line open false"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.Writes == nil {
				c.Writes = writes
			}
			if c.OutTo == 0 {
				c.OutTo = 1
			}
			out, errs, says := played(t, c.scene, c.together, c.input, c.to)
			if out != c.out || errs != c.err || says != c.says+"\n" {
				t.Errorf("standard output %q, error %q, and\n%swant %q, %q, and\n%s", out, errs, says, c.out, c.err,
					c.says)
			}
		})
	}
}

func twice(line string) string { return line + "\n" + line }

// played runs a scene and returns what comes out of it.
func played(t *testing.T, s scene, together bool, input, to string) (out, errs, says string) {
	t.Helper()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), sceneVariable+"="+string(text))
	var o, e bytes.Buffer
	cmd.Stdout, cmd.Stderr = &o, &e
	if together {
		cmd.Stderr = &o
	}
	if to != "" {
		f, err := os.OpenFile(to, os.O_WRONLY, 0)
		if err != nil {
			t.Skip(err)
		}
		defer f.Close()
		cmd.Stdout = f
	}
	if input == "dir:" {
		f, err := os.Open(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		cmd.Stdin = f
	} else if text, isOpen := strings.CutPrefix(input, "open:"); isOpen {
		read, write, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer read.Close()
		defer write.Close()
		if _, err := write.WriteString(text); err != nil {
			t.Fatal(err)
		}
		cmd.Stdin = read
	} else if content, isFile := strings.CutPrefix(input, "file:skipped:"); isFile {
		name := filepath.Join(t.TempDir(), "input")
		if err := os.WriteFile(name, []byte("skipped:"+content), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.Seek(int64(len("skipped:")), io.SeekStart); err != nil {
			t.Fatal(err)
		}
		cmd.Stdin = f
	} else if input != "" {
		cmd.Stdin = strings.NewReader(input)
	}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	cmd.ExtraFiles = []*os.File{write}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	write.Close()
	said, err := io.ReadAll(read)
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v: %s", err, e.String())
	}
	return o.String(), e.String(), string(said)
}

// A standard output without a reader is told as such; standard error without one is not.
func TestStreamsWithoutReader(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	read.Close()
	defer write.Close()
	for _, c := range []struct {
		fd    int
		mode  OutputMode
		wants string
	}{
		{1, Stream, "trouble: "}, {2, Stream, ""}, {1, Hold, "settling: "}, {2, Hold, ""},
	} {
		s := scene{Out: c.mode, Err: c.mode, OutTo: 1, Read: true, Writes: []string{fmt.Sprintf("%d:x\n", c.fd)}}
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("sh", "-c", fmt.Sprintf(`exec "$0" %d>&4 4>&-`, c.fd), os.Args[0])
		cmd.Env = append(os.Environ(), sceneVariable+"="+string(text))
		reportRead, report, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd.ExtraFiles = []*os.File{report, write}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		report.Close()
		said, err := io.ReadAll(reportRead)
		if err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		reportRead.Close()
		isTold := strings.Contains(string(said), attempt.ErrReaderGone.Error())
		if strings.Contains(string(said), "standard output has no reader") != (c.fd == 1) {
			t.Errorf("descriptor %d has no reader: %s", c.fd, said)
		}
		if isTold != (c.wants != "") || !strings.Contains(string(said), c.wants) ||
			strings.Count(string(said), ":") > 1 {
			t.Errorf("descriptor %d, mode %d: %s", c.fd, c.mode, said)
		}
	}
}

// A line is open if the last byte is not its end, and until somebody ends it.
func TestLine(t *testing.T) {
	l := new(Line)
	for _, c := range []struct {
		text string
		open bool
	}{{"", false}, {"a", true}, {"a\n", false}, {"\n", false}, {"a\nb", true}} {
		l.wrote([]byte(c.text))
		if open := l.End(); open != c.open || l.End() {
			t.Errorf("%q: open %t", c.text, open)
		}
	}
	l.wrote([]byte("a"))
	l.wrote(nil)
	if !l.End() {
		t.Error("nothing has ended the line")
	}
	file, err := openSpool()
	if err != nil {
		t.Fatal(err)
	}
	defer closeFile(file)
	for _, c := range []struct {
		text string
		open bool
	}{{"", false}, {"a\nb", true}, {"c\n", false}, {"d", true}} {
		if _, err := file.Write([]byte(c.text)); err != nil {
			t.Fatal(err)
		}
		l.wroteFile(file)
		if open := l.End(); open != c.open {
			t.Errorf("a file that ends with %q: open %t", c.text, open)
		}
	}
	none := (*Line)(nil)
	none.wrote([]byte("a"))
	none.wroteFile(file)
	if none.End() {
		t.Error("there is no line")
	}
}
