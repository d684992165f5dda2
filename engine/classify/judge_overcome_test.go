package classify

import (
	"testing"

	"github.com/retrysh/retry/engine/attempt"
)

func TestOvercome(t *testing.T) {
	for _, c := range []struct {
		output string
		want   bool
	}{
		{"attempt 1: connection refused, retrying\nattempt 2: ok\nfailed", true},
		{"fetch (attempt 1): ETIMEDOUT, retrying\nfetch (attempt 2): ok\nfailed", true},
		{"connection reset by peer, retrying\nconnected on attempt 3\nfailed", true},
		{"try 1/3: connection refused\ntry 2/3 succeeded\nfailed", true},
		{"connection refused\nsucceeded after 2 retries\nfailed", true},
		{"connect: connection refused, retried, ok\nfailed", true},
		{"attempt 1: connection refused, attempt 2 ok\nfailed", true},
		{"fatal: [localhost]: FAILED! => Connection refused\n...ignoring\nfailed", true},
		{"cache: read ECONNRESET, reconnected after 120 ms\nfailed", true},
		{"curl: (7) Failed to connect to h.test port 80\nmake: [Makefile:2: ping] Error 7 (ignored)\nfailed", true},
		{"attempt 1: ok\nattempt 2: connection refused\n", false},
		{"attempt 1 ok, attempt 2: connection refused\n", false},
		{"attempt 1: connection refused\nattempt 2: connection refused\n", false},
		{"connection refused\nattempt 2: not ok\n", false},
		{"connection refused: retrying\nok\n", false},
		{"connection refused\nnot ok after 3 retries\n", false},
		{"connection refused\nnone of 3 attempts succeeded\n", false},
	} {
		f := Failure{Argv: []string{"frob"}, Result: attempt.Result{ExitCode: 1}, Stderr: []byte(c.output)}
		out := newOutput(nil, f.Stderr)
		BuiltIn().byRules(f, out)
		if out.overcome != c.want {
			t.Errorf("%q: %v, want %v", c.output, out.overcome, c.want)
		}
	}
}
