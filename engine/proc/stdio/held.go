package stdio

// This file keeps what a command writes until it has been judged, in a file without a
// name: memory stays small, and no file remains however the program ends.

import (
	"fmt"
	"io"
	"math"

	"github.com/retrysh/retry/engine/attempt"
)

// held is one output that is held back.
type held struct {
	file File
	fd   int // where it belongs: 1 or 2
}

// Holds reports whether output is held back.
func (s *Streams) Holds() bool { return len(s.held) > 0 }

// Settle writes held output to its destination, or to standard error if the attempt was
// rejected. The error is attempt.ErrReaderGone if standard output has no reader.
func (s *Streams) Settle(accepted bool) (first error) {
	defer s.Drop()
	for _, h := range s.held {
		to := h.fd
		if !accepted {
			to = 2
		}
		err := copyOut(standard(to), h.file)
		switch {
		case first != nil, err == nil, isGone(err) && to == 2:
		case isGone(err):
			first = attempt.ErrReaderGone
		default:
			first = fmt.Errorf("writing %s: %w", names[to], err)
		}
	}
	return first
}

// Drop drops held output.
func (s *Streams) Drop() {
	for _, h := range s.held {
		closeFile(h.file)
	}
	s.held = nil
}

// copyOut writes all of file to dst, in the kernel if that works.
func copyOut(dst, file File) error {
	var offset int64
	done, err := copyInKernel(dst, file, &offset)
	if !done {
		_, err = io.CopyBuffer(struct{ io.Writer }{dst}, io.NewSectionReader(file, offset, math.MaxInt64), make([]byte, pumpBuffer))
	}
	return err
}
