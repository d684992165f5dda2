package classify

// This file counts the work that an output can cause.

import (
	"strings"
	"testing"

	"github.com/retrysh/retry/engine/attempt"
)

// hostile are outputs of the words of rules, and of shapes, as large as a tail is kept.
func hostile() map[string]string {
	all := map[string]string{}
	for _, part := range []string{
		"connection refused\n", "connection refused ", "timeout\n", "error: timed out 503 ",
		"not found: permission denied\n", "retrying\n", "a", "\n", "\r", "'timeout' ", "//", "/a:", "http://a/b: ",
		"warning: connection reset\n", "Traceback (most recent call last):\n", "  File \"a.py\", line 3\n",
		"2026-11-28T10:00:00Z ERROR timeout\n", "10:00:00 ", "\x1b[31m503\x1b[0m\n",
	} {
		all[part] = strings.Repeat(part, TailSize/len(part))
	}
	for name, text := range tails() {
		all[name] = string(text)
	}
	var literals []string
	var examples strings.Builder
	for _, r := range BuiltIn().Rules() {
		examples.WriteString(strings.Join(r.Yes, "\n") + "\nattempt 1 failed, retrying in 2s\n")
		for _, p := range r.patterns {
			also, _, _ := strings.Cut(p.also, "\t")
			for literal := range strings.SplitSeq(p.literals, "\t") {
				literals = append(literals, literal+"\t"+also) // a match needs one of each set
			}
		}
	}
	all["all examples"] = strings.Repeat(examples.String(), 1+TailSize/examples.Len())[:TailSize]
	for name, between := range map[string]string{"all literals": " ", "all literals, one a line": "\n"} {
		words := strings.Join(literals, between) + between
		all[name] = strings.Repeat(words, 1+TailSize/len(words))[:TailSize]
	}
	return all
}

// Whatever a command writes, each pattern is tried on so many lines, all of them on so many
// bytes, and shapes are looked for in so many.
func TestWorkIsBounded(t *testing.T) {
	const longest = 2 * maxLine // more than a piece of a line
	const mostLooked = 4 << 20  // the worst of these needs 1.2 MB; beyond maxLooked lines are plain
	for name, text := range hostile() {
		for _, tool := range []string{"curl", "frob", "./deploy.sh"} {
			f := Failure{Argv: []string{tool}, Result: attempt.Result{ExitCode: 1}, Stdout: []byte(text),
				Stderr: []byte(text)}
			s := newSearching(BuiltIn(), f)
			s.lines(f)
			tries := 0
			for number, n := range s.tries {
				tries += n
				if n > maxTries {
					t.Errorf("%q of %s: pattern %d is tried on %d lines", name, tool, number, n)
				}
			}
			if s.budget < -longest {
				t.Errorf("%q of %s: %d bytes are matched, of at most %d", name, tool, maxMatched-s.budget, maxMatched)
			}
			if s.out.looked > mostLooked {
				t.Errorf("%q of %s: %d bytes are held against shapes", name, tool, s.out.looked)
			}
			if strings.Contains(name, "literals") && tries == 0 {
				t.Errorf("%q of %s: no pattern is tried", name, tool)
			}
		}
	}
}

// Beyond the limit a line is plain, whatever its shape.
func TestLinesBeyondTheLimitArePlain(t *testing.T) {
	const line = "Warning: Problem: timeout. Will retry in 2 seconds. 3 retries left."
	for looked, want := range map[int]lineKind{0: retriedLine, maxLooked: retriedLine, maxLooked + 1: plainLine} {
		out := newOutput(nil, []byte(line), nil)
		out.looked = looked
		if kind := out.kind(0, len(line)); kind != want {
			t.Errorf("after %d bytes the line is %q, want %q", looked, kind, want)
		}
	}
}
