package history

import (
	"bytes"
	"testing"
	"time"
)

// BenchmarkReport reads and counts 10,000 runs.
func BenchmarkReport(b *testing.B) {
	var text bytes.Buffer
	const runs = 10_000
	for i := range runs {
		r := full()
		r.RunID, r.Time, r.Depth, r.UntilFailure, r.Repeat,
			r.Rehearsed = string(rune('a'+i%26))+time.Duration(i).String(),
			Moment{start.Add(time.Duration(i) * time.Second)}, 1, false, false, false
		text.Write(r.Encode())
	}
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		report := NewReport(start, 0, "name")
		bad, err := Runs([]Source{{Stdin: bytes.NewReader(text.Bytes())}}, report.Add)
		if report.Finish(0); err != nil || bad != 0 || report.Runs != runs {
			b.Fatalf("%d runs, %d bad lines, %v", report.Runs, bad, err)
		}
	}
}
