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

	"github.com/retrysh/retry/engine/event"
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
			err = notRegular(names[i])
		}
		if err != nil {
			return nil, path, err
		}
		sources = append(sources, Source{Path: names[i]})
	}
	return sources, path, nil
}

// Read calls f with each record of the sources and its line; both hold until f
// returns. A line that stands in several sources is read once. It returns how many
// lines are no records.
func Read(sources []Source, f func(r *Record, line []byte)) (bad int, err error) {
	var r Record
	read := readRuns{}
	err = new(Parser).each(sources, func() *Record { return &r }, func(line []byte, ok bool) {
		switch {
		case !ok:
			bad++
		case read.isNew(&r):
			f(&r, line)
		}
	})
	return bad, err
}

// readRuns are the runs that were read, by a hash of their ids: when one that is
// parked started, 0 for one that has ended.
type readRuns map[uint64]int64

// isNew reports whether the record is none of a run that was read, or what followed
// when it had been parked.
func (seen readRuns) isNew(r *Record) bool {
	id, parked := hash(r.RunID), int64(0)
	if r.parked() {
		parked = r.Time.UnixMilli()
	}
	if before, again := seen[id]; again && (before == 0 || before == r.Time.UnixMilli()) {
		return false
	}
	seen[id] = parked
	return true
}

// Runs calls f with each run, as far as Report and Learner look at it: with its
// command where commands are asked for. One that was parked and went on is one run.
// The lines are read on one processor while f works on another.
func Runs(sources []Source, commands bool, f func(*Record)) (bad int, err error) {
	parked := map[string]*Record{}
	read := readRuns{}
	full, free := make(chan *batch, batches), make(chan *batch, batches)
	for range batches {
		free <- &batch{records: make([]Record, batchSize)}
	}
	go func() {
		p := Parser{counting: true, commands: commands}
		err = p.fill(sources, full, free)
		close(full)
	}()
	for b := range full {
		bad += b.bad
		for i := range b.records[:b.n] {
			r := &b.records[i]
			if !read.isNew(r) {
				continue
			}
			if before := parked[r.RunID]; before != nil {
				r = before.goesOn(r)
				delete(parked, r.RunID)
			}
			if r.parked() {
				kept := *r
				kept.Command, kept.Attempts = slices.Clone(r.Command), slices.Clone(r.Attempts)
				parked[r.RunID] = &kept
				continue
			}
			f(r)
		}
		free <- b
	}
	for _, r := range parked {
		f(r)
	}
	return bad, err
}

// batch is a number of records that are handed over at once.
type batch struct {
	records []Record
	n, bad  int
}

const (
	batches   = 4
	batchSize = 256
)

// fill reads records into batches from free, and sends them to full.
func (p *Parser) fill(sources []Source, full chan<- *batch, free <-chan *batch) error {
	b := <-free
	err := p.each(sources, func() *Record { return &b.records[b.n] }, func(_ []byte, ok bool) {
		if ok {
			b.n++
		} else {
			b.bad++
		}
		if b.n == batchSize {
			full <- b
			b = <-free
			b.n, b.bad = 0, 0
		}
	})
	full <- b
	return err
}

// each calls f with each line that is not empty, and whether it is a record, which
// is parsed into what to returns.
func (p *Parser) each(sources []Source, to func() *Record, f func(line []byte, ok bool)) error {
	buffer := bufio.NewReaderSize(nil, largestRead+1)
	for _, s := range sources {
		err := eachLine(s, buffer, func(line []byte, whole bool) {
			if line = bytes.TrimSpace(line); len(line) > 0 || !whole {
				f(line, whole && p.Parse(line, to()))
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *Record) parked() bool { return r.Outcome == string(event.Parked) }

// goesOn is a parked run with what followed.
func (r *Record) goesOn(rest *Record) *Record {
	whole := *rest
	whole.Time, whole.Attempts = r.Time, append(r.Attempts, rest.Attempts...)
	whole.AttemptCount += r.AttemptCount
	whole.ElapsedMS += r.ElapsedMS
	whole.WaitedMS += r.WaitedMS
	whole.Cut = r.Cut || rest.Cut
	return &whole
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
