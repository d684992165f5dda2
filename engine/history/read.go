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
	"runtime"
	"slices"
	"sync"

	"github.com/retrysh/retry/engine/lockedfile"
)

// largestRead is the longest line that is read.
const largestRead = 1 << 20

// Source is a file, or standard input.
type Source struct {
	Path  string
	Stdin io.Reader // read in place of Path where it is not nil
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

// Read calls f with each record of the sources and its line, in their order. The record's
// slices hold until f returns. A line that stands in several sources is read
// once. It returns how many lines are no records. Lines are parsed on all processors.
func Read(sources []Source, f func(r *Record, line string)) (bad int, err error) {
	read := readRuns{}
	batches := make(chan *batch, 2*runtime.GOMAXPROCS(0))
	free := sync.Pool{New: func() any { return &batch{parsed: make(chan struct{}, 1)} }}
	go func() {
		err = fill(sources, &free, batches)
		close(batches)
	}()
	for b := range batches {
		<-b.parsed
		for i := range b.records {
			switch r := &b.records[i]; {
			case r.Version == 0:
				bad++
			case read.isNew(r):
				f(r, b.lines[i])
			}
		}
		b.lines, b.size = b.lines[:0], 0
		free.Put(b)
	}
	return bad, err
}

// batch is a number of lines, and their records. What is none has no version.
type batch struct {
	lines   []string
	size    int // of both in memory, about
	records []Record
	parsed  chan struct{}
}

const (
	recordSize = 512
	batchSize  = 256 << 10
)

// fill sends the lines of the sources that are not empty.
func fill(sources []Source, free *sync.Pool, batches chan<- *batch) error {
	buffer := bufio.NewReaderSize(nil, largestRead+1)
	for _, s := range sources {
		b := free.Get().(*batch)
		send := func() {
			go b.parse()
			batches <- b
		}
		err := eachLine(s, buffer, func(line []byte, whole bool) {
			if line = bytes.TrimSpace(line); whole && len(line) == 0 {
				return
			}
			if !whole {
				line = nil
			}
			b.lines, b.size = append(b.lines, string(line)), b.size+recordSize+len(line)
			if b.size > batchSize {
				send()
				b = free.Get().(*batch)
			}
		})
		if send(); err != nil {
			return err
		}
	}
	return nil
}

func (b *batch) parse() {
	b.records = slices.Grow(b.records[:0], len(b.lines))[:len(b.lines)]
	for i, line := range b.lines {
		if r := &b.records[i]; !Parse(line, r) {
			r.Version = 0
		}
	}
	b.parsed <- struct{}{}
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

// Runs calls f with each run. One that was parked and went on is one run.
func Runs(sources []Source, f func(*Record)) (bad int, err error) {
	parked := map[string]*Record{}
	bad, err = Read(sources, func(r *Record, _ string) {
		if before := parked[r.RunID]; before != nil {
			r = before.goesOn(r)
			delete(parked, r.RunID)
		}
		if r.parked() {
			kept := *r
			kept.Command, kept.Attempts = slices.Clone(r.Command), slices.Clone(r.Attempts)
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
