package classify

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/retrysh/retry/engine/event"
	"github.com/retrysh/retry/testdata/tries"
)

// This file measures how far the verdict depends on what stands around the failure in a real
// log. Each failure is judged as it is, and in seven disturbed forms. testdata/robustness
// prints the table. Of the corpus, which is large, a plain run judges each failure in
// a third of the forms.

// handledBefore are faults that a tool met and overcame before it failed, as the tools
// write them.
var handledBefore = []string{
	"Fetching https://cache.test/v3\ncurl: (28) Operation timed out after 5000 milliseconds\nattempt 1 failed, " +
		"retrying in 2s\nok\n",
	"request timed out\nattempt 1 failed, retrying in 2s\nattempt 2\nok\n",
	"npm http fetch GET https://registry.test/left-pod attempt 1 failed with ECONNRESET\nnpm http fetch GET 200 " +
		"https://registry.test/left-pod 812ms\n",
	"WARNING: Retrying (Retry(total=4, connect=None, read=None, redirect=None, status=None)) after connection " +
		"broken by 'ReadTimeoutError(\"HTTPSConnectionPool(host='pypi.test', port=443): Read timed out. (read " +
		"timeout=15)\")': /simple/requests/\nCollecting requests\n  Downloading " +
		"requests-2.32.3-py3-none-any.whl (64 kB)\n",
	"curl: (56) Recv failure: Connection reset by peer\nWarning: Problem (retrying all errors). Will retry in 1 " +
		"second. 2 retries left.\n100  1024  100  1024    0     0   8192      0 --:--:-- --:--:-- --:--:--  8192\n",
	"Warning: Problem: timeout. Will retry in 2 seconds. 3 retries left.\n100  1024  100  1024    0     0   " +
		"8192      0 --:--:-- --:--:-- --:--:--  8192\n",
	"--2026-11-28 10:00:00--  https://files.test/a.tgz\nConnecting to files.test:443... failed: Connection " +
		"timed out.\nRetrying.\n\n--2026-11-28 10:00:21--  (try: 2)  https://files.test/a.tgz\nConnecting to " +
		"files.test:443... connected.\nHTTP request sent, awaiting response... 200 OK\n",
	"[WARNING] I/O exception (java.net.SocketException) caught when processing request to " +
		"{s}->https://repo.test:443: Connection reset\n[INFO] Retrying request to {s}->https://repo.test:443\n" +
		"Downloaded from central: https://repo.test/maven2/a.pom (2 kB at 12 kB/s)\n",
	"Downloading https://services.test/gradle-8.10-bin.zip\nConnect timed out\nRetrying download (attempt 2 of " +
		"3)\n...10%...50%...100%\n",
	"time=\"2026-11-28T10:00:00Z\" level=warning msg=\"request failed, retrying\" error=\"dial tcp " +
		"10.0.0.1:443: i/o timeout\" attempt=1\ntime=\"2026-11-28T10:00:02Z\" level=info msg=\"request done\"\n",
	"    Updating crates.io index\nwarning: spurious network error (3 tries remaining): [28] Timeout was " +
		"reached (Operation timed out after 30001 milliseconds with 0 out of 0 bytes received)\n  Downloaded " +
		"serde v1.0.210\n",
	"a1b2c3d4e5f6: Pulling fs layer\nreceived unexpected HTTP status: 503 Service Unavailable\na1b2c3d4e5f6: " +
		"Retrying in 5 seconds\na1b2c3d4e5f6: Pull complete\n",
	"2026-11-28T10:00:00.000Z [DEBUG] GET https://registry.test/v1/providers (status: 503): retrying in 1s (3 " +
		"left)\n- Installed hashicorp/aws v5.70.0 (signed by HashiCorp)\n",
	"botocore.exceptions.ReadTimeoutError: Read timeout on endpoint URL: \"https://s3.test/b\"\nRetry needed, " +
		"retrying request after delay of: 0.8\n",
	"Encountered transient error: 503 Service Unavailable\nINFO 1128 100000 retry_util.py] Retrying request, " +
		"attempt #1...\n",
	"FAILED - RETRYING: [web1]: wait for the api (3 retries left).\nok: [web1]\n",
	"error: RPC failed; HTTP 503 curl 22 The requested URL returned error: 503\nfatal: the remote end hung up " +
		"unexpectedly\nThe process '/usr/bin/git' failed with exit code 128\nWaiting 17 seconds before trying " +
		"again\nFrom https://git.test/acme/shop\n * branch            main       -> FETCH_HEAD\n",
	"Ign:1 http://deb.test/debian bookworm InRelease\n  Temporary failure resolving 'deb.test'\nGet:1 " +
		"http://deb.test/debian bookworm InRelease [151 kB]\nFetched 151 kB in 2s (75 kB/s)\n",
	"WARNING:urllib3.connectionpool:Retrying (Retry(total=2, connect=None, read=None, redirect=None, " +
		"status=None)) after connection broken by 'NewConnectionError('<urllib3.connection.HTTPSConnection " +
		"object at 0x7f>: Failed to establish a new connection: [Errno 111] Connection refused')': /v1/items\n",
	"WARNING:app:Retrying app.fetch in 2.0 seconds as it raised ConnectTimeout: timed out.\nINFO:app:fetched 12 items\n",
	"retry: exit 28: no answer came in time; next try in 1.2s\nretry: succeeded after 2 attempts of curl " +
		"https://cache.test\n",
	"info There appears to be trouble with your network connection. Retrying...\n[2/4] Fetching packages...\n",
	" WARN  GET https://registry.test/left-pod error (ETIMEDOUT). Will retry in 10 seconds. 2 retries left.\n" +
		"Progress: resolved 12, reused 12, downloaded 0, added 12, done\n",
	"Retrying download gem from https://gems.test/ due to error (2/4): Bundler::HTTPError Could not download " +
		"gem from https://gems.test/ due to underlying error <Net::ReadTimeout>\nFetching rake 13.2.1\n",
	"[MIRROR] a.rpm: Curl error (28): Timeout was reached for https://mirror.test/a.rpm [Operation too slow]\n" +
		"Trying other mirror.\n(1/3): a.rpm                                     1.2 MB/s | 100 kB     00:00\n",
	"Unable to connect to the server: dial tcp 10.0.0.1:6443: i/o timeout\nwaiting 5s and trying again\nNAME   " +
		"STATUS\nweb    Ready\n",
	"db:5432 - no response\nconnection refused\nwaiting for db...\ndb:5432 - accepting connections\n",
	"Download failed: connect ETIMEDOUT 192.0.2.4:443. Retrying in 12 seconds...\nDownload done\n",
	"fetch failed: ECONNRESET (attempt 1/3)\nattempt 2/3\ndone\n",
	"Connection refused\nAttempt 1 failed! Trying again in 5 seconds...\nConnected to db:5432\n",
	"Retry 1/3 exited 7, retrying in 1 seconds...\nRetry 2/3 succeeded\n",
	"    Failed to download psr/log from dist: curl error 28 while downloading https://api.test/z: Operation " +
		"timed out\n    Now trying to download from source\n  - Installing psr/log (3.0.2): Cloning f16e1d5863\n",
	"CondaHTTPError: HTTP 000 CONNECTION FAILED for url <https://conda.test/a.json>\nConnection error, will " +
		"retry\nSolving environment: done\n",
	"Err: socket hang up\nretrying (1 of 5) after 1000ms\n200 OK\n",
}

// harmlessBefore are complaints of a step that was not needed.
var harmlessBefore = []string{
	"ls: cannot access 'dist': No such file or directory\nbuilding from scratch\n",
	"cat: .version: No such file or directory\nVersion 0.0.0\n",
	"rm: cannot remove 'build': No such file or directory\nCleaned\n",
	"mkdir: cannot create directory 'out': File exists\nStarting\n",
	"fatal: No names found, cannot describe anything.\nVersion 0.0.0-dev\n",
	"grep: .env: No such file or directory\nno settings of your own\n",
	"cp: cannot stat 'cache.tgz': No such file or directory\nno cache\n",
	"chmod: changing permissions of '/srv/a': Operation not permitted\nnext step\n",
	"./build.sh: line 3: module: command not found\nBuilding with the system's compiler\n",
	"./build.sh: 3: nvm: not found\nnode v20.20.2\n",
	"./build.sh: line 4: kill: (1234) - No such process\nStarting the server\n",
	"Error: No such container: shop-test\nStarting a new one\n",
	"Error response from daemon: network with name shop already exists\nUsing it\n",
	"id: 'app': no such user\nAdding user app\n",
	"stty: 'standard input': Inappropriate ioctl for device\nworking\n",
	"WARNING: Skipping shop as it is not installed.\nProceeding\n",
	"touch: cannot touch '/etc/stamp': Permission denied\ngoing on\n",
	"find: '/proc/1/task': Permission denied\n12 files\n",
	"error: pathspec 'release' did not match any file(s) known to git\nSwitched to a new branch 'release'\n",
	"which: no java in (/usr/bin:/bin)\nUsing the bundled runtime\n",
}

// loggers are beginnings of the lines of logs. %d counts the seconds.
var loggers = []string{
	"2026-11-28T10:15:%02d.123Z ", "2026-11-28 10:15:%02d,123 INFO  ", "[2026-11-28 10:15:%02d] [ERROR] ",
	"10:15:%02d ERROR ", "2026/11/28 10:15:%02d ",
	"2026-11-28T10:15:%02d.1234567Z ERROR: ", "[10:15:%02d] INFO: ", "Nov 28 10:15:%02d build-3 deploy[411]: ",
	"2026-11-28 10:15:%02d [info] ", "[2026-11-28T10:15:%02d+01:00] ",
}

var list = flag.String("list", "",
	"print the failures that are judged wrong in the column of this letter (as is: a is \"as\")")

// A disturbance changes what says nothing of the cause; i counts the failures.
type disturbance struct {
	name   string
	change func(f *Failure, i int)
}

var disturbances = []disturbance{
	{"as is", func(*Failure, int) {}},
	{"a handled fault above", func(f *Failure, i int) { above(f, handledBefore[i%len(handledBefore)]) }},
	{"b harmless complaint above", func(f *Failure, i int) { above(f, harmlessBefore[i%len(harmlessBefore)]) }},
	{"c streams exchanged", func(f *Failure, _ int) { f.Stdout, f.Stderr = f.Stderr, f.Stdout }},
	{"d ./deploy.sh, exit 1", func(f *Failure, _ int) {
		f.Argv = []string{"./deploy.sh"}
		f.Result.ExitCode = 1
		f.Result.Signal = ""
	}},
	{"e last five lines", func(f *Failure, _ int) {
		f.Stdout = lastLines(f.Stdout)
		f.Stderr = lastLines(f.Stderr)
	}},
	{"f time stamps and levels", func(f *Failure, i int) {
		stamp := func(text []byte) []byte {
			return eachLine(text, func(n int, line string) string {
				return fmt.Sprintf(loggers[i%len(loggers)], n%60) + line
			})
		}
		f.Stdout = stamp(f.Stdout)
		f.Stderr = stamp(f.Stderr)
	}},
	{"g colours", func(f *Failure, i int) {
		paint := func(text []byte) []byte {
			return eachLine(text, func(_ int, line string) string {
				word, rest, _ := strings.Cut(line, " ")
				return "\x1b[1;31m" + word + "\x1b[0m \x1b[33m" + rest + "\x1b[m"
			})
		}
		f.Stdout = paint(f.Stdout)
		f.Stderr = paint(f.Stderr)
	}},
}

// above puts lines before the output of the stream that has the failure's last word.
func above(f *Failure, lines string) {
	if len(f.Stderr) > 0 || len(f.Stdout) == 0 {
		f.Stderr = append([]byte(lines), f.Stderr...)
	} else {
		f.Stdout = append([]byte(lines), f.Stdout...)
	}
}

func lastLines(text []byte) []byte {
	lines := strings.SplitAfter(strings.TrimRight(string(text), "\n"), "\n")
	return []byte(strings.Join(lines[max(0, len(lines)-5):], ""))
}

func eachLine(text []byte, change func(n int, line string) string) []byte {
	if len(text) == 0 {
		return nil
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	for n, line := range lines {
		lines[n] = change(n, line)
	}
	return []byte(strings.Join(lines, "\n") + "\n")
}

func TestRobustness(t *testing.T) {
	var table strings.Builder
	if testing.Short() {
		t.Skip("judges thousands of failures")
	}
	every := tries.Every(3)
	for _, name := range []string{"ordinary", "everyday", "corpus"} {
		records := readSet(t, name)
		fmt.Fprintf(&table, "\n%-28s %s\n", name, "right  transients stopped  permanents retried")
		asIs := make([]rates, len(disturbances)) // the same failures, undisturbed
		now := make([]rates, len(disturbances))
		for i, r := range records {
			if r.Label != "transient" && r.Label != "permanent" {
				continue
			}
			undisturbed := judged(r.failure()).Verdict
			for n, d := range disturbances {
				if name == "corpus" && n > 0 && (i+n)%every > 0 {
					continue
				}
				f := r.failure()
				d.change(&f, i)
				j := judged(f)
				asIs[n].add(r.Label, undisturbed)
				now[n].add(r.Label, j.Verdict)
				if wrong := (j.Verdict == event.Permanent) != (r.Label == "permanent"); wrong && *list != "" &&
					strings.HasPrefix(d.name, *list+" ") {
					t.Logf("%s %s: %s by %q, labelled %s: %q %d %q", name, r.ID, j.Verdict, j.Rule, r.Label, r.Argv,
						i, j.line())
				}
			}
		}
		for n, d := range disturbances {
			now := now[n]
			fmt.Fprintf(&table, "%-28s %.3f  %d of %d  %d of %d\n", d.name, now.right(), now.stopped, now.transient,
				now.retried, now.permanent)
			most := 0.03
			if d.name[0] == 'd' || d.name[0] == 'e' {
				most = 0.06
			}
			if lost := asIs[n].right() - now.right(); lost > most {
				t.Errorf("%s, %s: %.1f points are lost", name, d.name, 100*lost)
			}
		}
	}
	t.Log(table.String())
}

func (j *Judgement) line() string {
	if len(j.Matches) == 0 {
		return ""
	}
	return j.Matches[0].Line
}
