package linematch

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// sixty is what a rule table or a careful user would look for.
var sixty = []string{
	`connection refused`, `(?i)connection reset by peer`, `(?i)timed?[ -]?out`, `Temporary failure in name resolution`,
	`Could not resolve host`, `(?i)too many requests`, `HTTP/[0-9.]+ 50[0234]`, `(?i)service unavailable`,
	`Bad Gateway`,
	`(?i)gateway time-?out`, `no route to host`, `Network is unreachable`, `TLS handshake timeout`, `unexpected EOF`,
	`broken pipe`, `(?i)deadlock (detected|found)`, `could not serialize access`, `(?i)lock wait timeout`,
	`database is locked`, `(?i)rate limit(ed)? exceeded`, `ThrottlingException`, `RequestLimitExceeded`, `SlowDown`,
	`ProvisionedThroughputExceeded`, `ECONNRESET`, `ECONNREFUSED`, `ETIMEDOUT`, `EAI_AGAIN`, `socket hang up`,
	`(?i)internal server error`, `i/o timeout`, `context deadline exceeded`, `(?i)try again later`,
	`Resource temporarily unavailable`, `(?i)remote end hung up`, `RPC failed; (curl|HTTP)`, `early EOF`,
	`Failed to fetch`, `Hash Sum mismatch`, `Could not get lock /var/lib`, `Unable to acquire the dpkg`,
	`permission denied`, `(?i)authentication failed`, `Access Denied`, `(?i)invalid credentials`,
	`No such file or directory`,
	`command not found`, `unknown flag: --\S+`, `(?i)syntax error`, `No space left on device`, `Read-only file system`,
	`certificate (has expired|signed by unknown)`, `x509: `, `404 Not Found`, `(?i)forbidden`, `Unauthorized`,
	`toomanyrequests: `, `(?i)quota exceeded`, `leader (changed|election)`, `etcdserver: .* timed out`,
}

// bare has no word of its own.
var bare = []string{
	`^\d+$`, `\b\d{3} \w{2}\b$`, `[A-Z][a-z]+ [A-Z][a-z]+ [A-Z]\d`, `^\s+at \S+$`, `E\d+:`, `\w+@\w+`,
	`^[[:upper:]]{3,}:`,
	`\d+% `, `[a-f0-9]{32}`, `^\W+$`,
}

// logLines returns about n bytes of lines that look like those of a build or
// a service, none of which matches.
func logLines(n int) []byte {
	rng := rand.New(rand.NewPCG(1, 1))
	form := []string{
		"2026-07-14T%02d:%02d:%02dZ INFO  worker[%d] processed batch %d of orders in %d ms, queue depth %d",
		"%02d:%02d:%02d.%03d DEBUG net.http.client GET /api/v1/items/%d -> 200 (%d bytes) %d",
		"  CC      drivers/net/ethernet/intel/ice/ice_%02d_%02d_%02d.o %d %d %d %d",
		"Jul 14 %02d:%02d:%02d host kernel: [%d.%06d] usb 1-%d: new high-speed device number %d using xhci_hcd",
		"%02d/%02d/%02d %d: downloading https://registry.example.test/pkg/left-pad/-/left-pad-%d.%d.%d.tgz",
	}
	var out strings.Builder
	for out.Len() < n {
		fmt.Fprintf(&out, form[rng.IntN(len(form))]+"\n", rng.IntN(24), rng.IntN(60), rng.IntN(60),
			rng.IntN(1000), rng.IntN(100000), rng.IntN(1000), rng.IntN(90))
	}
	return []byte(out.String())
}

func lowerWords(n int, line int) []byte {
	rng := rand.New(rand.NewPCG(2, 2))
	b := make([]byte, n)
	for i := range b {
		b[i] = "etaoinshrdlu etaoins "[rng.IntN(21)]
		if line > 0 && i%line == line-1 {
			b[i] = '\n'
		}
	}
	return b
}

type matcherCase struct {
	name     string
	patterns []string
	text     []byte
}

// cases has texts of about size bytes.
func cases(size int) []matcherCase {
	logs := logLines(size)
	every := []byte(strings.ReplaceAll(string(logs[:size/2]), " ", " timed-o "))
	mostly := []byte(strings.ReplaceAll(string(logs[:size/2]), "\n", " etcdserver: connection reset by\n"))
	colour := []byte(strings.ReplaceAll(string(logs[:size/2]), "0", "\x1b[1;31m0\x1b[0m"))
	return []matcherCase{
		{"none", nil, logs},
		{"one", sixty[:1], logs},
		{"sixty", sixty, logs},
		{"sixty-short", append([]string{"EOF", "(?i)503"}, sixty...), logs},
		{"sixty-latin", sixty, []byte(strings.ReplaceAll(string(logs), "worker", "tâche é"))},
		{"sixty-words", sixty, lowerWords(size, 80)},
		{"sixty-candidates", sixty, mostly},
		{"sixty-nearly", sixty, every},
		{"sixty-colour", sixty, colour},
		{"sixty-oneline", sixty, lowerWords(size, 0)},
		{"sixty-zeros", sixty, make([]byte, size)},
		{"sixty-empty-lines", sixty, []byte(strings.Repeat("\n", size))},
		{"sixty-short-lines", sixty, []byte(strings.Repeat("a\n", size/2))},
		{"sixty-escapes", sixty, []byte(strings.Repeat("\x1b[m", size/3))},
		{"sixty-open-escapes", sixty, []byte(strings.Repeat("\x1b]", size/2))},
		{"bare-one", bare[:1], logs},
		{"bare-ten", bare, logs},
		{"bare-japanese", bare, []byte(strings.Repeat("接続が拒否されました。再試行します。\n", size/64))},
		{"bare-dotstar", []string{`\d.*[xq].*\d.*[;,].*\d\d$`}, logs},
		{"bare-exponential", []string{`[aeiou].{14}#`}, lowerWords(size/16, 80)},
		{"bare-sixty-exponential", exponential(60), lowerWords(size/64, 80)},
		{"bare-repeat", []string{`[a-z ]{200}!`}, lowerWords(size/16, 400)},
		{"alternatives", []string{alternatives(10000)}, logs[:size/4]},
	}
}

func BenchmarkMatcher(b *testing.B) {
	for _, bb := range cases(8 << 20) {
		b.Run(bb.name, func(b *testing.B) {
			m := New(parse(b, bb.patterns...))
			b.SetBytes(int64(len(bb.text)))
			b.ReportAllocs()
			for b.Loop() {
				for p := bb.text; len(p) > 0; {
					n := min(len(p), 256<<10)
					_, _ = m.Write(p[:n])
					p = p[n:]
				}
			}
			m.Close()
			for i := range bb.patterns {
				if m.Seen(i) {
					b.Logf("%s was seen", bb.patterns[i])
				}
			}
		})
	}
}

// exponential returns n patterns whose automata have 2^12 states or more.
func exponential(n int) []string {
	patterns := make([]string, n)
	for i := range patterns {
		patterns[i] = fmt.Sprintf(`[%c-z].{%d}#`, 'a'+i%20, 12+i/20)
	}
	return patterns
}

func alternatives(n int) string {
	rng := rand.New(rand.NewPCG(3, 3))
	words := make([]string, n)
	for i := range words {
		words[i] = fmt.Sprintf("%c%c%dz%d", 'a'+rng.IntN(26), 'A'+rng.IntN(26), rng.IntN(1000), i)
	}
	return strings.Join(words, "|")
}

// Line by line, as most commands write.
func BenchmarkMatcherLines(b *testing.B) {
	lines := strings.SplitAfter(string(logLines(1<<20)), "\n")
	m := New(parse(b, sixty...))
	b.SetBytes(1 << 20)
	b.ReportAllocs()
	for b.Loop() {
		for _, line := range lines {
			_, _ = m.Write([]byte(line))
		}
	}
}

// What an attempt pays before its first byte, and with its first lines.
func BenchmarkSetUp(b *testing.B) {
	for _, bb := range []struct{ name, text string }{
		{"parse", ""},
		{"new", "one line\n"},
		{"match", "curl: (7) connection refused\n"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			patterns := parse(b, sixty...)
			b.ReportAllocs()
			for b.Loop() {
				if bb.text == "" {
					patterns = parse(b, sixty...)
					continue
				}
				m := New(patterns)
				_, _ = m.Write([]byte(bb.text))
				m.Close()
			}
		})
	}
}
