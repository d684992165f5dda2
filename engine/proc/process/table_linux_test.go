package process

import "testing"

func TestParseStat(t *testing.T) {
	line := "4 (a) b (c)) T 22 333 4444 34816 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 123456 1 2 3\n"
	p, ok := parseStat([]byte(line))
	if want := (Entry{Pid: 4, Ppid: 22, Pgid: 333, Sid: 4444, Start: 123456, Stopped: true}); !ok || p != want {
		t.Errorf("%+v, %v", p, ok)
	}
	for _, bad := range []string{"", "4 (a", "4 (a) S 1 2 3", "x (a) S 1"} {
		if p, ok := parseStat([]byte(bad)); ok {
			t.Errorf("%q: %+v", bad, p)
		}
	}
}

func BenchmarkProcesses(b *testing.B) {
	for b.Loop() {
		if _, err := List(); err != nil {
			b.Fatal(err)
		}
	}
}
