package probe

// Redirects: how many, where to, and what goes along.

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/testdata/late"
	"github.com/retrysh/retry/testdata/loopback"
)

// asked records what requests held: method, address and the headers of targets.
type asked struct {
	mu    sync.Mutex
	lines []string
}

func (a *asked) add(r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.lines = append(a.lines, strings.TrimSpace(r.Method+" "+r.URL.Path+" "+r.Header.Get("X-Token")+" "+
		r.Header.Get("Authorization")+r.Header.Get("Referer")))
}

func (a *asked) all() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return strings.Join(a.lines, "; ")
}

// redirecting answers /N with a redirect to /N-1, /to?CODE&LOCATION with that, and all else
// with 200.
func redirecting(a *asked) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.add(r)
		if n, err := strconv.Atoi(r.URL.Path[1:]); err == nil && n > 0 {
			w.Header().Set("Location", fmt.Sprintf("/%d", n-1))
			w.WriteHeader(http.StatusFound)
		}
		if code, location, ok := strings.Cut(r.URL.RawQuery, "&"); ok && r.URL.Path == "/to" {
			status, _ := strconv.Atoi(code)
			w.Header().Set("Location", location)
			w.WriteHeader(status)
		}
	})
}

func TestRedirects(t *testing.T) {
	t.Parallel()
	var a asked
	s := httptest.NewServer(redirecting(&a))
	t.Cleanup(s.Close)
	for target, note := range map[string]string{
		"/1":                                     "",
		"/10":                                    "",
		"/11":                                    "more than 10 redirects",
		"/to?302&/":                              "",
		"/to?307&" + s.URL + "/x":                "",
		"/to?302&ftp://h/x":                      `status 302 to "ftp:", which is not followed`,
		"/to?302&mailto:me":                      `status 302 to "mailto:", which is not followed`,
		"/to?302&http:///x":                      "status 302 to an address without a host",
		"/to?302&http://[::1":                    "status 302 to an address that is malformed",
		"/to?302&":                               "status 302",
		"/to?304&/":                              "status 304",
		"/1#status=302":                          "",
		"/1#status=200-399":                      "",
		"/1#status=200,404":                      "",
		"/1#status=404":                          "status 200",
		"/0#status=301":                          "status 200",
		"/to?302&http://" + loopback.Refusing(t): "connection refused",
	} {
		want(t, once(t, s.URL+target), min(len(note), 1), note)
	}
}

// The method stays if the status says so (RFC 9110, section 15.4), and HEAD always.
func TestMethodOfARedirect(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ method, status, second string }{
		{"POST", "301", "GET"}, {"POST", "302", "GET"}, {"POST", "303", "GET"}, {"POST", "307", "POST"},
		{"POST", "308", "POST"},
		{"HEAD", "302", "HEAD"}, {"OPTIONS", "303", "GET"}, {"GET", "308", "GET"},
	} {
		var a asked
		s := httptest.NewServer(redirecting(&a))
		want(t, once(t, s.URL+"/to?"+c.status+"&/x#method="+c.method), 0, "")
		if want := c.method + " /to; " + c.second + " /x"; a.all() != want {
			t.Errorf("%+v: asked %q", c, a.all())
		}
		s.Close()
	}
}

// What the target's headers and login hold goes to its own host and port only, and never from
// https to http.
func TestSecretsStayOnTheirHost(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	pool := x509.NewCertPool()
	pool.AddCert(ca.cert)
	var own, other, secure asked
	first, second := httptest.NewServer(redirecting(&own)), httptest.NewServer(redirecting(&other))
	t.Cleanup(first.Close)
	t.Cleanup(second.Close)
	third := httptest.NewUnstartedServer(redirecting(&secure))
	third.TLS = &tls.Config{Certificates: []tls.Certificate{ca.sign(t, func(*x509.Certificate) {})}}
	third.StartTLS()
	t.Cleanup(third.Close)
	with := func(server *httptest.Server, location string) {
		address := strings.Replace(server.URL, "://", "://me:pw@", 1) + "/to?302&" + location +
			"#header=X-Token: s3cret"
		p := newProbe(t, address)
		p.roots = pool
		want(t, p.Run(t.Context(), attempt.Spec{}), 0, "")
	}
	const secrets = " s3cret Basic bWU6cHc="
	with(first, "/own")
	with(first, second.URL+"/away")
	with(first, second.URL+"/to?302%26"+first.URL) // an address with its escapes: one redirect
	with(first, third.URL+"/up")
	with(third, first.URL+"/down")
	if got, want := own.all(), "GET /to"+secrets+"; GET /own"+secrets+"; GET /to"+secrets+"; GET /to"+secrets+
		"; GET /to"+secrets+"; GET /down"; got != want {
		t.Errorf("the target was asked %s,\nwant %s", got, want)
	}
	if got, want := other.all(), "GET /away; GET /to"; got != want {
		t.Errorf("another port was asked %s,\nwant %s", got, want)
	}
	if got, want := secure.all(), "GET /up; GET /to"+secrets; got != want {
		t.Errorf("with TLS was asked %s,\nwant %s", got, want)
	}
}

// A redirect behind a socket stays on it, whatever host it names.
func TestRedirectOnASocket(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	l := listen(t, "unix", path)
	var a asked
	s := &http.Server{Handler: redirecting(&a), ReadHeaderTimeout: time.Minute}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close() })
	want(t, once(t, "http+unix://"+urlPath(path)+":/2"), 0, "")
	want(t, once(t, "http+unix://"+urlPath(path)+":/to?302&http://elsewhere.example/x#header=X-Token: s3cret"), 0, "")
	if got, want := a.all(), "GET /2; GET /1; GET /0; GET /to s3cret; GET /x s3cret"; got != want {
		t.Errorf("asked %s, want %s", got, want)
	}
}

// All redirects of a try share its time limit.
func TestRedirectsShareTheLimit(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{}, 100)
	var pause atomic.Int64 // before each answer
	address := peer(t, func(conn net.Conn) {
		asked <- struct{}{}
		time.Sleep(time.Duration(pause.Load()))
		_, _ = conn.Write([]byte("HTTP/1.1 302 Found\r\nLocation: /\r\n\r\n"))
	})
	late.Retry(t, 50*time.Millisecond, func(limit time.Duration) (slow bool) {
		for len(asked) > 0 {
			<-asked
		}
		pause.Store(int64(limit) * 2 / 5)
		got := newProbe(t, "http://"+address).Run(t.Context(), within(limit))
		if got.ExitCode != 124 {
			t.Errorf("%+v", got)
		}
		return len(asked) < 2 || got.Note != "no answer within "+limit.String()
	})
}
