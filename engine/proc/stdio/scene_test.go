//go:build unix

package stdio

// This file tests where the streams of a command lead: the test program runs again as a
// program that connects a command, and writes as the command would.

import (
	"bytes"
	"context"
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
		s.play()
		os.Exit(0)
	}
	os.Exit(session.Run(m))
}

// scene is a program with a command.
type scene struct {
	In                               InputMode
	Out, Err                         OutputMode
	OutTo                            int
	Read, Alike, Question, Idle      bool
	Held                             bool     // a copy of a hedged attempt
	Writes                           []string // of the command, with the descriptor in front: "1:text"
	NoPlace                          bool     // for files without a name
	Rejected, Kept, GivesUp, Starts2 bool     // what becomes of its output, and whether a second command reads the input
}

// play reports what it sees on descriptor 3.
func (c *scene) play() {
	report := os.NewFile(3, "report")
	say := func(format string, args ...any) { fmt.Fprintf(report, format+"\n", args...) }
	var along [2]bytes.Buffer
	line := new(Line)
	spec := &attempt.Spec{Alike: c.Alike}
	if c.Read {
		spec.Stdout, spec.Stderr = &along[0], &along[1]
	}
	if c.Idle {
		spec.IdleTimeout = time.Hour
	}
	if c.Held {
		spec.Streams = attempt.Held
	}
	if c.NoPlace {
		_ = os.Setenv("TMPDIR", "/no/such")
	}
	p := Plan{Spec: spec, In: c.In, Out: c.Out, Err: c.Err, OutTo: c.OutTo, Question: c.Question, Line: line}
	in := OpenInput(c.In)
	if r, w, err := os.Pipe(); err == nil { // which opens what Go's runtime waits for files with
		r.Close()
		w.Close()
	}
	before := 0
	for n := range 2 {
		if n == 1 && !c.Starts2 {
			break
		}
		if n == 0 {
			before = descriptors()
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
		if c.In != Inherit {
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
		say("copied %t, pumps %d, wrote since %t", copied, len(s.Pumps), s.LastByte(begun).After(begun))
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
	if in == nil || in.spool == nil || in.spool.file == noFile {
		if left := descriptors() - before; left != 0 {
			say("%d descriptors are left", left)
		}
	}
	say("along %q %q, line open %t", along[0].String(), along[1].String(), line.End())
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
		input          string // a pipe, or a file if it begins with "file:"
		out, err, says string
	}{
		"passed on": {scene: scene{}, out: "a\nc", err: "b\n", says: "copied false, pumps 0, wrote since false\nalong \"\" \"\", line open false"},
		"read along": {scene: scene{Read: true}, out: "a\nc", err: "b\n",
			says: "copied true, pumps 2, wrote since false\nalong \"a\\nc\" \"b\\n\", line open false"},
		"a limit without output": {scene: scene{Idle: true}, out: "a\nc", err: "b\n",
			says: "copied true, pumps 2, wrote since true\nalong \"\" \"\", line open false"},
		"held": {scene: scene{Out: Hold, Err: Hold}, out: "a\nc", err: "b\n",
			says: "copied true, pumps 2, wrote since false\nheld 3 bytes of 1\nheld 2 bytes of 2\nalong \"\" \"\", line open false"},
		"held, and rejected": {scene: scene{Out: Hold, Err: Hold, Rejected: true}, err: "a\ncb\n",
			says: "copied true, pumps 2, wrote since false\nheld 3 bytes of 1\nheld 2 bytes of 2\nalong \"\" \"\", line open false"},
		"standard output is held": {scene: scene{Out: Hold, Read: true}, out: "a\nc", err: "b\n",
			says: "copied true, pumps 2, wrote since false\nheld 3 bytes of 1\nalong \"a\\nc\" \"b\\n\", line open false"},
		"kept and dropped": {scene: scene{Out: OnFailure, Err: OnFailure},
			says: "copied true, pumps 2, wrote since false\nheld 3 bytes of 1\nheld 2 bytes of 2\nkept 2\nalong \"\" \"\", line open false"},
		"kept and written": {scene: scene{Out: OnFailure, Err: OnFailure, GivesUp: true, Rejected: true}, out: "a\nc", err: "b\n",
			says: "copied true, pumps 2, wrote since false\nheld 3 bytes of 1\nheld 2 bytes of 2\nkept 2\nalong \"\" \"\", line open false"},
		"one held, one kept": {scene: scene{Out: Hold, Err: OnFailure}, out: "a\nc",
			says: "copied true, pumps 2, wrote since false\nheld 3 bytes of 1\nheld 2 bytes of 2\nkept 1\nalong \"\" \"\", line open false"},
		"a hook": {scene: scene{OutTo: 2, Read: true, Writes: []string{"1:a\n", "1:c"}}, err: "a\nc",
			says: "copied true, pumps 2, wrote since false\nalong \"a\\nc\" \"\", line open true"},
		"a question": {scene: scene{Question: true, Read: true},
			says: "copied true, pumps 1, wrote since false\nalong \"a\\nb\\nc\" \"\", line open false"},
		"one pipe": {scene: scene{}, together: true, out: "a\nb\nc",
			says: "copied false, pumps 0, wrote since false\nalong \"\" \"\", line open false"},
		"one pipe, read along": {scene: scene{Read: true, Alike: true}, together: true, out: "a\nb\nc",
			says: "copied true, pumps 1, wrote since false\nalong \"a\\nb\\nc\" \"a\\nb\\nc\", line open true"},
		"one pipe, held": {scene: scene{Out: Hold, Err: Hold}, together: true, out: "a\ncb\n",
			says: "copied true, pumps 2, wrote since false\nheld 3 bytes of 1\nheld 2 bytes of 2\nalong \"\" \"\", line open false"},
		"one pipe, kept": {scene: scene{Out: OnFailure, Err: OnFailure, Alike: true, GivesUp: true}, together: true, out: "a\nb\nc",
			says: "copied true, pumps 1, wrote since false\nheld 5 bytes of 1\nkept 1\nalong \"\" \"\", line open true"},
		"no place to hold": {scene: scene{Out: Hold, Err: Hold, In: Null, NoPlace: true},
			says: "error: holding standard output: no temporary file in \"/no/such\": no such file or directory; set TMPDIR to another directory\nalong \"\" \"\", line open false"},
		"no input":            {scene: scene{In: Null, Writes: []string{}}, says: "input 0 bytes \"\" <nil>\ncopied false, pumps 0, wrote since false\nalong \"\" \"\", line open false"},
		"the same input":      {scene: scene{In: Replay, Starts2: true, Writes: []string{}}, input: "hello\n", says: "input 6 bytes \"hello\\n\" <nil>\ncopied true, pumps 0, wrote since false\ninput 6 bytes \"hello\\n\" <nil>\ncopied true, pumps 0, wrote since false\nalong \"\" \"\", line open false"},
		"the same large one":  {scene: scene{In: Replay, Starts2: true, Writes: []string{}}, input: strings.Repeat("0123456789abcdef", 200_000), says: "input 3200000 bytes \"0123456789abcdef0123\" <nil>\ncopied true, pumps 0, wrote since false\ninput 3200000 bytes \"0123456789abcdef0123\" <nil>\ncopied true, pumps 0, wrote since false\nalong \"\" \"\", line open false"},
		"the same file":       {scene: scene{In: Replay, Starts2: true, Writes: []string{}}, input: "file:skipped:hello\n", says: "input 6 bytes \"hello\\n\" <nil>\ncopied false, pumps 0, wrote since false\ninput 6 bytes \"hello\\n\" <nil>\ncopied false, pumps 0, wrote since false\nalong \"\" \"\", line open false"},
		"the file for a copy": {scene: scene{In: Replay, Held: true, Starts2: true, Writes: []string{}}, input: "file:skipped:hello\n", says: "input 6 bytes \"hello\\n\" <nil>\ncopied true, pumps 0, wrote since false\ninput 6 bytes \"hello\\n\" <nil>\ncopied true, pumps 0, wrote since false\nalong \"\" \"\", line open false"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.Writes == nil {
				c.Writes = writes
			}
			if c.OutTo == 0 {
				c.OutTo = 1
			}
			out, errs, says := played(t, c.scene, c.together, c.input)
			if out != c.out || errs != c.err || says != c.says+"\n" {
				t.Errorf("standard output %q, error %q, and\n%swant %q, %q, and\n%s", out, errs, says, c.out, c.err, c.says)
			}
		})
	}
}

// played runs a scene and returns what comes out of it.
func played(t *testing.T, s scene, together bool, input string) (out, errs, says string) {
	t.Helper()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), sceneVariable+"="+string(text))
	var o, e bytes.Buffer
	cmd.Stdout, cmd.Stderr = &o, &e
	if together {
		cmd.Stderr = &o
	}
	if content, isFile := strings.CutPrefix(input, "file:skipped:"); isFile {
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
		if isTold != (c.wants != "") || !strings.Contains(string(said), c.wants) || strings.Count(string(said), ":") > 1 {
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
