package classify

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/retrysh/retry/engine/attempt"
)

// tails are outputs of 64 KiB a stream: an ordinary log, one that is full of
// literals of rules, and one long line.
func tails() map[string][]byte {
	const size = 64 << 10
	fill := func(line func(i int) string) []byte {
		var b bytes.Buffer
		for i := 0; b.Len() < size; i++ {
			b.WriteString(line(i))
		}
		return b.Bytes()[:size]
	}
	return map[string][]byte{
		"log": fill(func(i int) string {
			return fmt.Sprintf("2026-01-02T03:04:05Z INFO worker %d handled request %d in 12ms "+
				"path=/api/v1/items/%d status=200\n", i%7, i, i)
		}),
		"literals": fill(func(i int) string {
			return []string{"error: connection refuse timeou not foun status code 50x failed to connec\n",
				"resolve certificate verif rate limi\n", "unknown optio HTTP/1.1 5 too many request\n"}[i%3]
		}),
		"one line": fill(func(int) string {
			return `{"error":"not foun","status":50,"timeou":"connection refuse"},`
		}),
		"no letter":   fill(func(int) string { return "\x00\xff\x1b[" }),
		"short lines": fill(func(int) string { return "eof\n429\nerr\n" }),
	}
}

func BenchmarkJudge(b *testing.B) {
	for name, text := range tails() {
		b.Run(name, func(b *testing.B) {
			f := Failure{Argv: []string{"curl", "x"}, Result: attempt.Result{ExitCode: 1}, Stdout: text, Stderr: text}
			BuiltIn().Judge(f)
			b.SetBytes(int64(2 * len(text)))
			for b.Loop() {
				BuiltIn().Judge(f)
			}
		})
	}
}

// BenchmarkFirst is what the first failure of a run costs: reading the rules,
// with and without an output to match.
func BenchmarkFirst(b *testing.B) {
	for name, text := range map[string]string{"code only": "",
		"one line":   "curl: (7) Failed to connect to h port 80: Connection refused\n",
		"two causes": "Error: looks like it is not a valid name or cannot be reached: stream error: INTERNAL_ERROR\n"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				table := &Table{layers: []layer{{readExits,
					func() []*Rule { rules, _ := readBuiltInPatterns(); return rules }}}}
				table.Judge(Failure{Argv: []string{"curl"}, Result: attempt.Result{ExitCode: 7}, Stderr: []byte(text)})
			}
		})
	}
}
