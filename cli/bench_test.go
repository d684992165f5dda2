package cli

// This file times the reading of arguments, which each start pays for.

import (
	"strings"
	"testing"
)

func BenchmarkRead(b *testing.B) {
	environ := []string{"HOME=/root", "PATH=/bin:/usr/bin", "RETRY_CAP=10s"}
	for name, line := range map[string]string{
		"plain": "-- true",
		"usual": "--attempts 5 --base 100ms --cap 30s --jitter full --on-exit 75,111 -- true",
	} {
		b.Run(name, func(b *testing.B) {
			argv := strings.Fields(line)
			b.ReportAllocs()
			for b.Loop() {
				if o, err := read(argv, environ); err != nil || len(o.Command) != 1 {
					b.Fatal(o, err)
				}
			}
		})
	}
}
