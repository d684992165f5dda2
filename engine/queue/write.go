package queue

// This file changes a directory of letters. A writer holds the lock of the letter that
// it builds, replaces or removes. It names a new letter under the lock of the directory,
// so that one writer at a time counts letters and compares keys.

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/retrysh/retry/engine/lockedfile"
	"github.com/retrysh/retry/engine/text"
)

// Content is what lies beside letter.json.
type Content struct {
	Stdin io.Reader // the whole standard input; nil: none is kept
	Tails Tails
}

// Tails are the last parts of standard output and standard error; nil: not captured.
type Tails [2][]byte

var (
	// ErrFull says that a directory holds as many letters as it may.
	ErrFull = errors.New("there are as many letters as --dead-letter-max allows")
	// ErrClaimed says that a run, or a process that it left, holds the lock of a letter.
	ErrClaimed = errors.New("another run holds it")
	// ErrGone says that a letter was run, or discarded.
	ErrGone = errors.New("it is no longer there")
	// ErrUnsynced says that a change was made, and that the disk did not confirm it.
	ErrUnsynced = errors.New("the disk has not confirmed it")
)

const (
	// lockWait is how long a writer waits for another one, which renames a directory
	// or replaces three small files meanwhile.
	lockWait = 10 * time.Second
	// claimWait is how long the lock of a letter is tried for. A reader holds it for
	// less than a millisecond while it runs, and longer while it is not scheduled.
	claimWait = 50 * time.Millisecond
)

// Add keeps a new letter and returns its id. With joins, a letter of the same work gets
// the new details instead; a run that cannot join keeps a letter of its own. A directory
// holds at most so many letters. With an id, an error is ErrUnsynced. After the end of ctx no
// letter is named.
func (d *Dir) Add(ctx context.Context, l *Letter, c Content, joins bool, most int) (id string, err error) {
	ids, _, err := d.names()
	if err != nil {
		return "", err
	}
	if !joins && len(ids) >= most { // before a long input is copied
		return "", fmt.Errorf("%w (%d)", ErrFull, most)
	}
	built, err := d.draft(ids, l, c, joins)
	if err != nil {
		return "", err
	}
	lock, err := d.lockAll(ctx)
	if lock != nil {
		defer lock.Unlock()
	}
	defer built.drop() // before that, since the next writer may want to join the letter
	if err != nil && !errors.Is(err, lockedfile.ErrHeld) {
		return "", fmt.Errorf("the directory's lock: %w", err)
	}
	ids, others, err := d.names()
	if err != nil {
		return "", err
	}
	if lock != nil {
		d.clear(others)
	}
	if lock != nil && joins {
		if id, err := d.join(ids, l, c.Tails); id != "" {
			return id, err
		}
	}
	if len(ids) >= most {
		return "", fmt.Errorf("%w (%d)", ErrFull, most)
	}
	if err := built.name(ctx); err != nil {
		return "", err
	}
	return l.ID, unsynced(l.ID, "kept", syncDir(d.path))
}

// draft is a letter that is built, locked and not named.
type draft struct {
	claim *Claim
	files *batch
}

// draft builds a new letter beside the others, whose ids are given. Other writers wait while
// one holds the directory's lock: a letter that will be named is synced before, one that
// will be joined is not synced at all.
func (d *Dir) draft(ids []string, l *Letter, c Content, joins bool) (*draft, error) {
	claim, err := d.lock(l.ID, d.wait)
	if err != nil {
		return nil, err
	}
	files, err := claim.build(l, c)
	if err == nil && (!joins || len(d.sameAs(ids, l)) == 0) {
		err = files.sync()
	}
	built := &draft{claim, files}
	if err != nil {
		built.drop()
		return nil, err
	}
	return built, nil
}

// name makes it one of the letters, unless ctx has ended.
func (b *draft) name(ctx context.Context) error {
	if err := errors.Join(b.files.sync(), b.files.close()); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	d, id := b.claim.d, b.claim.id
	return os.Rename(d.beside(id, newEnd), d.in(id, ""))
}

// drop removes the letter unless it was named, and frees its lock.
func (b *draft) drop() {
	_ = b.files.close()
	_ = b.claim.d.sweep(b.claim.id)
	b.claim.Release()
}

// build makes a new letter beside the others. It is on the disk once the files are synced.
func (c *Claim) build(l *Letter, content Content) (*batch, error) {
	dir := c.d.beside(c.id, newEnd)
	files := &batch{dir: dir}
	if _, err := os.Lstat(c.d.in(c.id, "")); err == nil {
		return files, fmt.Errorf("there is a letter %s already", c.id)
	}
	if files.err = os.Mkdir(dir, 0o700); files.err == nil {
		files.err = os.Chmod(dir, 0o700) // without the umask
	}
	if content.Stdin != nil {
		hash := sha256.New()
		n := files.write(filepath.Join(dir, stdinFile), io.TeeReader(content.Stdin, hash))
		l.Stdin = stdinOf(n, hash)
	}
	for i, tail := range content.Tails {
		if tail != nil {
			files.write(filepath.Join(dir, tails[i]), bytes.NewReader(tail))
		}
	}
	data, err := l.Encode()
	files.write(filepath.Join(dir, letterFile), bytes.NewReader(data))
	if files.err != nil {
		return files, files.err
	}
	return files, err
}

// joinable reports whether the letter of a new run is joined to an entry.
func (l *Letter) joinable(e *Entry) bool {
	return e.Usable() && !e.Letter.Parked() && l.sameWork(e.Letter)
}

// sameAs returns the letters of the same work. Only one whose text holds the key is decoded.
func (d *Dir) sameAs(ids []string, l *Letter) (same []string) {
	var key bytes.Buffer
	if err := text.WriteJSON(&key, l.IdempotencyKey.content()); err != nil {
		return nil
	}
	key.Truncate(key.Len() - 1) // the end of the line
	for _, id := range ids {
		data, err := readFile(d.in(id, letterFile), largestLetter)
		if err != nil || !bytes.Contains(data, key.Bytes()) {
			continue
		}
		if e := d.Read(id); l.joinable(&e) {
			same = append(same, id)
		}
	}
	return same
}

// join gives an unclaimed letter of the same work the details of l, and returns its
// id, "" if none could be joined. The caller holds the directory's lock.
func (d *Dir) join(ids []string, l *Letter, outputs Tails) (id string, err error) {
	for _, id := range d.sameAs(ids, l) {
		c, err := d.lock(id, claimWait)
		if err != nil {
			continue
		}
		joined := *l
		e := d.Read(id) // it may have been run, or discarded, before it was locked
		err = ErrGone
		if l.joinable(&e) {
			joined.join(e.Letter)
			err = c.Replace(&joined, &outputs)
		}
		c.Release()
		if err == nil || errors.Is(err, ErrUnsynced) {
			return id, err
		}
	}
	return "", nil
}

// Claim is a letter whose lock is held, until it is released or this process and
// all that have inherited the lock have ended.
type Claim struct {
	d    *Dir
	id   string
	file *lockedfile.File
}

// Claim locks a letter for a run, and then reads it.
func (d *Dir) Claim(id string) (*Claim, Entry, error) {
	c, err := d.lock(id, claimWait)
	if err != nil {
		return nil, Entry{}, err
	}
	e := d.Read(id)
	if e.Problem == ErrGone {
		c.Release()
		return nil, e, ErrGone
	}
	return c, e, nil
}

// lock takes the lock of a letter that exists or will exist.
func (d *Dir) lock(id string, wait time.Duration) (*Claim, error) {
	file, err := lockFile(d.beside(id, lockEnd), wait)
	if err != nil {
		return nil, err
	}
	if err := d.sweep(id); err != nil {
		file.Unlock()
		return nil, err
	}
	return &Claim{d, id, file}, nil
}

// lockAll takes the directory's lock, whose file is never removed.
func (d *Dir) lockAll(ctx context.Context) (*lockedfile.File, error) {
	f, err := lockedfile.Open(d.in(".lock", ""), true)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, d.wait)
	defer cancel()
	if err := f.Queue(ctx); err != nil {
		return nil, err
	}
	if _, err := f.Check(); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// sweep removes what the holder of a letter's lock builds or removes.
func (d *Dir) sweep(id string) error {
	for _, end := range [...]string{newEnd, goneEnd, "." + letterFile, "." + tails[0], "." + tails[1]} {
		if err := os.RemoveAll(d.beside(id, end)); err != nil {
			return err
		}
	}
	return nil
}

// lockFile makes a file and locks it, or returns ErrClaimed when it has waited so long.
func lockFile(path string, wait time.Duration) (*lockedfile.File, error) {
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	f, err := lockedfile.OpenLocked(ctx, path, true)
	if errors.Is(err, lockedfile.ErrHeld) {
		err = ErrClaimed
	}
	return f, err
}

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

// Replace writes the letter's new details, and its tails if outputs is not nil:
// each file by itself, letter.json last. A tail that is nil is removed. An error says
// what is on the disk.
func (c *Claim) Replace(l *Letter, outputs *Tails) error {
	defer func() { _ = c.d.sweep(c.id) }() // what was not renamed
	data, err := l.Encode()
	if err != nil {
		return err
	}
	names, content := []string{letterFile}, [][]byte{data}
	if outputs != nil {
		names, content = append(tails[:], letterFile), append(outputs[:], data)
	}
	var files batch
	for i, name := range names {
		if content[i] != nil {
			files.write(c.d.beside(c.id, "."+name), bytes.NewReader(content[i]))
		}
	}
	if err := errors.Join(files.sync(), files.close()); err != nil {
		return fmt.Errorf("letter %s stays as it is: %w", c.id, err)
	}
	for i, name := range names {
		path := c.d.in(c.id, name)
		if content[i] != nil {
			err = os.Rename(c.d.beside(c.id, "."+name), path)
		} else {
			err = os.RemoveAll(path)
		}
		if err != nil && i > 0 {
			return fmt.Errorf("letter %s stays as it is, but for the last parts of its outputs: %w", c.id, err)
		}
		if err != nil {
			return fmt.Errorf("letter %s stays as it is: %w", c.id, err)
		}
	}
	return unsynced(c.id, "changed", syncDir(c.d.in(c.id, "")))
}

// Remove removes the letter. Readers see all of it until it is renamed. An error says
// what is on the disk.
func (c *Claim) Remove() error {
	gone := c.d.beside(c.id, goneEnd)
	if err := os.Rename(c.d.in(c.id, ""), gone); err != nil {
		return fmt.Errorf("letter %s stays as it is: %w", c.id, err)
	}
	if err := syncDir(c.d.path); err != nil {
		return unsynced(c.id, "removed", err)
	}
	_ = os.RemoveAll(gone) // what is left is cleared away by who looks next
	return nil
}

// unsynced is the error for a change that was made, and that was not confirmed by the disk.
func unsynced(id, change string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("letter %s is %s, but %w: %w", id, change, ErrUnsynced, err)
}

// syncDir writes the names in a directory to the disk. NTFS logs names itself.
func syncDir(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	err = fsync(d)
	_ = d.Close()
	return err
}

// fsync writes a file or directory to the disk. Tests replace it: they see in what order that
// is done, and have it fail.
var fsync = (*os.File).Sync

// batch makes files that only the user may read, until an error. They stay open until
// they are synced: a sync of each as it is written would cost a commit of the journal each.
type batch struct {
	dir  string // synced as well, unless it is ""
	open []*os.File
	err  error
	done bool
}

// write makes a file, and returns how much was written.
func (b *batch) write(path string, content io.Reader) (n int64) {
	if b.err != nil {
		return 0
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|lockedfile.NoFollow, 0o600)
	if err == nil {
		b.open = append(b.open, f)
		err = f.Chmod(0o600) // without the umask
	}
	if err == nil {
		n, err = io.Copy(f, content)
	}
	b.err = err
	return n
}

// sync writes the files to the disk, once.
func (b *batch) sync() error {
	if b.done {
		return b.err
	}
	b.done = true
	for _, f := range b.open {
		if b.err == nil {
			b.err = fsync(f)
		}
	}
	if b.err == nil && b.dir != "" {
		b.err = syncDir(b.dir)
	}
	return b.err
}

// close closes the files. Only Windows needs it before they are renamed.
func (b *batch) close() (err error) {
	for _, f := range b.open {
		err = errors.Join(err, f.Close())
	}
	b.open = nil
	return err
}
