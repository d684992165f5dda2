package classify

import (
	"slices"
	"strings"
	"testing"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/engine/classify/command"
	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/testdata/tries"
)

func TestJudge(t *testing.T) {
	for _, c := range []struct {
		name           string
		argv           string
		result         attempt.Result
		stdout, stderr string
		verdict        event.Verdict
		rule           string
		codeOnly       bool
	}{
		{name: "the code says all", argv: "curl x", result: attempt.Result{ExitCode: 7}, verdict: event.Transient,
			rule: "curl-code-transient", codeOnly: true},
		{name: "the same code of another tool", argv: "x", result: attempt.Result{ExitCode: 7}, verdict: event.Unknown},
		{name: "exit 1 alone says nothing", argv: "deploy", result: attempt.Result{ExitCode: 1},
			verdict: event.Unknown},
		{name: "exit 0 whose output was rejected", argv: "deploy", result: attempt.Result{}, verdict: event.Unknown},
		{name: "75 by sysexits", argv: "deploy", result: attempt.Result{ExitCode: 75}, verdict: event.Transient,
			rule: "sysexits-tempfail", codeOnly: true},
		{name: "75 of grpcurl is OutOfRange", argv: "grpcurl x", result: attempt.Result{ExitCode: 75},
			verdict: event.Permanent, rule: "grpcurl-code-permanent", codeOnly: true},
		{name: "not found", argv: "x", result: attempt.Result{ExitCode: 127}, verdict: event.Permanent,
			rule: "exec-codes", codeOnly: true},
		{name: "a crash", argv: "x", result: attempt.Result{ExitCode: 139, Signal: "SIGSEGV"},
			verdict: event.Permanent, rule: "crash", codeOnly: true},
		{name: "a crash seen by a shell", argv: "x", result: attempt.Result{ExitCode: 139}, verdict: event.Permanent,
			rule: "crash", codeOnly: true},
		{name: "killed", argv: "x", result: attempt.Result{ExitCode: 137, Signal: "SIGKILL"}, verdict: event.Unknown,
			rule: "signal-kill", codeOnly: true},
		{name: "timed out", argv: "x", result: attempt.Result{ExitCode: 124, TimedOut: true},
			verdict: event.Transient, rule: "attempt-timeout", codeOnly: true},
		{name: "the last error decides", argv: "x", result: attempt.Result{ExitCode: 1},
			stderr: "connect to ::1: Connection refused\nHTTP/1.1 404 Not Found\n", verdict: event.Permanent,
			rule: "http-client-error"},
		{name: "the last error decides, turned round", argv: "x", result: attempt.Result{ExitCode: 1},
			stderr: "HTTP/1.1 404 Not Found\nconnect to b: Connection refused\n", verdict: event.Transient,
			rule: "net-refused"},
		{name: "the generic last line does not", argv: "x", result: attempt.Result{ExitCode: 1},
			stderr:  "dial tcp: connection refused\nfatal: project not found\nexit status 1\n",
			verdict: event.Transient, rule: "net-refused"},
		{name: "a 403 with a rate limit", argv: "x", result: attempt.Result{ExitCode: 22},
			stdout: "{\"message\":\"API rate limit exceeded\"}", stderr: "HTTP/1.1 403 Forbidden\n",
			verdict: event.Transient, rule: "http-rate-limit"},
		{name: "a 404 with a limit that is not reached", argv: "x", result: attempt.Result{ExitCode: 1},
			stderr:  "HTTP/1.1 404 Not Found\nx-ratelimit-remaining: 59\nx-ratelimit-reset: 9\n",
			verdict: event.Permanent, rule: "http-client-error"},
		{name: "a full disk decides from anywhere", argv: "x", result: attempt.Result{ExitCode: 1},
			stderr: "write: No space left on device\nconnection reset by peer\n", verdict: event.Permanent,
			rule: "disk-full"},
		{name: "a warning does not count in full", argv: "x", result: attempt.Result{ExitCode: 1},
			stderr:  "open a.txt: no such file or directory\nwarning: telemetry: connection refused\n",
			verdict: event.Permanent, rule: "file-missing-errno"},
		{name: "a warning that a server was away explains what is not found", argv: "x",
			result:  attempt.Result{ExitCode: 1},
			stderr:  "Warning: failed to download http://a.test/index\nError: no package found\n",
			verdict: event.Transient, rule: "net-connect-failed"},
		{name: "a vague refusal that was handled does not count", argv: "x", result: attempt.Result{ExitCode: 1},
			stderr: "No configurations were provided -- using built in ones\nterminated\n", verdict: event.Unknown},
		{name: "advice does not count in full", argv: "x", result: attempt.Result{ExitCode: 1},
			stderr: "if you have permission errors, see the manual\nconnect: connection refused\nif you have " +
				"permission errors, see the manual\n", verdict: event.Transient, rule: "net-refused"},
		{name: "a step of a script that misses what was not fetched", argv: "./get.sh",
			result: attempt.Result{ExitCode: 1},
			stderr: "curl: (7) Failed to connect to h.test port 80: Connection refused\nmv: cannot stat " +
				"'a.part': No such file or directory\n", verdict: event.Transient, rule: "net-refused"},
		{name: "a copy of a file that was never there", argv: "./get.sh", result: attempt.Result{ExitCode: 1},
			stderr: "curl: (7) Failed to connect to h.test port 80: Connection refused\ncp: cannot stat " +
				"'prod.yml': No such file or directory\n", verdict: event.Permanent, rule: "file-missing-errno"},
		{name: "one that came up afterwards", argv: "x", result: attempt.Result{ExitCode: 1},
			stderr: "ConnectionResetError: [Errno 104] Connection reset by peer\n\nTraceback (most recent call " +
				"last):\nFileNotFoundError: [Errno 2] No such file or directory: 'part.tmp'\n",
			verdict: event.Permanent, rule: "file-missing-errno"},
		{name: "an error of S3 that passes, with the status of one that does not", argv: "s5cmd cp",
			result: attempt.Result{ExitCode: 1},
			stderr: "ERROR \"cp f s3://b/f\": RequestTimeout: Your socket connection to the server was not read " +
				"from or written to within the timeout period. status code: 400, request id: 4, host id:\n",
			verdict: event.Transient, rule: "net-timeout"},
		{name: "the status on a line of its own", argv: "x", result: attempt.Result{ExitCode: 1},
			stderr:  "SlowDown: Reduce your rate.\n\tstatus code: 400, request id: 4, host id:\n",
			verdict: event.Transient, rule: "http-rate-limit"},
		{name: "the status on a line of its own, of what no rule knows", argv: "x",
			result: attempt.Result{ExitCode: 1}, stderr: "Frob: no.\n\tstatus code: 400, request id: 4, host id:\n",
			verdict: event.Permanent, rule: "aws-sdk-status"},
		{name: "a help text does not count", argv: "x", result: attempt.Result{ExitCode: 2},
			stderr: "unknown option -z\n  -t, --timeout N  request timeout\n", verdict: event.Permanent,
			rule: "option-unknown"},
		{name: "a usage line is about wrong use only", argv: "x", result: attempt.Result{ExitCode: 2},
			stderr: "Usage: x [-a] [-b] [-c] [-t timeout] file\n", verdict: event.Permanent, rule: "usage-line"},
		{name: "a word of a list is no level of a log", argv: "x", result: attempt.Result{ExitCode: 2},
			stderr: "Error: task must be one of <list | info | verify>\n", verdict: event.Permanent,
			rule: "value-invalid"},
		{name: "colours do not hide", argv: "x", result: attempt.Result{ExitCode: 1},
			stderr: "\x1b[31mconnection\x1b[0m refused\n", verdict: event.Transient, rule: "net-refused"},
		{name: "progress bars do not hide", argv: "x", result: attempt.Result{ExitCode: 1},
			stderr: "10%\r20%\rconnection refused\r", verdict: event.Transient, rule: "net-refused"},
		{name: "psql names the script's line", argv: "psql -f m.sql", result: attempt.Result{ExitCode: 3},
			stderr:  "psql:m.sql:12: ERROR:  could not serialize access due to concurrent update\n",
			verdict: event.Transient, rule: "sql-transient"},
		{name: "psql names the script's line of a mistake", argv: "psql -f m.sql",
			result: attempt.Result{ExitCode: 3}, stderr: "psql:m.sql:12: ERROR:  relation \"x\" does not exist\n",
			verdict: event.Permanent, rule: "sql-permanent"},
		{name: "a line like a compiler's that continues with a lock", argv: "./a.py",
			result: attempt.Result{ExitCode: 1}, stderr: "a.py:88: ERROR: deadlock detected\n",
			verdict: event.Transient, rule: "sql-transient"},
		{name: "a line like a compiler's that continues vaguely", argv: "./deploy.sh",
			result: attempt.Result{ExitCode: 1},
			stderr: "deploy.sh:12: error: health check failed, service not ready yet\n", verdict: event.Transient,
			rule: "net-eagain"},
		{name: "a file's name is no evidence", argv: "./build", result: attempt.Result{ExitCode: 1},
			stderr: "retryable.x:12: error: no field z\n", verdict: event.Permanent, rule: "source-line"},
		{name: "a compiler's line yields to its own line only", argv: "make", result: attempt.Result{ExitCode: 2},
			stderr: "server is busy\nmain.c:3: error: no field z\n", verdict: event.Permanent, rule: "source-line"},
		{name: "a compiler that quotes a word", argv: "make", result: attempt.Result{ExitCode: 2},
			stderr: "main.c:3:5: error: 'retryable' undeclared\n", verdict: event.Permanent, rule: "source-certain"},
		{name: "a compiler's line beats the names of time-outs around it", argv: "javac",
			result: attempt.Result{ExitCode: 1},
			stderr: "ConnectRetry.java:41: error: cannot find symbol\n  throw new " +
				"ConnectTimeoutException(\"connect timed out\");\n  symbol:   class ConnectTimeoutException\n1 error\n",
			verdict: event.Permanent, rule: "source-certain"},
		{name: "a numbered line of the source is no evidence", argv: "cc", result: attempt.Result{ExitCode: 1},
			stderr: "t.c:1:17: error: 'ETIMEDOUT' undeclared (first use in this function)\n    1 | int f(){ " +
				"return ETIMEDOUT; }\n      |                 ^~~~~~~~~\n", verdict: event.Permanent,
			rule: "source-certain"},
		{name: "nor is a marked one", argv: "javac", result: attempt.Result{ExitCode: 1},
			stderr: "Retry.java:5: error: cannot find symbol\n void x() { fail(\"Read timed out\"); }\n         " +
				"   ^\n1 error\n", verdict: event.Permanent, rule: "source-certain"},
		{name: "nor is one of a traceback", argv: "x", result: attempt.Result{ExitCode: 1},
			stderr:  "  File \"a.py\", line 3, in f\n    raise Broken(\"connection refused\")\n",
			verdict: event.Unknown},
		{name: "what follows a traceback without its source is", argv: "x", result: attempt.Result{ExitCode: 1},
			stderr: "  File \"a.py\", line 3, in f\nBroken: connection refused\n", verdict: event.Transient,
			rule: "net-refused"},
		{name: "a package manager that loads", argv: "composer update", result: attempt.Result{ExitCode: 2},
			stderr: "Loading composer repositories\nYour requirements could not be resolved to an installable " +
				"set of packages.\n", verdict: event.Permanent, rule: "composer-refused"},
		{name: "apt was refused by one of its sources", argv: "apt-get update", result: attempt.Result{ExitCode: 100},
			stderr: "W: Failed to fetch http://m.test/Sources  403  Forbidden [IP: 192.0.2.1 80]\nE: Some index " +
				"files failed to download. They have been ignored, or old ones used instead.\n",
			verdict: event.Permanent, rule: "apt-refused"},
		{name: "a held state lock", argv: "tofu apply", result: attempt.Result{ExitCode: 1},
			stderr: "Error: Error acquiring the state lock\n\nError message: operation error DynamoDB: PutItem, " +
				"https response error\nStatusCode: 400, RequestID: A,\nConditionalCheckFailedException: The " +
				"conditional request failed\nLock Info:\n  ID:        1\n", verdict: event.Transient,
			rule: "terraform-lock-held"},
		{name: "a state lock that may not be taken", argv: "terraform apply", result: attempt.Result{ExitCode: 1},
			stderr: "Error: Error acquiring the state lock\n\nError message: 2 errors occurred:\n\t* writing " +
				"\"gs://b/default.tflock\" failed:\ngoogleapi: Error 403: Access denied., forbidden\n",
			verdict: event.Permanent, rule: "http-client-error"},
		{name: "git over ssh says nothing of the cause", argv: "git fetch", result: attempt.Result{ExitCode: 128},
			stderr: "fatal: Could not read from remote repository.\n\nPlease make sure you have the correct " +
				"access rights\nand the repository exists.\n", verdict: event.Unknown, rule: "git-remote-silent"},
		{name: "git over ssh and the server's word", argv: "git fetch", result: attempt.Result{ExitCode: 128},
			stderr: "ERROR: Repository not found.\nfatal: Could not read from remote repository.\n\nPlease make " +
				"sure you have the correct access rights\nand the repository exists.\n", verdict: event.Permanent,
			rule: "git-auth"},
		{name: "an unusual 4xx", argv: "curl -f x", result: attempt.Result{ExitCode: 22},
			stderr: "curl: (22) The requested URL returned error: 451\n", verdict: event.Permanent,
			rule: "http-client-error"},
		{name: "a runner's own failure", argv: "npx tool", result: attempt.Result{ExitCode: 1},
			stderr: "npm error code E404\n", verdict: event.Permanent, rule: "npm-missing"},
		{name: "one command of a shell is a command", argv: "sh -c curl", result: attempt.Result{ExitCode: 7},
			verdict: event.Transient, rule: "curl-code-transient", codeOnly: true},
		{name: "a refused connection in a step that passed, and an assertion at the end", argv: "x",
			result:  attempt.Result{ExitCode: 1},
			stderr:  "WARN metrics endpoint: connection refused (ignored)\nAssertionError: expected 3 entries, got 4\n",
			verdict: event.Permanent, rule: "assertion"},
		{name: "the name of a test", argv: "x", result: attempt.Result{ExitCode: 1},
			stdout: "not ok 1 refuses the connection after a timeout\n", verdict: event.Permanent, rule: "test-named"},
		{name: "a test that could not reach its server", argv: "x", result: attempt.Result{ExitCode: 1},
			stdout:  "not ok 1 lists the orders\n  Error: connect ECONNREFUSED 127.0.0.1:80\n",
			verdict: event.Transient, rule: "net-refused"},
		{name: "a variable called timeout", argv: "x", result: attempt.Result{ExitCode: 1},
			stdout:  "  12:8   error  'connectTimeout' is defined but never used  no-unused-vars\n",
			verdict: event.Permanent, rule: "source-place"},
		{name: "a quota without end under 429", argv: "x", result: attempt.Result{ExitCode: 1},
			stderr: "Error code: 429 - {'type': 'insufficient_quota'}\n", verdict: event.Permanent, rule: "billing"},
		{name: "a rate limit under 429", argv: "x", result: attempt.Result{ExitCode: 1},
			stderr:  "HTTP 429: Quota exceeded for requests per minute. Please retry in 12s.\n",
			verdict: event.Transient, rule: "http-rate-limit"},
		{name: "a refusal that advises to try again", argv: "x", result: attempt.Result{ExitCode: 1},
			stderr:  "403: Your account has been suspended. Contact billing and try again later.\n",
			verdict: event.Permanent, rule: "billing"},
		{name: "a warning about an optional asset, then a time-out", argv: "x", result: attempt.Result{ExitCode: 1},
			stderr:  "warning: optional asset logo.svg: not found\nerror: upload failed: operation timed out\n",
			verdict: event.Transient, rule: "net-timeout"},
		{name: "a consistency that comes later", argv: "terraform apply", result: attempt.Result{ExitCode: 1},
			stderr: "unexpected new value: Root object was present, but now absent.\n", verdict: event.Unknown,
			rule: "not-visible-yet"},
		{name: "pip in a script, whose index may not have answered", argv: "./build.sh",
			result: attempt.Result{ExitCode: 1},
			stderr: "ERROR: Could not find a version that satisfies the requirement x (from versions: none)\n" +
				"ERROR: No matching distribution found for x\n", verdict: event.Unknown, rule: "pipenv-vague"},
		{name: "a script is no command", argv: "sh -c curl|true", result: attempt.Result{ExitCode: 7},
			verdict: event.Unknown},
	} {
		f := Failure{Argv: strings.SplitN(c.argv, " ", 3), Result: c.result, Stdout: []byte(c.stdout),
			Stderr: []byte(c.stderr)}
		j := BuiltIn().Judge(f)
		if j.Verdict != c.verdict || j.Rule != c.rule || j.CodeOnly != c.codeOnly {
			t.Errorf("%s: %+v, want %s by %q (code only: %v)", c.name, j, c.verdict, c.rule, c.codeOnly)
		}
		if j.Reason == "" {
			t.Errorf("%s: no reason", c.name)
		}
	}
}

// TestFilterMissesNothing compares with holding every pattern against every
// line.
func TestFilterMissesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("works through a corpus on one goroutine")
	}
	table := BuiltIn()
	records := readSet(t, "recordings")
	for i := 0; i < len(records); i += tries.Every(30) {
		f := records[i].failure()
		names, args, script := command.Parts(f.Argv)
		var got, want []string
		out := newOutput(f.Stdout, f.Stderr, nil)
		for _, found := range table.search(f) {
			got = append(got, found.Rule.ID)
		}
		for _, r := range table.Rules() {
			if script {
				r = r.inScript()
			}
			if r.applies(names, args, f.Result) && (len(r.patterns) == 0 || matchesSomewhere(r, out)) {
				want = append(want, r.ID)
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: found %v, without the filter %v", records[i].ID, got, want)
		}
	}
}

func matchesSomewhere(r *Rule, out *output) bool {
	start, text := 0, out.text
	if r.general() {
		text = out.masked
	}
	for line := range strings.SplitSeq(text, "\n") {
		end := start + len(line)
		from := out.stamps.behind(start)
		for _, p := range r.patterns {
			line := text[from:end]
			if slices.ContainsFunc(p.compiled().FindAllStringIndex(line, -1),
				func(at []int) bool { return !r.excepts(line, out.lower[from:end], at[0], at[1]) }) {
				if _, ok := r.weighs(out.kind(from, end)); ok {
					return true
				}
			}
		}
		start = end + 1
	}
	return false
}

func TestPatternWithoutLiteralIsTried(t *testing.T) {
	table, err := ParseRules("mine", []byte("rule short\nmatch ^[A-Z]\\d$\nverdict permanent\nreason a code\n"))
	if err != nil {
		t.Fatal(err)
	}
	f := Failure{Argv: []string{"x"}, Result: attempt.Result{ExitCode: 1}, Stderr: []byte("one\nE4\ntwo\n")}
	if j := table.Judge(f); j.Rule != "short" {
		t.Errorf("got %+v", j)
	}
}

// FuzzJudge: whatever a command writes, the verdict is that of the rule that is
// named, and each match quotes the output.
func FuzzJudge(f *testing.F) {
	f.Add([]byte(""), []byte("x\n  File \"a.py\", line 3\n    connection refused\n ^~~\n 1 | timeout"))
	f.Add([]byte("\x1b[31mHTTP/1.1 503\r\n"), []byte("\rnot found\r^"))
	f.Add([]byte("|\n^"), []byte("1|\xff Connection Reset\n^"))
	f.Fuzz(func(t *testing.T, stdout, stderr []byte) {
		failure := Failure{Argv: []string{"curl"}, Result: attempt.Result{ExitCode: 1}, Stdout: stdout, Stderr: stderr}
		j := BuiltIn().Judge(failure)
		if len(j.Matches) == 0 {
			if j.Verdict != event.Unknown || j.Rule != "" {
				t.Fatalf("%s by %q without a match", j.Verdict, j.Rule)
			}
			return
		}
		if first := j.Matches[0].Rule; j.Rule != first.ID || j.Verdict != first.Verdict {
			t.Fatalf("%s by %q, but the first match is %q", j.Verdict, j.Rule, first.ID)
		}
		text := newOutput(stdout, stderr, nil).text
		for _, m := range j.Matches {
			if !strings.Contains(text, m.Line) {
				t.Fatalf("%q quotes %q", m.Rule.ID, m.Line)
			}
		}
	})
}

func FuzzParseRules(f *testing.F) {
	f.Add("rule a\ntools x y\nexit 1,3-5,KILL\nmatch refused|reset\nunless ok\nverdict transient\nreason r\n",
		"connection refused")
	f.Add("rule a\nmatch (\n", "")
	f.Add("# c\r\n\r\nrule b\r\nexit SIGTERM\r\nverdict unknown\r\nreason x\r\n", "\x1b[31mx")
	f.Add("rule a\nstream stdout\nmatch (?:(?:a|b)c?){2}[x-z]+\nstrength weak\nover b\nverdict permanent\nreason r",
		"acbcx")
	f.Fuzz(func(t *testing.T, data, output string) {
		table, err := ParseRules("f", []byte(data))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f:") {
				t.Errorf("no line in %q", err)
			}
			return
		}
		failure := Failure{Argv: []string{"x"}, Result: attempt.Result{ExitCode: 1}, Stderr: []byte(output)}
		if a, b := table.Judge(failure), table.Judge(failure); a.Rule != b.Rule || a.Verdict != b.Verdict {
			t.Errorf("%+v, then %+v", a, b)
		}
	})
}

// TestWeighIsAnOrder: of three findings, the one that counts for more than the
// second counts for more than what the second does.
func TestWeighIsAnOrder(t *testing.T) {
	if testing.Short() {
		t.Skip("judges thousands of failures")
	}
	table := BuiltIn()
	for _, r := range readSet(t, "recordings") {
		f := r.failure()
		found := table.search(f)
		for i, a := range found {
			for j, b := range found {
				if i < j && weigh(a, b) > 0 || i > j && weigh(a, b) < 0 {
					t.Errorf("%s: %s counts for less than %s, which stands behind it", r.ID, a.Rule.ID, b.Rule.ID)
				}
			}
		}
	}
}

// TestExceptionsOfAClause: what another clause of the line says is no exception, but in a rule
// of the user's.
func TestExceptionsOfAClause(t *testing.T) {
	for _, c := range []struct {
		line    string
		verdict event.Verdict
	}{
		{"open settings.yml: no such file or directory; the server was not started", event.Permanent},
		{"cannot open settings.yml. The server keeps its old settings", event.Permanent},
		{"the request timed out; the fallback is undefined", event.Transient},
		{"could not open a.yml on the server", event.Unknown},
	} {
		f := Failure{Argv: []string{"frob"}, Result: attempt.Result{ExitCode: 1}, Stderr: []byte(c.line + "\n")}
		if j := BuiltIn().Judge(f); j.Verdict != c.verdict {
			t.Errorf("%q: %s by %q, want %s", c.line, j.Verdict, j.Rule, c.verdict)
		}
	}
	mine, err := ParseRules("mine",
		[]byte("rule mine\nmatch timed out\nunless ignored\nverdict permanent\nreason too slow\n"))
	if err != nil {
		t.Fatal(err)
	}
	f := Failure{Argv: []string{"frob"}, Result: attempt.Result{ExitCode: 1}, Stderr: []byte("it timed out; ignored\n")}
	if j := mine.Judge(f); j.Rule != "" {
		t.Errorf("a rule of the user's reads the whole line: %+v", j)
	}
}
