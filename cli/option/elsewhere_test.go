package option

import (
	"strings"
	"testing"
)

// TestForeignFlags: an unknown flag of another program is answered with the line to paste.
func TestForeignFlags(t *testing.T) {
	for line, want := range map[string]string{
		"--retries 3 true": `unknown flag "--retries", did you mean "-n 4"? write: ` +
			`retry -n 4 -- true`,
		"--retries=3 -- make -k": `unknown flag "--retries=3", did you mean "-n 4"? write: ` +
			`retry -n 4 -- make -k`,
		"--max_attempts 3 true": `unknown flag "--max_attempts", did you mean "-n 3"? write: ` +
			`retry -n 3 -- true`,
		"-r 3 true": `unknown flag "-r", did you mean "-n 4"? write: retry -n 4 -- true`,
		"--retries -1 true": `unknown flag "--retries", did you mean "-n 0"? write: ` +
			`retry -n 0 -- true`,
		"--retries":        `unknown flag "--retries", did you mean "-n VALUE"?`,
		"--retries x true": `unknown flag "--retries", did you mean "-n VALUE"?`,
		"--delay 5 true": `unknown flag "--delay", did you mean "--delays 5"? write: ` +
			`retry --delays 5 -- true`,
		"--every 5 true": `unknown flag "--every", did you mean "--delays 5"? write: ` +
			`retry --delays 5 -- true`,
		"-d 5 true": `unknown flag "-d", did you mean "--delays 5"? write: retry ` +
			`--delays 5 -- true`,
		"--retries 3 --delay 5 -v true": `unknown flag "--retries", did you mean "-n 4"? write: ` +
			`retry -n 4 --delays 5 -v -- true`,
		"--retries 3 --nope true": `unknown flag "--retries", did you mean "-n 4"?`,
		"--wait 5 true": `unknown flag "--wait", did you mean "--delays 5"? write: ` +
			`retry --delays 5 -- true`,
		"--wait tcp://db:5432 true": `unknown flag "--wait", did you mean "--wait-for ` +
			`tcp://db:5432"? write: retry --wait-for tcp://db:5432 -- true`,
		"--forever true": `unknown flag "--forever", did you mean "-n 0"? write: ` +
			`retry -n 0 -- true`,
		"--linear true": `unknown flag "--linear", did you mean "--backoff linear"? ` +
			`write: retry --backoff linear -- true`,
		"--exponential true": `unknown flag "--exponential", exponential backoff is the ` +
			`default; leave it out; write: retry -- true`,
		"--timeout-minutes 5 true": `unknown flag "--timeout-minutes", did you mean "--timeout ` +
			`5m"? write: retry --timeout 5m -- true`,
		"--randomization-factor 0.5 true": `unknown flag "--randomization-factor", did you mean ` +
			`"--jitter 50%"? write: retry --jitter 50% -- true`,
		"--randomization-factor 1 true": `unknown flag "--randomization-factor", did you mean ` +
			`"--jitter 100%"? write: retry --jitter 100% -- true`,
		"--randomization-factor 0 true": `unknown flag "--randomization-factor", did you mean ` +
			`"--jitter 0%"? write: retry --jitter 0% -- true`,
		"--randomization-factor 1.5 true": `unknown flag "--randomization-factor", did you mean ` +
			`"--jitter VALUE"?`,
		"--randomization-factor x true": `unknown flag "--randomization-factor", did you mean ` +
			`"--jitter VALUE"?`,
		"--retries 0 true": `unknown flag "--retries", did you mean "-n 1"? write: retry -n 1 -- true`,
		"-t 9s --delay 5 true": `unknown flag "--delay", did you mean "--delays 5"? write: retry -t 9s ` +
			`--delays 5 -- true`,
		"--delay 5 -n": `unknown flag "--delay", did you mean "--delays 5"?`,
		"--delay 5 --": `unknown flag "--delay", did you mean "--delays 5"?`,
		"--max-elapsed-time 10m true": `unknown flag "--max-elapsed-time", did you mean "-n 0 --deadline 10m"? ` +
			`write: retry -n 0 --deadline 10m -- true`,
		"--until success true": `unknown flag "--until", did you mean "-n 0"? write: retry -n 0 -- true`,
		"--until true": `unknown flag "--until", did you mean "-n 0" or "--until-stdout REGEX" or ` +
			`"--until-failure"?`,
		"--notify ./n.sh true": `unknown flag "--notify", did you mean "--after-give-up ./n.sh"? write: retry ` +
			`--after-give-up ./n.sh -- true`,
		"--lock -- true": `unknown flag "--lock", did you mean "--key NAME --max-concurrent 1,of=runs" or ` +
			`"--key NAME --max-concurrent 1,of=runs,wait=10m"?`,
		"--ps": `unknown flag "--ps", did you mean "--status"?`,
		// names whose words are parted in another way, or stand behind one dash
		"--maxRetries 3 true": `unknown flag "--maxRetries", did you mean "-n 4"? write: retry -n 4 -- true`,
		"--retrydelay=5 true": `unknown flag "--retrydelay=5", did you mean "--delays 5"? write: retry --delays 5 -- true`,
		"--RestartSec=5 true": `unknown flag "--RestartSec=5", did you mean "--delays 5"? write: retry --delays 5 -- true`,
		"--onExit 3 true":     `unknown flag "--onExit", did you mean "--on-exit"? write: retry --on-exit 3 -- true`,
		"-sleep 5s true":      `unknown flag "-sleep", did you mean "--delays 5s"? write: retry --delays 5s -- true`,
		"-timeout 30s true":   `unknown flag "-timeout", did you mean "--timeout"? write: retry --timeout 30s -- true`,
		"-consecutive 3 true": `unknown flag "-consecutive", did you mean "--consecutive"? ` +
			`write: retry --consecutive 3 -- true`,
		"-consecutive=3 true": `unknown flag "-consecutive=3", did you mean "--consecutive"? ` +
			`write: retry --consecutive=3 -- true`,
		"-n 2 -sleep 5s true": `unknown flag "-sleep", did you mean "--delays 5s"? write: retry -n 2 --delays 5s -- true`,
		"-count 3 true":       `unknown flag "-count", did you mean "-n 3"? write: retry -n 3 -- true`,
		"-attempts 3 -sleep 5s -task-time 30s true": `unknown flag "-attempts", did you mean "--attempts"? write: ` +
			`retry --attempts 3 --delays 5s --timeout 30s -- true`,
		"--n 3 true": `unknown flag "--n", did you mean "-n"? write: retry -n 3 -- true`,
		"--t=5 true": `unknown flag "--t=5", did you mean "-t"? write: retry -t 5 -- true`,
		// a letter and its capital are two names
		"-T 5 true":      `unknown flag "-T", did you mean "--timeout 5"? write: retry --timeout 5 -- true`,
		"-I true":        `unknown flag "-I", did you mean "--stdin replay"? write: retry --stdin replay -- true`,
		"-D 5 true":      `unknown flag "-D"; write -- before a command that begins with a dash`,
		"-u fail true":   `unknown flag "-u", did you mean "--until-failure"? write: retry --until-failure -- true`,
		"-m 30 true":     `unknown flag "-m", did you mean "--timeout 30"? write: retry --timeout 30 -- true`,
		"-m backup true": `unknown flag "-m", did you mean "--name backup"? write: retry --name backup -- true`,
		// curl's limits hold together
		"--retry 3 --retry-max-time 60 true": `unknown flag "--retry", did you mean "-n 4"? write: ` +
			`retry -n 4 --deadline 60 -- true`,
		// a number behind a switch is no command
		"--forever 3 true":    `unknown flag "--forever", did you mean "-n 0"?`,
		"--forever x -- true": `unknown flag "--forever", did you mean "-n 0"?`,
		"--retries 3 a -- b":  `unknown flag "--retries", did you mean "-n 4"? write: retry -n 4 -- a -- b`,
		"-r 5m true":          `unknown flag "-r", did you mean "--reset-after 5m"? write: retry --reset-after 5m -- true`,
		"--loop 3 true":       `unknown flag "--loop", did you mean "-n 3"? write: retry -n 3 -- true`,
		// the flag of a mode, and what was probably meant for a run
		"--rate 5/s true": `unknown flag "--rate"; it belongs to --redrive, did you mean "--key NAME --rate-limit ` +
			`5/s"? write: retry --key NAME --rate-limit 5/s -- true`,
		"--dry-run true": `unknown flag "--dry-run"; it belongs to --redrive, did you mean "--plan"? ` +
			`write: retry --plan -- true`,
		"--older-than 3d": `unknown flag "--older-than"; it belongs to --discard`,
		// no secret is shown
		"--retries 3 curl -u me:S3cret http://a/b": `unknown flag "--retries", did you mean "-n 4"?`,
	} {
		if _, err := Read(strings.Fields(line), nil); err == nil || err.Error() != want {
			t.Errorf("%s\n got %v\nwant %s", line, err, want)
		}
	}
	for _, line := range [][]string{{"--timeout 30s", "true"}, {"--on-exit 75,111"}} {
		if _, err := Read(line, nil); err == nil ||
			!strings.Contains(err.Error(), "is a flag and its value in one word; write two, "+line[0]) {
			t.Errorf("%q: %v", line, err)
		}
	}
}

// sampleValues are values of all kinds that flags have.
var sampleValues = []string{"3", "5s", "0.5", "50%", "tcp://db:5432", "db:5432", "https://a.example", "/dir/f",
	"word", "TERM", "5/s", "timeout", "json"}

// TestForeignTable: each name of elsewhere.txt is none of ours, and what is to be written
// for it can be read.
func TestForeignTable(t *testing.T) {
	names := map[string]bool{}
	for line := range strings.Lines(elsewhere) {
		all, entry, isEntry := strings.Cut(strings.TrimSpace(line), ": ")
		if !isEntry || strings.HasPrefix(line, "#") {
			continue
		}
		for entryName := range strings.FieldsSeq(all) {
			if names[entryName] {
				t.Errorf("%s stands twice", entryName)
			}
			names[entryName] = true
			name, form, _ := strings.Cut(entryName, "=")
			word := "--" + name
			if len(name) == 1 {
				word = "-" + name
			}
			if _, _, ours := flagsOf(Table(), word); ours {
				t.Errorf("%s is a flag of this program", word)
			}
			if strings.HasPrefix(entry, "(") || strings.Contains(entry, " or ") ||
				strings.HasPrefix(entry, "--status") || strings.HasPrefix(entry, "--cancel") ||
				strings.HasPrefix(entry, "--help") || strings.HasPrefix(entry, "--version") ||
				strings.HasPrefix(entry, "--completion") {
				continue
			}
			samples := sampleValues
			if form != "" && !strings.HasPrefix(form, "<") {
				samples = []string{form}
			}
			if !acceptsOneOf(word, samples) {
				t.Errorf("%s: no value gives a line that can be read; it is answered with %q", word, entry)
			}
		}
	}
	if len(names) < 150 {
		t.Errorf("only %d names", len(names))
	}
}

// acceptsOneOf reports whether a foreign flag, alone or with one of the values, is answered
// with a whole line, which pasteable has read.
func acceptsOneOf(word string, values []string) bool {
	if pasteable([]string{word, "--", "true"}) != "" {
		return true
	}
	for _, value := range values {
		if pasteable([]string{word, value, "--", "true"}) != "" {
			return true
		}
	}
	return false
}

// TestVariablesOfOtherNames: a variable that another program's flag would have is answered
// with ours, and its value.
func TestVariablesOfOtherNames(t *testing.T) {
	for entry, want := range map[string]string{
		"RETRY_RETRIES=3": "RETRY_ATTEMPTS=4", "RETRY_INTERVAL=5": "RETRY_DELAYS=5",
		"RETRY_MAX_DELAY=1m": "RETRY_CAP=1m", "RETRY_MAXRETRIES=3": "RETRY_ATTEMPTS=4",
		"RETRY_FOREVER=1": "RETRY_ATTEMPTS=0", "RETRY_TIMOUT=5": "RETRY_TIMEOUT",
	} {
		lines := Misnamed([]string{entry})
		if len(lines) != 1 || !strings.HasSuffix(lines[0], "did you mean "+want+"?") {
			t.Errorf("%s: %q", entry, lines)
		}
	}
}

// A name of another program is that of one flag here.
func TestCalledHere(t *testing.T) {
	for name, want := range map[string]string{
		"retries": "attempts", "--delay": "delays", "maxRetries": "attempts", "lock": "max-concurrent",
		"RETRY_INTERVAL": "delays", "retry-max-time": "deadline", "http": "wait-for", "-d": "delays",
		"exponential": "", "nope": "", "": "",
	} {
		if got := CalledHere(name); got != want {
			t.Errorf("%q is %q here, want %q", name, got, want)
		}
	}
}
