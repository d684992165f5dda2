package classify

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestTail(t *testing.T) {
	tests := []struct {
		name   string
		size   int
		writes []string
		want   string
	}{
		{"nothing", 8, nil, ""},
		{"all fits", 8, []string{"ab\n", "cd"}, "ab\ncd"},
		{"exactly full", 4, []string{"ab", "cd"}, "abcd"},
		{"one write fills it", 4, []string{"abcd"}, "abcd"},
		{"cut at a line's start", 8, []string{"first\n", "ab\ncd\n"}, "ab\ncd\n"},
		{"the cut falls on a line's start", 6, []string{"one\nab\ncd\n"}, "ab\ncd\n"},
		{"the same in two writes", 6, []string{"one\n", "ab\ncd\n"}, "ab\ncd\n"},
		{"no line begins in it", 4, []string{"abcdefgh"}, "efgh"},
		{"only its end is in it", 4, []string{"abcdefg\n"}, "efg\n"},
		{"a large write after small ones", 4, []string{"a\n", "b\n", "cdefg\nxy"}, "xy"},
		{"a full write on a full ring", 4, []string{"abc\n", "d\nef"}, "d\nef"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tail := Tail{size: tt.size}
			for _, w := range tt.writes {
				if n, err := tail.Write([]byte(w)); n != len(w) || err != nil {
					t.Fatalf("Write(%q) = %d, %v", w, n, err)
				}
			}
			if got := string(tail.Bytes()); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// What is kept is the end of what was written, at a line's start if there is
// one, in whatever pieces it was written.
func TestTailIsTheEnd(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		size := 1 + rng.IntN(20)
		tail := Tail{size: size}
		var all []byte
		for range rng.IntN(8) {
			p := make([]byte, rng.IntN(30))
			for i := range p {
				p[i] = "abc\n"[rng.IntN(4)]
			}
			all = append(all, p...)
			if _, err := tail.Write(p); err != nil {
				t.Fatal(err)
			}
		}
		want := all
		if cut := len(all) - size; cut > 0 {
			want = all[cut:]
			if i := bytes.IndexByte(want, '\n'); all[cut-1] != '\n' && i >= 0 && i+1 < len(want) {
				want = want[i+1:]
			}
		}
		if got := tail.Bytes(); !bytes.Equal(got, want) {
			t.Fatalf("size %d, written %q: got %q, want %q", size, all, got, want)
		}
	}
}

func TestTailZeroValue(t *testing.T) {
	var tail Tail
	line := strings.Repeat("x", 99) + "\n"
	for range 2000 {
		if _, err := tail.Write([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	got := tail.Bytes()
	if len(got) > TailSize || len(got) < TailSize-len(line) || len(got)%len(line) != 0 {
		t.Errorf("kept %d bytes", len(got))
	}
}

func BenchmarkTail(b *testing.B) {
	text := bytes.Repeat([]byte("2026-07-14T12:00:00Z INFO worker[7] processed batch 42 in 17 ms\n"), 1<<14)
	for _, chunk := range []int{100, 4 << 10, 256 << 10} {
		b.Run(fmt.Sprint(chunk), func(b *testing.B) {
			var tail Tail
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				for p := text; len(p) > 0; {
					n := min(len(p), chunk)
					_, _ = tail.Write(p[:n])
					p = p[n:]
				}
			}
		})
	}
}
