package store

// This file keeps when the values of rotated names failed last, in a record of
// their own for each key: what failed for one run is tried last by the others.

import (
	"context"
	_ "embed"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/retrysh/retry/engine/lockedfile"
)

// valuesFor is how long a failure counts, in milliseconds (SPEC section 14).
const valuesFor = 30_000

const (
	// valuesPrefix begins no record of a key: those end in a hash alone.
	valuesPrefix = "_values-"
	// valuesVersion is that of the list: version, then for each value a number
	// that stands for it and the time of its last failure, the oldest first.
	valuesVersion = 1
	// mostValues fit into a record, at 9 and at most 7 bytes.
	mostValues = 120
)

func (f *File) valuesPath(key string) string {
	return filepath.Join(f.dir, valuesPrefix+hash(key))
}

// numberOf stands for a value in a record.
func numberOf(value string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(value))
	return int64(h.Sum64() >> 1)
}

// FailedLately says which of the values have failed in the last 30 s. It takes
// no lock: a record that is just being written reads as the one before.
func (f *File) FailedLately(_ context.Context, key string, values []string) ([]bool, error) {
	failed := make([]bool, len(values))
	file, err := lockedfile.Open(f.valuesPath(key), false)
	if os.IsNotExist(err) {
		return failed, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if _, err := file.Check(); err != nil {
		return nil, err
	}
	var r record
	if err := r.read(file); err != nil {
		return nil, err
	}
	known := lately(r.list, f.Now())
	for i, value := range values {
		number := numberOf(value)
		for k := 0; k < len(known); k += 2 {
			failed[i] = failed[i] || known[k] == number
		}
	}
	return failed, nil
}

// ValuesFailed tells that the values have failed now.
func (f *File) ValuesFailed(ctx context.Context, key string, values []string) error {
	return f.update(ctx, f.valuesPath(key), func(r *record) error {
		now := f.Now()
		known := lately(r.list, now)
		for _, value := range values {
			number := numberOf(value)
			for k := 0; k < len(known); k += 2 {
				if known[k] == number {
					known = slices.Delete(known, k, k+2)
					break
				}
			}
			known = append(known, number, now)
		}
		known = known[max(0, len(known)-2*mostValues):]
		r.list = append([]int64{valuesVersion}, known...)
		return nil
	})
}

// lately is what of a list has failed in the last 30 s: numbers and times. What
// lies in the future was written by a clock that was wrong.
func lately(list []int64, now int64) []int64 {
	if len(list)%2 != 1 || list[0] != valuesVersion {
		return nil
	}
	var known []int64
	for k := 1; k < len(list); k += 2 {
		if gone := now - list[k+1]; 0 <= gone && gone < valuesFor {
			known = append(known, list[k], list[k+1])
		}
	}
	return known
}

// valuesScript does the same on a server, in a hash of its own: a number that
// stands for a value, and the time of its last failure.
//
//go:embed values.lua
var valuesScript string

// FailedLately says which of the values have failed in the last 30 s, by the
// server's clock.
func (s *Redis) FailedLately(ctx context.Context, key string, values []string) ([]bool, error) {
	var failed []bool
	for some := range slices.Chunk(values, longestList) {
		list, err := s.values(ctx, "ask", key, some)
		if err == nil && len(list) != len(some) {
			err = errReply
		}
		if err != nil {
			return nil, s.explain(ctx, err)
		}
		for _, n := range list {
			failed = append(failed, n == 1)
		}
	}
	return failed, nil
}

// ValuesFailed tells that the values have failed now.
func (s *Redis) ValuesFailed(ctx context.Context, key string, values []string) error {
	for some := range slices.Chunk(values, longestList) {
		if _, err := s.values(ctx, "failed", key, some); err != nil {
			return s.explain(ctx, err)
		}
	}
	return nil
}

func (s *Redis) values(ctx context.Context, op, key string, values []string) ([]int64, error) {
	numbers := make([]int64, len(values))
	for i, value := range values {
		numbers[i] = numberOf(value)
	}
	return s.run(ctx, []string{"EVAL", valuesScript, "1", keys(key)[0] + ":values", op, strconv.Itoa(valuesFor), decimals(numbers)})
}

// decimals writes numbers as one argument.
func decimals(numbers []int64) string {
	var b []byte
	for _, n := range numbers {
		b = append(strconv.AppendInt(b, n, 10), ' ')
	}
	return string(b)
}
