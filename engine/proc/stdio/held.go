package stdio

// This file keeps what a command writes until it has been judged, in a file without a
// name: memory stays small, and no file remains however the program ends.

import (
	"fmt"
	"io"

	"github.com/retrysh/retry/engine/attempt"
)

// Held is one output that is held back.
type Held struct {
	file File
	fd   int // where it belongs: 1 or 2
}

func newHeld(fd int) (*Held, error) {
	file, err := openSpool()
	if err != nil {
		return nil, fmt.Errorf("holding %s: %w", names[fd], err)
	}
	return &Held{file, fd}, nil
}

// Drop drops the output.
func (h *Held) Drop() { closeFile(h.file) }

// Release writes the output to its destination, or to standard error if the attempt was
// rejected. The error is attempt.ErrReaderGone if standard output has no reader.
func (h *Held) Release(accepted bool) error {
	defer h.Drop()
	to := h.fd
	if !accepted {
		to = 2
	}
	err := copyOut(standard(to), h.file)
	switch {
	case err == nil, isGone(err) && to == 2:
		return nil
	case isGone(err):
		return attempt.ErrReaderGone
	}
	return fmt.Errorf("writing %s: %w", names[to], err)
}

// copyOut writes all of file to dst, in the kernel if that works.
func copyOut(dst, file File) error {
	var offset int64
	if done, err := copyInKernel(dst, file, &offset); done {
		return err
	}
	buf := make([]byte, pumpBuffer)
	for {
		n, err := readAt(file, buf, offset)
		switch {
		case n == 0 && err == io.EOF:
			return nil
		case n == 0:
			return err
		}
		if err := writeAll(dst, buf[:n]); err != nil {
			return err
		}
		offset += int64(n)
	}
}
