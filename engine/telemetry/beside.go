package telemetry

// This file keeps the runs that did not get the lock of a metrics file soon: one
// line each in a file beside it, which has a lock of its own. Whoever has the lock
// of the metrics file takes the lines in.
//
// Two files cannot change at once. Before the metrics file is replaced, a mark with
// the digest of its new content is written behind the lines, and afterwards the
// lines are removed. If a process was killed in between, the next one sees by
// the mark whether the lines are counted.

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"

	"github.com/retrysh/retry/engine/lockedfile"
)

const (
	besideEnding = ".pending"
	markPrefix   = "counted in "
	// roomForMarks is for those of processes that were killed.
	roomForMarks = 4 << 10
)

func besideOf(name string) string { return name + besideEnding }

// liesBeside reports whether runs lie beside the file.
func liesBeside(name string) bool {
	info, err := os.Lstat(besideOf(name))
	return err == nil && info.Mode().IsRegular() && info.Size() > 0
}

// leaveBeside writes a run's metrics as one line into the file beside.
func leaveBeside(ctx context.Context, name string, run metrics) error {
	line, err := lineOf(run)
	if err != nil {
		return err
	}
	f, err := lockBeside(ctx, name, true)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size()+int64(len(line)) > largestFile-roomForMarks {
		return leftAsItIs(besideOf(name), errLarge)
	}
	if info.Size() == 0 {
		_ = f.Chmod(fileMode) // without the umask
	}
	return appendWhole(f, info.Size(), line)
}

func lockBeside(ctx context.Context, name string, create bool) (*os.File, error) {
	f, err := lockCurrent(ctx, besideOf(name), besideLimit, create)
	if errors.Is(err, lockedfile.ErrHeld) {
		err = fmt.Errorf("%q: not locked within %v", besideOf(name), besideLimit)
	}
	return f, err
}

// appendWhole writes a line at the end of a file, or nothing.
func appendWhole(f *os.File, size int64, line []byte) error {
	_, err := f.WriteAt(line, size)
	if err != nil {
		_ = f.Truncate(size)
	}
	return err
}

// takeIn replaces the metrics file, whose content is before, by m and what lies
// beside it. The caller holds the lock of the metrics file. If the file beside
// cannot be read, m alone is counted.
func takeIn(ctx context.Context, name string, before []byte, m metrics) error {
	f, err := lockBeside(ctx, name, false)
	if err != nil {
		return alone(name, m, err)
	}
	defer func() { _ = f.Close() }()
	left, err := readAll(f, besideOf(name))
	if err != nil {
		return alone(name, m, err)
	}
	lines, err := pending(left, before)
	if err != nil {
		return alone(name, m, leftAsItIs(besideOf(name), err))
	}
	for _, run := range lines {
		m.add(run)
	}
	data := m.encode()
	if err := appendWhole(f, int64(len(left)), markOf(data)); err != nil {
		return err
	}
	if err := replace(name, data); err != nil {
		return err
	}
	if err := f.Truncate(0); err != nil {
		return err
	}
	if runtime.GOOS != "windows" { // where another process may have it open
		return os.Remove(besideOf(name))
	}
	return nil
}

// alone counts m without what lies beside, and returns why.
func alone(name string, m metrics, why error) error {
	if err := replace(name, m.encode()); err != nil || errors.Is(why, fs.ErrNotExist) {
		return err
	}
	return why
}

// lineOf is a run's metrics in one line: the text of its series as a JSON string.
func lineOf(run metrics) ([]byte, error) {
	line, err := json.Marshal(string(run.encode()))
	return append(line, '\n'), err
}

// markOf is the line that says that all lines before it are counted in a metrics
// file of this content.
func markOf(data []byte) []byte {
	digest := sha256.Sum256(data)
	return []byte(markPrefix + hex.EncodeToString(digest[:]) + "\n")
}

// pending returns the runs in the file beside that are not counted in a metrics
// file of this content.
func pending(left, content []byte) ([]metrics, error) {
	counted := markOf(content)
	if i := bytes.LastIndex(left, counted); i >= 0 {
		left = left[i+len(counted):]
	}
	var all []metrics
	for line := range bytes.Lines(left) {
		if bytes.HasPrefix(line, []byte(markPrefix)) {
			continue
		}
		var series string
		if err := json.Unmarshal(line, &series); err != nil {
			return nil, errNotOurs
		}
		run, err := decode([]byte(series))
		if err != nil {
			return nil, err
		}
		all = append(all, run)
	}
	return all, nil
}
