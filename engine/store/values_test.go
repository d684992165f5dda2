package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"
)

// clocked is a store of files whose clock stands still.
func clocked(dir string, now *int64) *File {
	f := NewFile(dir, "host")
	f.Now = func() int64 { return *now }
	return f
}

func TestValuesFailedLately(t *testing.T) {
	now := time.Now().UnixMilli() // a record that is new is as old as its file
	ctx := context.Background()
	dir := t.TempDir()
	mine, theirs := clocked(dir, &now), clocked(dir, &now)
	values := []string{"M=a", "M=b", "N=a"}
	check := func(key string, want ...bool) {
		t.Helper()
		got, err := mine.FailedLately(ctx, key, values)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s at %d: %v, %v; want %v", key, now, got, err, want)
		}
	}
	fail := func(values ...string) {
		t.Helper()
		if err := theirs.ValuesFailed(ctx, "key", values); err != nil {
			t.Fatal(err)
		}
	}
	check("key", false, false, false)
	if _, err := os.Stat(filepath.Join(dir, "host")); !os.IsNotExist(err) {
		t.Error("a question has made a directory")
	}
	fail("M=a", "N=x")
	check("key", true, false, false)
	check("other", false, false, false)
	now += 20_000
	fail("M=b")
	check("key", true, true, false)
	now += 9_999
	check("key", true, true, false)
	now++ // 30 s after the first
	check("key", false, true, false)
	fail("M=b") // counts from its last failure
	now += 29_999
	check("key", false, true, false)
	now -= 3_600_000 // a clock that was wrong when it was written
	check("key", false, false, false)
	fail("M=a")
	check("key", true, false, false)
}

// A record holds the last of very many values, and is replaced where it cannot
// be read.
func TestValuesRecord(t *testing.T) {
	now := time.Now().UnixMilli()
	ctx := context.Background()
	f := clocked(t.TempDir(), &now)
	if err := f.ValuesFailed(ctx, "key", []string{"M=x"}); err != nil {
		t.Fatal(err)
	}
	now = 1 << 47 // the year 6429: a time takes 7 bytes
	var many []string
	for i := range 3 * mostValues {
		many = append(many, fmt.Sprint("M=", i))
	}
	if err := f.ValuesFailed(ctx, "key", many); err != nil {
		t.Fatal(err)
	}
	failed, err := f.FailedLately(ctx, "key", many)
	if err != nil || slices.Contains(failed[:2*mostValues], true) || slices.Contains(failed[2*mostValues:], false) {
		t.Errorf("%v, %v", failed, err)
	}
	if err := os.WriteFile(f.valuesPath("key"), []byte("no record"), 0o600); err != nil {
		t.Fatal(err)
	}
	warned := ""
	f.Warn = func(line string) { warned = line }
	if failed, err := f.FailedLately(ctx, "key", many[:1]); err != nil || failed[0] {
		t.Errorf("%v, %v", failed, err)
	}
	if err := f.ValuesFailed(ctx, "key", many[:1]); err != nil || warned == "" {
		t.Errorf("%v, warned %q", err, warned)
	}
	if failed, err := f.FailedLately(ctx, "key", many[:1]); err != nil || !failed[0] {
		t.Errorf("%v, %v", failed, err)
	}
}

// No failure is lost where many tell theirs at once.
func TestValuesOfManyAtOnce(t *testing.T) {
	now := time.Now().UnixMilli() // a record that is new is as old as its file
	ctx := context.Background()
	dir := t.TempDir()
	var all []string
	var wg sync.WaitGroup
	for i := range 40 {
		value := fmt.Sprint("M=", i)
		all = append(all, value)
		wg.Go(func() {
			if err := clocked(dir, &now).ValuesFailed(ctx, "key", []string{value}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if failed, err := clocked(dir, &now).FailedLately(ctx, "key", all); err != nil || slices.Contains(failed, false) {
		t.Errorf("%v, %v", failed, err)
	}
}

// What nobody has told for a day is swept away.
func TestValuesAreSwept(t *testing.T) {
	now := time.Now().UnixMilli() // a record that is new is as old as its file
	ctx := context.Background()
	f := clocked(t.TempDir(), &now)
	if err := f.ValuesFailed(ctx, "old", []string{"M=a"}); err != nil {
		t.Fatal(err)
	}
	past := time.UnixMilli(now).Add(-sweepAge - time.Minute)
	if err := os.Chtimes(f.valuesPath("old"), past, past); err != nil {
		t.Fatal(err)
	}
	if err := f.ValuesFailed(ctx, "new", []string{"M=a"}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(f.valuesPath("old")); !os.IsNotExist(err) {
		t.Errorf("the old record: %v", err)
	}
	if _, err := os.Stat(f.valuesPath("new")); err != nil {
		t.Error(err)
	}
}

// A server keeps the same as the files do.
func TestRedisKeepsValues(t *testing.T) {
	s, c := newRedis(t, "")
	ctx := soon(t)
	values := []string{"M=a", "M=b c", "N=\x00ü"}
	check := func(key string, want ...bool) {
		t.Helper()
		got, err := s.FailedLately(ctx, key, values)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v; want %v", key, got, err, want)
		}
	}
	check("key", false, false, false)
	if err := s.ValuesFailed(ctx, "key", []string{"M=b c", "N=\x00ü"}); err != nil {
		t.Fatal(err)
	}
	check("key", false, true, true)
	check("ke{y}", false, false, false)
	name := keys("key")[0] + ":values"
	if left := c.must(t, "PTTL", name)[0]; left <= 0 || left > valuesFor {
		t.Errorf("it is forgotten in %d ms", left)
	}
	// What failed 31 s ago no longer counts, nor what lies in the future.
	field := func(value string) string { return strconv.FormatInt(numberOf(value), 10) }
	now := time.Now().UnixMilli()
	c.must(t, "HSET", name, field("M=a"), strconv.FormatInt(now-valuesFor-1000, 10))
	c.must(t, "HSET", name, field("M=b c"), strconv.FormatInt(now+3_600_000, 10))
	check("key", false, false, true)
	// Old ones do not pile up.
	for i := range 300 {
		c.must(t, "HSET", name, strconv.Itoa(i), "5")
	}
	if err := s.ValuesFailed(ctx, "key", values[:1]); err != nil {
		t.Fatal(err)
	}
	if n := c.must(t, "HLEN", name)[0]; n != 2 {
		t.Errorf("%d values are kept", n)
	}
	check("key", true, false, true)
	// Very many are asked for in parts.
	var many []string
	for i := range 3 * longestList {
		many = append(many, fmt.Sprint("M=", i))
	}
	if err := s.ValuesFailed(ctx, "many", many[longestList:]); err != nil {
		t.Fatal(err)
	}
	failed, err := s.FailedLately(ctx, "many", many)
	if err != nil || len(failed) != len(many) || slices.Contains(failed[:longestList], true) || slices.Contains(failed[longestList:], false) {
		t.Errorf("%v, %v", failed, err)
	}
}

// What cannot be asked is an error of the store.
func TestRedisWithoutValues(t *testing.T) {
	s, _ := newRedis(t, "", "--requirepass", "secret")
	if _, err := s.FailedLately(soon(t), "key", []string{"M=a"}); err == nil {
		t.Error("no error without the password")
	}
	if err := s.ValuesFailed(soon(t), "key", []string{"M=a"}); err == nil {
		t.Error("no error without the password")
	}
}
