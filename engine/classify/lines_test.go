package classify

import (
	"slices"
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
		{"  -t, --timeout N  give up after N seconds", contentLine},
		{"  -t, --timeout N\n               the timeout of a request", contentLine},
		{"Usage:\ttool [options]\n\ttool -O\n\t\tset the timeout", contentLine},
		{"Usage: tool\n\n    connection refused", plainLine},
		{"Usage: tool FILE\n  cause: connection refused", plainLine},
		{"Error:\n    connection refused", plainLine},
		{"usage: tool FILE", contentLine},
		{"Did you mean?  timeout", contentLine},
		{"   12 |   throw new TimeoutError()", contentLine},
		{">       with pytest.raises(TimeoutError):", contentLine},
		{"[error] > 18 | - name: Timeout", contentLine},
		{"%3|1706012011.220|FAIL|client#1| connection refused", plainLine},
		{"│ lib │ HIGH │ 1.0 │ connection resets │", contentLine},
		{"│ connection refused │", plainLine},
		{"#     expected: 'deadline exceeded'", contentLine},
		{"not ok 3 connection refused", contentLine},
		{"(fail) ECONNRESET is retried 3 times [0.24ms]", contentLine},
		{"TestBackoff#test_retries_connection_reset [app.rb:4]:", contentLine},
		{"    a_test.go:11: classify(\"i/o timeout\") = \"fatal\", want \"retry\"", contentLine},
		{"relation \"old\" does not exist, nothing to move", handledLine},
		{"cache server timed out, continuing without cache", handledLine},
		{"not using proxy: proxy.internal timed out", handledLine},
		{"optional asset logo.svg: not found", handledLine},
		{"connected after 2 attempts", handledLine},
		{"    @pytest.mark.parametrize(\"error\", [\"connection refused\"])", contentLine},
		{"error = '503 Service Unavailable'", contentLine},
		{"    'ECONNRESET',", contentLine},
		{"reason: connection reset", plainLine},
		{"ERROR: output 'a.zip' was not created", handledLine},
		{"no such node right now", passingLine},
		{"./m.go:3:14: declared and not used: timeout", contentLine},
		{"  40:33  error  'ECONNRESET' is never used  no-unused-vars", contentLine},
		{"--- Expected\n+++ Actual\n@@ @@\n-'504 Gateway Timeout'\n+'connection reset'", contentLine},
		{"1,2c1,2\n< echo operation timed out", contentLine},
		{"AssertionError: expected \"connection refused\", got \"timed out\"", contentLine},
		{"AssertionError: expected 503 to equal 200", plainLine},
		{"a_test.go:3: got i/o timeout, want nil", contentLine},
		{"a_test.go:3: dial tcp 192.0.2.1:443: connection refused", plainLine},
		{"Error: connect ECONNREFUSED 127.0.0.1:80", plainLine},
		{"ok 1 - reconnects after a timeout", contentLine},
		{"    ✓ reconnects after a timeout (2 ms)", contentLine},
		{"tests/test_net.py::test_timeout PASSED", contentLine},
		{"      ^ unexpected EOF", contentLine},
		{"    at connect (net.js:12:3)", contentLine},
		{"  aborted: false,", contentLine},
		{"  \"requestTimeout\": 120000,", contentLine},
		{"    'user-agent': 'client/20.1.2 core/5.2.2',", contentLine},
		{"  _events: { connectionError: [Function (anonymous)] },", contentLine},
		{"  code: 'ECONNREFUSED',", plainLine},
		{"  status: 503,", plainLine},
		{"    Received: 503", plainLine},
		{"--timeout=T\t\t-T T\tthe timeout", contentLine},
		{"npm warn deprecated a@1: retry later", warningLine},
		{"  timedOut: true,", plainLine},
		{"It may be caused by one or more of:\n - wrong password", handledLine},
		{"It may be caused by one or more of:\n - a firewall\n - wrong password", handledLine},
		{"checked:\n - wrong password", plainLine},
		{"[WARNING]: Platform linux on host web1 is using the discovered Python at\n/usr/bin/python3, which is " +
			"not found", handledLine},
		{"[WARNING]: Unable to parse the inventory source in the directory /srv/hosts as a\nsource, permission denied",
			handledLine},
		{"[WARNING]: Unable to parse the inventory source in the directory /srv/hosts as a\nERROR! permission denied",
			plainLine},
		{"[WARNING]: no hosts\nsource, permission denied", plainLine},
	} {
		out := newOutput(nil, []byte(c.text), nil)
		start, end := out.line(len(out.text))
		if got := out.kind(start, end); got != c.want {
			t.Errorf("%q is of kind %q, want %q", c.text, got, c.want)
		}
	}
}

// TestShapesAreValid: every block of lines.kinds has a known kind, conditions, and
// patterns that compile.
func TestShapesAreValid(t *testing.T) {
	list, err := parseShapes(kindsFile, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		if len(s.patterns()) == len(s.conditions[1]) {
			t.Errorf("%s: a block without a condition", s.kind)
		}
		if !slices.Contains([]lineKind{contentLine, handledLine, retriedLine, stepLine, warningLine, passingLine},
			s.kind) {
			t.Errorf("%q is no kind", s.kind)
		}
	}
	for _, bad := range []string{"lines content\nbeside x\n", "match x\n", "lines content\nmatch (\n"} {
		if _, err := parseShapes(bad, nil); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}

// TestRefusalsThatPass: what is not allowed right now is no refusal.
func TestRefusalsThatPass(t *testing.T) {
	table := BuiltIn()
	failure := func(line string) Failure {
		return Failure{Argv: []string{"frob"}, Result: attempt.Result{ExitCode: 1}, Stderr: []byte(line)}
	}
	for _, c := range []struct {
		now, ever string
	}{
		{"cannot change the volume until the copy has ended", "cannot change the volume"},
		{"no such node right now", "no such node"},
		{"the key is already being removed, not found", "the key is not found"},
		{"forbidden: no new content in namespace a because it is being terminated",
			"forbidden: no new content in namespace a"},
		{"login is not permitted in the current state: access denied", "login is not permitted: access denied"},
		{"role \"app\" does not exist yet", "role \"app\" does not exist"},
		{"access denied while a migration is in progress", "access denied to a migration"},
	} {
		if now, ever := table.Judge(failure(c.now)).Verdict,
			table.Judge(failure(c.ever)).Verdict; now == event.Permanent || ever != event.Permanent {
			t.Errorf("%q is %s, and %q %s", c.now, now, c.ever, ever)
		}
	}
	if j := table.Judge(failure("write failed at the moment: no space left on device")); j.Verdict != event.Permanent {
		t.Errorf("decisive evidence counts there too: %+v", j)
	}
}

// TestMinifiedSource: a long line of source that Node.js shows, with the marks below
// it cut off, does not keep the rules from reading the lines above it.
func TestMinifiedSource(t *testing.T) {
	source := strings.Repeat("catch(e){throw Error('cannot connect: timeout, not found, denied')}", 150)
	text := "Error: connect ECONNREFUSED 192.0.2.1:80\n" + source + "\n" + strings.Repeat(" ", 1000) +
		"\n\nNode.js v20.20.2\n"
	j := BuiltIn().Judge(Failure{Argv: []string{"frob"}, Result: attempt.Result{ExitCode: 1}, Stderr: []byte(text)})
	if j.Rule != "net-refused" {
		t.Errorf("%+v", j)
	}
}

// patterns returns all of the shape's patterns.
func (s *shape) patterns() []*pattern { return slices.Concat(s.conditions[:]...) }

// TestRecovery: a fault is overcome if a line further down says that the same thing is back.
func TestRecovery(t *testing.T) {
	for _, c := range []struct {
		later string
		want  lineKind
	}{
		{"connected", handledLine},
		{"the connection is up again, reconnected", handledLine},
		{"db:5432 is ready", handledLine},
		{"db connected", handledLine},
		{"cache is ready", plainLine},
		{"queue: connected", plainLine},
		{"2 workers are up", plainLine},
		{"migrating", plainLine},
	} {
		out := newOutput(nil, []byte("migrate: dial tcp db:5432: connection refused\nstep\n"+c.later+"\n"), nil)
		start, end := out.line(0)
		if got := out.kind(start, end); got != c.want {
			t.Errorf("before %q the fault is of kind %q, want %q", c.later, got, c.want)
		}
	}
	out := newOutput(nil, []byte("connection refused\ndb:5432 is ready\n"), nil)
	start, end := out.line(0)
	if got := out.kind(start, end); got != handledLine {
		t.Errorf("a fault that names nothing is of kind %q", got)
	}
}
