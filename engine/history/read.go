package history

// This file reads history files, a line at a time.

import (
	"bufio"
	"bytes"
	"errors"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/retrysh/retry/engine/lockedfile"
)

// largestRead is the longest line that is read.
const largestRead = 1 << 20

// Source is a file, or standard input.
type Source struct {
	Path  string
	Stdin io.Reader // read in place of Path if it is not nil
}

// InForce are the files of the history that a value of --history stands for, the
// oldest first. path is the youngest.
func InForce(value string) (sources []Source, path string, err error) {
	if path, _, err = Path(value); err != nil {
		return nil, "", err
	}
	names := []string{path}
	for n := range olderFiles {
		names = append(names, older(path, n+1))
	}
	for i := len(names) - 1; i >= 0; i-- {
		info, err := os.Stat(names[i])
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err == nil && !info.Mode().IsRegular():
			err = lockedfile.NotRegular(names[i])
		}
		if err != nil {
			return nil, path, err
		}
		sources = append(sources, Source{Path: names[i]})
	}
	return sources, path, nil
}

// Read calls f with each record of the sources and its line, in their order. Both hold until
// f returns. One that stands in several sources is read once. It returns how many lines are
// no records.
func Read(sources []Source, f func(r *Record, line []byte)) (bad int, err error) {
	var r Record
	read := readRuns{}
	buffer := bufio.NewReaderSize(nil, largestRead+1)
	for _, s := range sources {
		err := eachLine(s, buffer, func(line []byte, whole bool) {
			line = bytes.TrimSpace(line)
			if whole && len(line) == 0 {
				return
			}
			switch {
			case !whole || !Parse(line, &r):
				bad++
			case read.isNew(&r):
				f(&r, line)
			}
		})
		if err != nil {
			return bad, err
		}
	}
	return bad, nil
}

// readRuns are hashes of the ids of the runs that have ended, and of the ids and times
// of those that were parked.
type readRuns map[uint64]struct{}

// isNew reports whether the record was not read before.
func (read readRuns) isNew(r *Record) bool {
	id := hash(r.RunID)
	_, again := read[id]
	if r.parked() && !again {
		id = hash(r.RunID + r.Time.String())
		_, again = read[id]
	}
	if !again {
		read[id] = struct{}{}
	}
	return !again
}

// Runs calls f with each run, which holds until f returns. One that was parked and went on
// is one run.
func Runs(sources []Source, f func(*Record)) (bad int, err error) {
	parked := map[string]*Record{}
	bad, err = Read(sources, func(r *Record, _ []byte) {
		if before := parked[r.RunID]; before != nil {
			r = before.merge(r)
			delete(parked, r.RunID)
		}
		if r.parked() {
			kept := *r
			kept.Attempts = slices.Clone(r.Attempts)
			parked[r.RunID] = &kept
			return
		}
		f(r)
	})
	for _, r := range parked {
		f(r)
	}
	return bad, err
}

func hash(s string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(s))
	return h.Sum64()
}

// eachLine calls f with each line; of one that is too long whole is false.
func eachLine(s Source, buffer *bufio.Reader, f func(line []byte, whole bool)) error {
	from := s.Stdin
	if from == nil {
		file, err := os.Open(s.Path)
		if err != nil {
			return err
		}
		defer func() { _ = file.Close() }()
		from = file
	}
	buffer.Reset(from)
	for long := false; ; {
		line, err := buffer.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			long = true
			continue
		case err != nil && !errors.Is(err, io.EOF):
			return err
		case long || len(line) > 0:
			f(line, !long)
			long = false
		}
		if err != nil {
			return nil
		}
	}
}
