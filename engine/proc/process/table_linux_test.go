package process

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestParseStat(t *testing.T) {
	line := "4 (a) b (c)) T 22 333 4444 34816 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 123456 1 2 3\n"
	p, ok := parseStat([]byte(line))
	if want := (Entry{Pid: 4, Ppid: 22, Pgid: 333, Sid: 4444, Start: 123456, Stopped: true}); !ok || p != want {
		t.Errorf("%+v, %v", p, ok)
	}
	line = "4 (a) S 22 333 4444 5 -1 6 1 2 3 4 5 6 7 8 20 0 1 0 123456" // no field behind the last that counts
	if p, ok := parseStat([]byte(line)); !ok || p.Start != 123456 {
		t.Errorf("%+v, %v", p, ok)
	}
	for _, bad := range []string{"", "4 (a", "4(a)", "(a) S 1", "4 (a) S 1 2 3", "x (a) S 1"} {
		if p, ok := parseStat([]byte(bad)); ok {
			t.Errorf("%q: %+v", bad, p)
		}
	}
}

// Whatever a process is called, its line is read; no other text gives a pid that names more
// than one process.
func FuzzParseStat(f *testing.F) {
	f.Add("a) b (c", 4, 22, 333, 4444, uint64(123456))
	f.Add("4 (a) S 1 2 3", 1, 0, 0, 0, uint64(0))
	f.Add("-1 (x) Z 1 1 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0", -1, -1, -1, -1, ^uint64(0))
	f.Fuzz(func(t *testing.T, name string, pid, ppid, pgid, sid int, start uint64) {
		if p, ok := parseStat([]byte(name)); ok && p.Pid <= 0 {
			t.Errorf("%q: %+v", name, p)
		}
		if pid <= 0 || ppid < 0 || pgid < 0 || sid < 0 {
			return
		}
		line := fmt.Sprintf("%d (%s) Z %d %d %d 0 -1 0 1 2 3 4 5 6 7 8 20 0 1 0 %d 1 2 3\n", pid, name, ppid, pgid,
			sid, start)
		want := Entry{Pid: pid, Ppid: ppid, Pgid: pgid, Sid: sid, Start: start, Dead: true}
		if p, ok := parseStat([]byte(line)); !ok || p != want {
			t.Errorf("%q: %+v, %v", line, p, ok)
		}
	})
}

// An entry is found as a whole, and nothing else is.
func FuzzHasEntries(f *testing.F) {
	f.Add("A=1\x00RETRY_RUN_ID=7\x00", "RETRY_RUN_ID=7", "A=1")
	f.Add("XA=1\x00", "A=1", "XA=1")
	f.Add("A=1", "A=1", "")
	f.Fuzz(func(t *testing.T, environ, one, other string) {
		if strings.Contains(one+other, "\x00") {
			return
		}
		whole := strings.Split("\x00"+environ, "\x00")
		whole = whole[1 : len(whole)-1] // what follows the last NUL is cut off
		want := slices.Contains(whole, one) && slices.Contains(whole, other)
		if got := hasEntries([]byte(environ), []string{one, other}); got != want {
			t.Errorf("%q in %q: %v, %q: want %v", one, environ, got, other, want)
		}
	})
}

func BenchmarkProcesses(b *testing.B) {
	for b.Loop() {
		if _, err := List(); err != nil {
			b.Fatal(err)
		}
	}
}
