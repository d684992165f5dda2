package queue

// This file changes a directory of letters. A writer holds the lock of the letter
// that it builds, replaces or removes. A new letter gets its name under the lock of
// the directory, so that one writer at a time counts letters and compares keys.

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"time"

	"github.com/retrysh/retry/engine/lockedfile"
)

// Content is what lies beside letter.json.
type Content struct {
	// Stdin is the whole standard input; nil: none is kept.
	Stdin io.Reader
	// Tails are the last parts of standard output and standard error; nil: not
	// captured.
	Tails [2][]byte
}

// ErrFull says that a directory holds as many letters as it may.
var ErrFull = errors.New("there are as many letters as --dead-letter-max allows")

// ErrClaimed says that a run, or a process that it left, holds the lock of a letter.
var ErrClaimed = errors.New("another run holds it")

// ErrGone says that a letter is no longer there: it was run, or discarded.
var ErrGone = errors.New("it is no longer there")

// Add keeps a new letter and returns its id. Where joins is set, and a letter of
// the same work is there, that one gets the new details instead. A directory with
// most letters takes no other one.
func (d *Dir) Add(l *Letter, c Content, joins bool, most int) (id string, err error) {
	files, err := os.ReadDir(d.path)
	if err != nil {
		return "", err
	}
	d.clear(files)
	if !joins { // before a long input is copied
		if err := d.room(most); err != nil {
			return "", err
		}
	}
	claim, err := d.lock(l.ID, lockWait)
	if err != nil {
		return "", err
	}
	defer claim.Release()
	defer func() { _ = os.RemoveAll(d.beside(claim.id, newEnd)) }() // where it was not named
	if err := claim.build(l, c); err != nil {
		return "", err
	}
	lock, err := lockFile(d.in(".lock", ""), lockWait)
	if err != nil {
		return "", fmt.Errorf("the directory's lock: %w", err)
	}
	defer lock.Unlock()
	if joins {
		if id, err := d.join(l, c); id != "" || err != nil {
			return id, err
		}
	}
	if err := d.room(most); err != nil {
		return "", err
	}
	if err := os.Rename(d.beside(l.ID, newEnd), d.in(l.ID, "")); err != nil {
		return "", err
	}
	return l.ID, syncDir(d.path)
}

// lockWait is how long a writer waits for another one, which renames a directory
// or replaces three small files meanwhile.
const lockWait = 10 * time.Second

// room returns ErrFull where no letter may come to those that are there.
func (d *Dir) room(most int) error {
	files, err := os.ReadDir(d.path)
	if err != nil {
		return err
	}
	n := 0
	for _, f := range files {
		if isID(f.Name()) {
			n++
		}
	}
	if n >= most {
		return fmt.Errorf("%w (%d)", ErrFull, most)
	}
	return nil
}

// build makes a new letter beside the others.
func (c *Claim) build(l *Letter, content Content) error {
	dir := c.d.beside(c.id, newEnd)
	if _, err := os.Lstat(c.d.in(c.id, "")); err == nil {
		return fmt.Errorf("there is a letter %s already", c.id)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	if err := os.Chmod(dir, 0o700); err != nil { // without the umask
		return err
	}
	path := func(name string) string { return dir + string(os.PathSeparator) + name }
	var files written
	defer files.close()
	if content.Stdin != nil {
		var err error
		if l.Stdin, err = files.input(path(stdinFile), content.Stdin); err != nil {
			return err
		}
	}
	for i, tail := range content.Tails {
		if tail != nil {
			if err := files.write(path(tails[i]), tail); err != nil {
				return err
			}
		}
	}
	data, err := l.Encode()
	if err == nil {
		err = files.write(path(letterFile), data)
	}
	if err == nil {
		err = files.sync()
	}
	if err != nil {
		return err
	}
	return syncDir(dir)
}

// join gives an unclaimed letter of the same work the details of l, and returns
// its id, "" where there is none. The caller holds the directory's lock.
func (d *Dir) join(l *Letter, content Content) (id string, err error) {
	files, err := os.ReadDir(d.path)
	if err != nil {
		return "", err
	}
	old := d.find(files, l)
	if old == nil {
		return "", nil
	}
	c, err := d.lock(old.ID, claimWait)
	if errors.Is(err, ErrClaimed) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer c.Release()
	e := d.read(old.ID) // it may have been run, or discarded, before it was locked
	if !e.Usable() || e.Letter.Parked() || !l.sameWork(e.Letter) {
		return "", nil
	}
	l.join(e.Letter)
	return old.ID, c.Replace(l, &content.Tails)
}

// Claim is a letter whose lock is held, until it is released or this process and
// all that have inherited the lock have ended.
type Claim struct {
	d    *Dir
	id   string
	file *lockedfile.File
}

// Claim locks a letter for a run, and reads it then. The error is ErrClaimed or
// ErrGone as a rule.
func (d *Dir) Claim(id string) (*Claim, Entry, error) {
	c, err := d.lock(id, claimWait)
	if err != nil {
		return nil, Entry{}, err
	}
	e := d.read(id)
	if e.Problem == ErrGone {
		c.Release()
		return nil, e, ErrGone
	}
	return c, e, nil
}

// lock takes the lock of a letter that exists or will exist, and removes the files
// of holders that were killed.
func (d *Dir) lock(id string, wait time.Duration) (*Claim, error) {
	file, err := lockFile(d.beside(id, lockEnd), wait)
	if err != nil {
		return nil, err
	}
	for _, end := range [...]string{newEnd, goneEnd, "." + letterFile, "." + tails[0], "." + tails[1]} {
		if err := os.RemoveAll(d.beside(id, end)); err != nil {
			file.Unlock()
			return nil, err
		}
	}
	return &Claim{d, id, file}, nil
}

// lockFile makes a file and locks it, or returns ErrClaimed when it has waited so
// long. A file that was removed meanwhile is made again.
func lockFile(path string, wait time.Duration) (*lockedfile.File, error) {
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	f, err := lockedfile.OpenLocked(ctx, path)
	if errors.Is(err, lockedfile.ErrHeld) {
		err = ErrClaimed
	}
	return f, err
}

// claimWait is how long the lock of a letter is tried for. A reader holds it for
// less than a millisecond while it runs, and longer while it is not scheduled.
const claimWait = 50 * time.Millisecond

// Descriptor is what the command inherits.
func (c *Claim) Descriptor() uintptr { return c.file.Descriptor() }

// Release frees the lock, also for what has inherited it.
func (c *Claim) Release() {
	path := c.d.beside(c.id, lockEnd)
	_ = os.Remove(path)
	c.file.Unlock()
	if runtime.GOOS == "windows" { // which does not remove an open file
		_ = os.Remove(path)
	}
}

// Replace writes the letter's new details, and its tails where they are not nil:
// each file by itself, letter.json last. A tail that is nil is removed.
func (c *Claim) Replace(l *Letter, outputs *[2][]byte) error {
	data, err := l.Encode()
	if err != nil {
		return err
	}
	names, content := []string{letterFile}, [][]byte{data}
	if outputs != nil {
		names, content = append(tails[:], letterFile), append(outputs[:], data)
	}
	var files written
	defer files.close()
	for i, name := range names {
		if content[i] == nil {
			continue
		}
		aside := c.d.beside(c.id, "."+name)
		defer func() { _ = os.Remove(aside) }() // where it was not renamed
		if err := files.write(aside, content[i]); err != nil {
			return err
		}
	}
	if err := files.sync(); err != nil {
		return err
	}
	for i, name := range names {
		if content[i] != nil {
			err = os.Rename(c.d.beside(c.id, "."+name), c.d.in(c.id, name))
		} else if err = os.Remove(c.d.in(c.id, name)); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		if err != nil {
			return err
		}
	}
	return syncDir(c.d.in(c.id, ""))
}

// Remove removes the letter. Readers see all of it until it is renamed.
func (c *Claim) Remove() error {
	gone := c.d.beside(c.id, goneEnd)
	if err := os.Rename(c.d.in(c.id, ""), gone); err != nil {
		return err
	}
	if err := syncDir(c.d.path); err != nil {
		return err
	}
	return os.RemoveAll(gone)
}

// written are files that are written, and open until all are on the disk: synced
// one after another as they are written, each costs a commit of the journal.
type written []*os.File

// write makes a file that only the user may read.
func (w *written) write(path string, data []byte) error {
	f, err := w.create(path)
	if err == nil {
		_, err = f.Write(data)
	}
	return err
}

// input makes a file of what is read, and says what that was.
func (w *written) input(path string, from io.Reader) (Stdin, error) {
	f, err := w.create(path)
	if err != nil {
		return Stdin{}, err
	}
	return digest(f, from)
}

func (w *written) create(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|noFollow, 0o600)
	if err != nil {
		return nil, err
	}
	*w = append(*w, f)
	return f, f.Chmod(0o600) // without the umask
}

// sync has the files on the disk, and closes them.
func (w *written) sync() error {
	for _, f := range *w {
		if err := errors.Join(f.Sync(), f.Close()); err != nil {
			return err
		}
	}
	*w = nil
	return nil
}

// close closes what sync has not.
func (w *written) close() {
	for _, f := range *w {
		_ = f.Close()
	}
}

// digest copies an input and describes it.
func digest(to io.Writer, from io.Reader) (Stdin, error) {
	hash := sha256.New()
	n, err := io.Copy(io.MultiWriter(to, hash), from)
	return Stdin{Present: true, Bytes: n, SHA256: hex.EncodeToString(hash.Sum(nil))}, err
}
