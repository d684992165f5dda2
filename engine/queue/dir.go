package queue

// This file reads a directory of letters, which are named by their ids. What begins
// with a dot and an id is the lock of a letter, or a file that the holder of that
// lock builds or removes.

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/retrysh/retry/engine/lockedfile"
)

// The files of a letter.
const (
	letterFile = "letter.json"
	stdinFile  = "stdin"
	stdoutTail = "stdout.tail"
	stderrTail = "stderr.tail"
)

// tails are the last parts of the outputs, in the order of Tails.
var tails = [2]string{stdoutTail, stderrTail}

// Ends of the names that begin with a dot and an id.
const (
	lockEnd = ".lock"
	newEnd  = ".new"  // a letter that is being built
	goneEnd = ".gone" // one that is being removed
)

const (
	// largestLetter bounds letter.json: the words of a command and its environment
	// are at most some MiB (execve(2)).
	largestLetter = 32 << 20
	// largestTail is what is shown of a file that holds the last part of an output.
	largestTail = 64 << 10
)

// Dir is a directory of letters.
type Dir struct {
	path string
	wait time.Duration // of a writer for another one
}

// Open returns a directory, which has to belong to the user alone. If it is missing, Open
// makes it with create, and returns fs.ErrNotExist without.
func Open(path string, create bool) (*Dir, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	makeDir := mkdir
	if !create {
		makeDir = nil
	}
	if err := lockedfile.OwnDir(path, os.Stat, makeDir); err != nil {
		return nil, err
	}
	return &Dir{path, lockWait}, nil
}

func mkdir(path string, mode fs.FileMode) error {
	if err := os.MkdirAll(path, mode); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

func (d *Dir) Path() string { return d.path }

// in is the path of a file of a letter, "" for the letter's own.
func (d *Dir) in(id, file string) string { return filepath.Join(d.path, id, file) }

// beside is the path of what lies beside a letter.
func (d *Dir) beside(id, end string) string { return filepath.Join(d.path, "."+id+end) }

// names are the ids of the letters, and the other names that are there.
func (d *Dir) names() (ids, others []string, err error) {
	files, err := os.ReadDir(d.path)
	for _, f := range files {
		if name := f.Name(); isID(name) {
			ids = append(ids, name)
		} else {
			others = append(others, name)
		}
	}
	return ids, others, err
}

// List returns all letters. It removes the files of writers that were killed.
func (d *Dir) List() (all []*Entry, err error) {
	ids, others, err := d.names()
	if err != nil {
		return nil, err
	}
	claimed := d.clear(others)
	for _, id := range ids {
		if e := d.Read(id); e.Problem != ErrGone {
			e.Claimed = claimed[id]
			all = append(all, &e)
		}
	}
	return all, nil
}

// clear removes the files of writers that were killed, and returns the letters
// whose lock is held.
func (d *Dir) clear(others []string) (held map[string]bool) {
	held = map[string]bool{}
	for _, name := range others {
		id := name[1:min(1+idLength, len(name))]
		if _, known := held[id]; known || name[0] != '.' || !isID(id) {
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

// Read reads one letter. Its problem is ErrGone if it was removed meanwhile.
func (d *Dir) Read(id string) Entry {
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

// fill reads the letter of an entry, but no link, and no file that belongs to another
// user or that others may write.
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
	// Two changes may be within the resolution of a file's time.
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
	return lockedfile.ReadRegular(path, lockedfile.NoFollow, most)
}

// Tails returns the last parts of the outputs.
func (d *Dir) Tails(e *Entry) (outputs Tails) {
	for i, name := range tails {
		if !e.Foreign {
			outputs[i], _ = readFile(d.in(e.ID, name), largestTail)
		}
	}
	return outputs
}

// Input opens the standard input of a letter, the null device if none is kept.
func (d *Dir) Input(e *Entry) (*os.File, error) {
	if e.Letter == nil || !e.Letter.Stdin.Present {
		return os.Open(os.DevNull)
	}
	return os.OpenFile(d.in(e.ID, stdinFile), os.O_RDONLY|lockedfile.NoFollow, 0)
}

// stdinOf describes an input of n bytes.
func stdinOf(n int64, hash hash.Hash) Stdin {
	return Stdin{Present: true, Bytes: n, SHA256: hex.EncodeToString(hash.Sum(nil))}
}

// CheckInput reads an input to its end. It is an error if it is not the one that was kept.
func (s *Stdin) CheckInput(f io.ReadSeeker) error {
	hash := sha256.New()
	n, err := io.Copy(hash, f)
	if read := stdinOf(n, hash); err == nil && read != *s {
		err = fmt.Errorf("its input is not what it was: %d bytes, SHA-256 %s", n, read.SHA256)
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	return err
}
