//go:build unix

package stdio

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestSameFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	open := func(flags int) *os.File {
		f, err := os.OpenFile(name, os.O_CREATE|flags, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		return f
	}
	copied := func(f *os.File) *os.File {
		fd, err := unix.Dup(int(f.Fd()))
		if err != nil {
			t.Fatal(err)
		}
		again := os.NewFile(uintptr(fd), name)
		t.Cleanup(func() { _ = again.Close() })
		return again
	}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	defer write.Close()
	plain, appends := open(os.O_WRONLY), open(os.O_WRONLY|os.O_APPEND)
	for _, c := range []struct {
		what string
		a, b *os.File
		want bool
	}{
		{"a copy", plain, copied(plain), true},
		{"two opens", plain, open(os.O_WRONLY), false},
		{"two opens, one for reading too", plain, open(os.O_RDWR), false},
		{"two opens that append", appends, open(os.O_WRONLY | os.O_APPEND), true},
		{"two opens, one appends", plain, appends, false},
		{"a copy that appends", appends, copied(appends), true},
		{"a pipe", write, copied(write), true},
		{"a pipe and a file", write, plain, false},
	} {
		flags := func(f *os.File) int { n, _ := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0); return n }
		before := flags(c.a)
		if got := sameFile(File(c.a.Fd()), File(c.b.Fd())); got != c.want {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
		if after := flags(c.a); after != before {
			t.Errorf("%s: the flags were %#x and are %#x", c.what, before, after)
		}
	}
}
