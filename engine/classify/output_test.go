package classify

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestAround: the piece around a position holds it, and nothing of another line.
func TestAround(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var b strings.Builder
		for range 5 {
			b.WriteString(strings.Repeat("x", random.IntN(3*maxLine)) + "\n")
		}
		out := newOutput(nil, []byte(b.String()), nil)
		for range 100 {
			i := random.IntN(len(out.text))
			start, end := out.around(i)
			if first, last := out.line(i); start < first || end > last || start > i || i > end ||
				end-start > 2*maxLine {
				t.Fatalf("around %d in the line from %d to %d: %d to %d", i, first, last, start, end)
			}
		}
	}
}
