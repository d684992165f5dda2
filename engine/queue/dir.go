package queue

// This file reads a directory of letters. Letters are named by their ids. Names
// that begin with a dot and an id are the lock of a letter, and files that the
// holder of that lock builds or removes.

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/retrysh/retry/engine/lockedfile"
)

// The files of a letter.
const (
	letterFile = "letter.json"
	stdinFile  = "stdin"
	stdoutTail = "stdout.tail"
	stderrTail = "stderr.tail"
)

// tails are the last parts of the outputs, in the order that they are given in.
var tails = [2]string{stdoutTail, stderrTail}

// What a name that begins with a dot and an id ends in.
const (
	lockEnd = ".lock"
	newEnd  = ".new"  // a letter that is being built
	goneEnd = ".gone" // one that is being removed
)

// largestLetter bounds letter.json: the words of a command and its environment
// are at most some MiB (execve(2)).
const largestLetter = 32 << 20

// Dir is a directory of letters.
type Dir struct{ path string }

// Open returns the directory, which has to belong to the user alone. A relative
// path is resolved now. With create, a directory that does not exist is made;
// otherwise the error is fs.ErrNotExist.
func Open(path string, create bool) (*Dir, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	if create && errors.Is(err, fs.ErrNotExist) {
		err = makeDir(path)
		if err == nil {
			info, err = os.Stat(path)
		}
	}
	switch {
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, fmt.Errorf("%q is not a directory", path)
	}
	if err := lockedfile.Own(info); err != nil {
		return nil, fmt.Errorf("the directory %q %w", path, err)
	}
	return &Dir{path}, nil
}

func makeDir(path string) error {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return err
	}
	if err := os.Chmod(path, 0o700); err != nil { // without the umask
		return err
	}
	return syncDir(filepath.Dir(path))
}

// Path is where the directory is.
func (d *Dir) Path() string { return d.path }

// in is the path of a file of a letter, "" for the letter's own.
func (d *Dir) in(id, file string) string { return filepath.Join(d.path, id, file) }

// beside is the path of what lies beside a letter.
func (d *Dir) beside(id, end string) string { return filepath.Join(d.path, "."+id+end) }

// List returns all letters. It removes the files of writers that were killed.
func (d *Dir) List() ([]*Entry, error) {
	files, err := os.ReadDir(d.path)
	if err != nil {
		return nil, err
	}
	var all []*Entry
	claimed := d.clear(files)
	for _, f := range files {
		if !isID(f.Name()) {
			continue
		}
		if e := d.read(f.Name()); e.Problem != ErrGone {
			e.Claimed = claimed[e.ID]
			all = append(all, &e)
		}
	}
	return all, nil
}

// clear removes the files of writers that were killed, and returns the letters
// whose lock is held.
func (d *Dir) clear(files []fs.DirEntry) (held map[string]bool) {
	held = map[string]bool{}
	for _, f := range files {
		name, hidden := strings.CutPrefix(f.Name(), ".")
		if !hidden || len(name) < beforeDash+1+runDigits || !isID(name[:beforeDash+1+runDigits]) {
			continue
		}
		id := name[:beforeDash+1+runDigits]
		if _, known := held[id]; known {
			continue
		}
		c, err := d.lock(id, 0)
		held[id] = errors.Is(err, ErrClaimed)
		if err == nil {
			c.Release()
		}
	}
	return held
}

// read reads one letter. It may be removed meanwhile.
func (d *Dir) read(id string) Entry {
	e := Entry{ID: id}
	if e.Problem = d.fill(&e); e.Problem == nil {
		return e
	}
	if _, err := os.Lstat(d.in(id, "")); errors.Is(err, fs.ErrNotExist) {
		return Entry{ID: id, Problem: ErrGone}
	}
	e.Foreign = errors.As(e.Problem, new(lockedfile.Foreign))
	return e
}

// fill reads the letter of an entry. No link is followed, and no file that belongs to
// another user, or that others may write, is read.
func (d *Dir) fill(e *Entry) error {
	info, err := own(d.in(e.ID, ""), fs.ModeDir)
	for _, name := range [...]string{stdinFile, stdoutTail, stderrTail, letterFile} {
		if err == nil {
			if info, err = own(d.in(e.ID, name), 0); errors.Is(err, fs.ErrNotExist) && name != letterFile {
				err = nil
			}
		}
	}
	if err != nil {
		return err
	}
	data, err := readFile(d.in(e.ID, letterFile), largestLetter)
	if err != nil {
		return err
	}
	// Two changes within the resolution of a file's time have one time.
	e.Stamp = fmt.Sprintf("%d %x", info.ModTime().UnixNano(), sha256.Sum256(data))
	if e.Letter, err = Decode(e.ID, data); err != nil || !e.Letter.Stdin.Present {
		return err
	}
	if _, err := os.Lstat(d.in(e.ID, stdinFile)); err != nil {
		return fmt.Errorf("its input: %w", err)
	}
	return nil
}

// own describes a file or directory that has to be the user's own.
func own(path string, kind fs.FileMode) (fs.FileInfo, error) {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return nil, err
	case info.Mode().Type() != kind:
		err = lockedfile.Foreign("is no plain file or directory, and is not followed")
	default:
		err = lockedfile.Own(info)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return info, err
}

// readFile reads a file of at most so many bytes.
func readFile(path string, most int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|noFollow, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("%s has more than %d bytes", filepath.Base(path), most)
	}
	return data, err
}

// largestTail is what is shown of a file that holds the last part of an output.
const largestTail = 64 << 10

// Tails returns the last parts of standard output and standard error, nil for
// what is not there.
func (d *Dir) Tails(e *Entry) (stdout, stderr []byte) {
	if e.Foreign {
		return nil, nil
	}
	stdout, _ = readFile(d.in(e.ID, stdoutTail), largestTail)
	stderr, _ = readFile(d.in(e.ID, stderrTail), largestTail)
	return stdout, stderr
}

// Input opens the standard input of a letter, nil where none is kept.
func (d *Dir) Input(e *Entry) (*os.File, error) {
	if e.Letter == nil || !e.Letter.Stdin.Present {
		return nil, nil
	}
	return os.OpenFile(d.in(e.ID, stdinFile), os.O_RDONLY|noFollow, 0)
}

// CheckInput reads an input to its end, and says where it is not the one that
// was kept.
func (s *Stdin) CheckInput(f io.ReadSeeker) error {
	kept, err := digest(io.Discard, f)
	if err == nil && kept != *s {
		err = fmt.Errorf("its input is not what it was: %d bytes, SHA-256 %s", kept.Bytes, kept.SHA256)
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	return err
}

// Seen reports whether what the entry was listed with is still what is there.
func (d *Dir) Seen(e *Entry) bool { return d.read(e.ID).Stamp == e.Stamp }

// find returns the letter of the same work as l, nil for none. A letter whose
// text does not hold the key is not decoded.
func (d *Dir) find(files []fs.DirEntry, l *Letter) *Letter {
	key, err := l.IdempotencyKey.MarshalJSON()
	if err != nil {
		return nil
	}
	// What is not UTF-8 is laid out on lines of its own.
	key = bytes.Trim(bytes.TrimPrefix(key, []byte(`{"base64":`)), "}\n")
	for _, f := range files {
		if !isID(f.Name()) {
			continue
		}
		data, err := readFile(d.in(f.Name(), letterFile), largestLetter)
		if err != nil || !bytes.Contains(data, key) {
			continue
		}
		if e := d.read(f.Name()); e.Usable() && !e.Letter.Parked() && l.sameWork(e.Letter) {
			return e.Letter
		}
	}
	return nil
}
