package classify

import (
	"strings"
	"testing"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/event"
)

// TestLineKinds: the last line of each text is of the kind.
func TestLineKinds(t *testing.T) {
	for _, c := range []struct {
		text string
		want lineKind
	}{
		{"cannot open a.txt", plainLine},
		{"warning: connection lost", warningLine},
		{"Future releases require a newer runtime", warningLine},
		{"  -t, --timeout N  give up after N seconds", helpLine},
		{"  -t, --timeout N\n               the timeout of a request", helpLine},
		{"Usage:\ttool [options]\n\ttool -O\n\t\tset the timeout", helpLine},
		{"Usage: tool\n\n    connection refused", plainLine},
		{"Error:\n    connection refused", plainLine},
		{"usage: tool FILE", usageLine},
		{"Did you mean?  timeout", usageLine},
		{"   12 |   throw new TimeoutError()", quotedLine},
		{">       with pytest.raises(TimeoutError):", quotedLine},
		{"[error] > 18 | - name: Timeout", quotedLine},
		{"%3|1706012011.220|FAIL|client#1| connection refused", plainLine},
		{"│ lib │ HIGH │ 1.0 │ connection resets │", quotedLine},
		{"│ connection refused │", plainLine},
		{"#     expected: 'deadline exceeded'", testLine},
		{"not ok 3 connection refused", testLine},
		{"(fail) ECONNRESET is retried 3 times [0.24ms]", testLine},
		{"TestBackoff#test_retries_connection_reset [app.rb:4]:", testLine},
		{"    a_test.go:11: classify(\"i/o timeout\") = \"fatal\", want \"retry\"", testLine},
		{"relation \"old\" does not exist, nothing to move", warningLine},
		{"ok 1 - reconnects after a timeout", passedLine},
		{"    ✓ reconnects after a timeout (2 ms)", passedLine},
		{"tests/test_net.py::test_timeout PASSED", passedLine},
		{"      ^ unexpected EOF", testLine},
		{"    at connect (net.js:12:3)", frameLine},
		{"  aborted: false,", settingLine},
		{"  \"requestTimeout\": 120000,", settingLine},
		{"    'user-agent': 'client/20.1.2 core/5.2.2',", settingLine},
		{"  _events: { connectionError: [Function (anonymous)] },", settingLine},
		{"  code: 'ECONNREFUSED',", plainLine},
		{"  status: 503,", plainLine},
		{"    Received: 503", plainLine},
		{"--timeout=T\t\t-T T\tthe timeout", helpLine},
		{"npm warn deprecated a@1: retry later", warningLine},
		{"  timedOut: true,", plainLine},
		{"It may be caused by one or more of:\n - wrong password", guessLine},
		{"It may be caused by one or more of:\n - a firewall\n - wrong password", guessLine},
		{"checked:\n - wrong password", plainLine},
	} {
		out := newOutput(nil, []byte(c.text))
		start, end := out.line(len(out.text))
		if got := out.kind(start, end); got != c.want {
			t.Errorf("%q is of kind %d, want %d", c.text, got, c.want)
		}
	}
}

// TestRefusalsThatPass: what is not allowed right now is no refusal.
func TestRefusalsThatPass(t *testing.T) {
	table := ruleTable()
	failure := func(line string) Failure {
		return Failure{Argv: []string{"frob"}, Result: attempt.Result{ExitCode: 1}, Stderr: []byte(line)}
	}
	for _, c := range []struct {
		now, ever string
	}{
		{"cannot change the volume until the copy has ended", "cannot change the volume"},
		{"no such node right now", "no such node"},
		{"the key is already being removed, not found", "the key is not found"},
	} {
		if now, ever := table.Judge(failure(c.now)).Verdict, table.Judge(failure(c.ever)).Verdict; now == event.Permanent || ever != event.Permanent {
			t.Errorf("%q is %s, and %q %s", c.now, now, c.ever, ever)
		}
	}
	line := "login is not permitted in the current state: access denied"
	f := failure(line)
	if found := table.byRules(f, newOutput(f.Stdout, f.Stderr)); len(found) == 0 || found[0].strength != Weak || !strings.Contains(line, found[0].match.Line) {
		t.Errorf("a plain refusal stays plain: %+v", found)
	}
}

// TestMinifiedSource: a long line of source that Node.js shows, with the marks below
// it cut off, does not keep the rules from reading the lines above it.
func TestMinifiedSource(t *testing.T) {
	source := strings.Repeat("catch(e){throw Error('cannot connect: timeout, not found, denied')}", 150)
	text := "Error: connect ECONNREFUSED 192.0.2.1:80\n" + source + "\n" + strings.Repeat(" ", 1000) + "\n\nNode.js v20.20.2\n"
	j := BuiltIn().Judge(Failure{Argv: []string{"frob"}, Result: attempt.Result{ExitCode: 1}, Stderr: []byte(text)})
	if j.Rule != "net-refused" {
		t.Errorf("%+v", j)
	}
}
