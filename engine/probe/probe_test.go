package probe

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/testdata/late"
	"github.com/retrysh/retry/testdata/loopback"
)

// patience is for what comes by itself, on a machine that is busy with others.
const patience = 5 * time.Minute

// newProbe returns a probe of a target whose tries may take long.
func newProbe(t *testing.T, target string) *Probe {
	t.Helper()
	parsed, err := Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	p := New(parsed, nil)
	p.longest = patience
	return p
}

// once tries a target once.
func once(t *testing.T, target string) attempt.Result {
	t.Helper()
	return newProbe(t, target).Run(t.Context(), attempt.Spec{Number: 1})
}

// wantLate tries a target that is not ready within a limit, which is a short one. The try
// has come as far as note says, which has %v for the limit; if it did not get that far, the
// machine was late.
func wantLate(t *testing.T, p *Probe, note string, spec func(limit time.Duration) attempt.Spec) (got attempt.Result) {
	t.Helper()
	late.Retry(t, 50*time.Millisecond, func(limit time.Duration) (slow bool) {
		t.Helper()
		p.note = ""
		got = p.Run(t.Context(), spec(limit))
		note := strings.ReplaceAll(note, "%v", limit.String())
		if got.ExitCode == 124 && got.Note != note {
			t.Log(got.Note)
			return true
		}
		want(t, got, 124, note)
		if got.Duration > patience/2 {
			t.Errorf("took %v", got.Duration)
		}
		return false
	})
	return got
}

// within is for a limit of the try.
func within(limit time.Duration) attempt.Spec { return attempt.Spec{Timeout: limit} }

// before is for a limit of the run.
func before(limit time.Duration) attempt.Spec {
	return attempt.Spec{Deadline: time.Now().Add(limit)}
}

// A try has its limit, unless a shorter one is given.
func TestLimitOfATry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for given, want := range map[time.Duration]time.Duration{0: Limit, time.Second: time.Second, Limit + 1: Limit} {
			p := New(&Target{check: untilTheEnd{}}, nil)
			if got := p.Run(t.Context(), attempt.Spec{Timeout: given}); got.Duration != want || !got.TimedOut {
				t.Errorf("%v: %+v", given, got)
			}
		}
	})
}

// untilTheEnd waits for the end of its context.
type untilTheEnd struct{}

func (untilTheEnd) run(ctx context.Context, _ *Probe) error {
	<-ctx.Done()
	return ctx.Err()
}

// want checks the two fields that say what a complete try found.
func want(t *testing.T, got attempt.Result, code int, note string) {
	t.Helper()
	if got.ExitCode != code || got.Note != note || got.Err != nil || got.StartErr != nil || got.Duration <= 0 {
		t.Errorf("got code %d, note %q (%+v); want %d, %q", got.ExitCode, got.Note, got, code, note)
	}
}

// listen returns a listener on loopback that ends with the test.
func listen(t *testing.T, network, address string) net.Listener {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Skipf("cannot listen on %s: %v", address, err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// urlPath returns a path as a URL has it.
func urlPath(path string) string {
	path = strings.ReplaceAll(filepath.ToSlash(path), " ", "%20")
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return path
}

func TestTCP(t *testing.T) {
	t.Parallel()
	v4, v6 := listen(t, "tcp", "127.0.0.1:0"), listen(t, "tcp", "[::1]:0")
	want(t, once(t, "tcp://"+v4.Addr().String()), 0, "")
	want(t, once(t, "tcp://"+v6.Addr().String()), 0, "")
	want(t, once(t, "tcp://"+loopback.Refusing(t)), 1, "connection refused")
}

func TestUnix(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a b")
	target := "unix://" + urlPath(path)
	want(t, once(t, target), 1, "no such file")
	l := listen(t, "unix", path)
	want(t, once(t, target), 0, "")
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	_ = l.Close()
	for once(t, target).ExitCode == 0 {
		time.Sleep(time.Millisecond) // a child of another test holds the listener until it executes its program
	}
	want(t, once(t, target), 1, "connection refused")
}

func TestFileAppears(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "ready")
	p := newProbe(t, "file://"+urlPath(path))
	want(t, p.Run(t.Context(), attempt.Spec{}), 1, "no such file")
	if err := os.Symlink(path+"2", path); err != nil {
		t.Fatal(err)
	}
	want(t, p.Run(t.Context(), attempt.Spec{}), 1, "no such file")
	if err := os.WriteFile(path+"2", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	want(t, p.Run(t.Context(), attempt.Spec{}), 0, "")
}

// A file system that hangs is looked at once, however many tries pass.
func TestFileSystemHangs(t *testing.T) {
	t.Parallel()
	p := newProbe(t, "file:///")
	look := make(chan error, 1) // as a look that is under way leaves it
	p.stat = look
	for range 3 {
		want(t, p.Run(t.Context(), attempt.Spec{Timeout: 10 * time.Millisecond}), 124, "no answer within 10ms")
	}
	look <- nil
	want(t, p.Run(t.Context(), attempt.Spec{}), 0, "")
	want(t, p.Run(t.Context(), attempt.Spec{}), 0, "")
}

func TestHTTP(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/auth":
			if name, password, _ := r.BasicAuth(); name != "me" || password != "p:@ss" {
				w.WriteHeader(http.StatusUnauthorized)
			}
		case "/down":
			w.WriteHeader(http.StatusServiceUnavailable)
		case "/moved":
			http.Redirect(w, r, "/", http.StatusFound)
		case "/query":
			_, _ = io.WriteString(w, r.URL.Query().Get("q")+" at "+r.Host)
		case "/chunked":
			_, _ = io.WriteString(w, "state: ")
			_ = http.NewResponseController(w).Flush()
			_, _ = io.WriteString(w, "ok")
		}
	}))
	t.Cleanup(s.Close)
	for _, c := range []struct {
		path string
		code int
		note string
	}{
		{"/", 0, ""},
		{"", 0, ""},
		{"/down", 1, "status 503"},
		{"/down#status=500-503", 0, ""},
		{"/#status=500-503", 1, "status 200"},
		{"/moved", 0, ""},
		{"/moved#status=200-399", 0, ""},
		{"/auth", 1, "status 401"},
		{"/query?q=a%20b#body=^a b at 127.0.0.1:[0-9]+$", 0, ""},
		{"/query?q=a%20b#body=c", 1, "body does not match"},
		{"/chunked#body=^state: ok$", 0, ""},
		{"/chunked#body=^state: $", 1, "body does not match"},
	} {
		t.Log(c.path)
		want(t, once(t, s.URL+c.path), c.code, c.note)
	}
	want(t, once(t, strings.Replace(s.URL, "//", "//me:p:%40ss@", 1)+"/auth"), 0, "")
	want(t, once(t, strings.Replace(s.URL, "http:", "https:", 1)), 1, "the peer does not speak TLS")
}

func TestExec(t *testing.T) {
	t.Parallel()
	target, err := Parse("exec:do it")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		output string
		result attempt.Result
		code   int
		note   string
	}{
		{"all is well\n", attempt.Result{}, 0, ""},
		{"", attempt.Result{ExitCode: 3}, 1, "command exited 3"},
		{"", attempt.Result{ExitCode: 137, Signal: "SIGKILL"}, 1, "command ended by SIGKILL"},
		{"one\n\x1b[31mtwo\x1b[0m  \r\n\n", attempt.Result{ExitCode: 1}, 1, "two"},
		{"\x1b]0;title\a\x1b]8;;http://x\x1b\\link\x1b(B\x1b[1", attempt.Result{ExitCode: 1}, 1, "link"},
		{"\x1b", attempt.Result{ExitCode: 1}, 1, "command exited 1"},
		{"caf\xe9\ttea\x00", attempt.Result{ExitCode: 1}, 1, "caf\uFFFD tea"},
		{"no line end", attempt.Result{ExitCode: 1}, 1, "no line end"},
		{strings.Repeat("x", 1000), attempt.Result{ExitCode: 1}, 1, strings.Repeat("x", maxLine)},
	} {
		p := New(target, func(_ context.Context, argv []string, output io.Writer) attempt.Result {
			if !slices.Contains(argv, "do it") {
				t.Errorf("argv %q", argv)
			}
			_, _ = io.WriteString(output, c.output)
			return c.result
		})
		want(t, p.Run(t.Context(), attempt.Spec{}), c.code, c.note)
	}
}

func TestSilentPeer(t *testing.T) {
	t.Parallel()
	l := listen(t, "tcp", "127.0.0.1:0") // the kernel accepts, and nothing is sent
	for _, c := range []struct{ target, missing string }{
		{"http://" + l.Addr().String(), "no answer"},
		{"https://" + l.Addr().String(), "no TLS handshake"},
	} {
		p := newProbe(t, c.target)
		if got := wantLate(t, p, c.missing+" within %v", within); !got.TimedOut || got.DeadlinePassed {
			t.Errorf("got %+v", got)
		}
		if got := wantLate(t, p, c.missing+" in time", before); got.TimedOut || !got.DeadlinePassed {
			t.Errorf("got %+v", got)
		}
	}
}
