package probe

// Certificates that are right and wrong, each on a listener of its own.

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/testdata/loopback"
	"github.com/retrysh/retry/testdata/session"
)

// TestMain also is the program that a test runs in another environment: it
// tries the target in PROBE_TARGET once and prints what came of it.
func TestMain(m *testing.M) {
	s, ok := os.LookupEnv("PROBE_TARGET")
	if !ok {
		os.Exit(session.Run(m))
	}
	target, err := Parse(s)
	if err != nil {
		fmt.Println(err)
		os.Exit(2)
	}
	p := New(target, nil)
	p.longest = patience
	r := p.Run(context.Background(), attempt.Spec{})
	fmt.Printf("%d %s\n", r.ExitCode, r.Note)
	os.Exit(0)
}

// runElsewhere tries a target in another process with env added.
func runElsewhere(t *testing.T, target string, env ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), append(env, "PROBE_TARGET="+target, "GORACE=atexit_sleep_ms=10")...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", target, err)
	}
	return strings.TrimSpace(string(out))
}

// authority signs certificates for a test.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	key := newKey(t)
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &authority{cert, key}
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// sign returns a certificate for 127.0.0.1, ::1 and localhost as changed by
// change.
func (a *authority) sign(t *testing.T, change func(*x509.Certificate)) tls.Certificate {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}, DNSNames: []string{"localhost"},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	change(template)
	key := newKey(t)
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// pemFile writes the authority's certificate to a file.
func (a *authority) pemFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw})
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// serveTLS answers 200 to everything and returns the address to ask.
func serveTLS(t *testing.T, address string, config *tls.Config) string {
	t.Helper()
	s := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, "sni="+r.TLS.ServerName)
		}),
		ErrorLog:     log.New(io.Discard, "", 0),
		TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){},
	}
	l := listen(t, "tcp", address)
	go func() { _ = s.Serve(tls.NewListener(l, config)) }()
	t.Cleanup(func() { _ = s.Close() })
	return "https://" + l.Addr().String() + "/"
}

func TestCertificates(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	pool := x509.NewCertPool()
	pool.AddCert(ca.cert)
	good := ca.sign(t, func(*x509.Certificate) {})
	for _, c := range []struct {
		name    string
		config  *tls.Config
		note    string
		refused bool // also with #insecure
	}{
		{"good", &tls.Config{Certificates: []tls.Certificate{good}}, "", false},
		{"expired", &tls.Config{Certificates: []tls.Certificate{ca.sign(t, func(c *x509.Certificate) {
			c.NotBefore, c.NotAfter = time.Now().Add(-2*time.Hour), time.Now().Add(-time.Hour)
		})}}, "certificate is not trusted: it has expired (add #insecure to accept it)", false},
		{"early", &tls.Config{Certificates: []tls.Certificate{ca.sign(t, func(c *x509.Certificate) {
			c.NotBefore, c.NotAfter = time.Now().Add(time.Hour), time.Now().Add(2*time.Hour)
		})}}, "certificate is not trusted: it is not valid yet (add #insecure to accept it)", false},
		{"other address", &tls.Config{Certificates: []tls.Certificate{ca.sign(t, func(c *x509.Certificate) {
			c.IPAddresses = nil
		})}}, "certificate is not trusted: it is not for 127.0.0.1 (add #insecure to accept it)", false},
		{"client's certificate asked for", &tls.Config{
			Certificates: []tls.Certificate{good}, ClientAuth: tls.RequireAnyClientCert,
		}, "TLS failed: certificate required", true},
		{"another protocol only", &tls.Config{
			Certificates: []tls.Certificate{good}, NextProtos: []string{"imap"},
		}, "TLS failed: no application protocol", true},
		{"TLS 1.1 only", &tls.Config{
			Certificates: []tls.Certificate{good}, MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10,
		}, "TLS failed: protocol version not supported", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			address := serveTLS(t, "127.0.0.1:0", c.config)
			p := newProbe(t, address)
			p.roots = pool
			code := min(len(c.note), 1)
			want(t, p.Run(t.Context(), attempt.Spec{}), code, c.note)
			if !c.refused {
				want(t, once(t, address+"#insecure"), 0, "")
			}
		})
	}
}

func TestUnknownAuthority(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	address := serveTLS(t, "127.0.0.1:0",
		&tls.Config{Certificates: []tls.Certificate{ca.sign(t, func(*x509.Certificate) {})}})
	p := newProbe(t, address)
	p.roots = x509.NewCertPool()
	p.roots.AddCert(newAuthority(t).cert)
	// Which of the two it is depends on whether this machine has any roots.
	got := p.Run(t.Context(), attempt.Spec{})
	if got.ExitCode != 1 || !strings.HasPrefix(got.Note, "certificate is not trusted: ") ||
		!strings.Contains(got.Note, "#insecure") {
		t.Errorf("got %+v", got)
	}
	want(t, once(t, address+"#insecure"), 0, "")
}

// The name goes to the server (SNI) and is what the certificate is held
// against; the brackets, the port and a final dot are no part of it.
func TestServerName(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	config := &tls.Config{Certificates: []tls.Certificate{ca.sign(t, func(*x509.Certificate) {})}}
	v4, v6 := serveTLS(t, "127.0.0.1:0", config), serveTLS(t, "[::1]:0", config)
	named := strings.Replace(v4, "127.0.0.1", "localhost", 1)
	for _, target := range []string{
		v4 + "#body=^sni=$",
		v6 + "#body=^sni=$",
		named + "#body=^sni=localhost$",
		strings.Replace(named, "localhost", "LOCALHOST.", 1) + "#body=(?i)^sni=localhost$",
	} {
		p := newProbe(t, target)
		p.roots = x509.NewCertPool()
		p.roots.AddCert(ca.cert)
		t.Log(target)
		want(t, p.Run(t.Context(), attempt.Spec{}), 0, "")
	}
}

func TestCertificateFile(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	address := serveTLS(t, "127.0.0.1:0",
		&tls.Config{Certificates: []tls.Certificate{ca.sign(t, func(*x509.Certificate) {})}})
	file, empty := ca.pemFile(t), t.TempDir()
	other := newAuthority(t).pemFile(t)
	for _, c := range []struct{ file, dir, want string }{
		{file, empty, "0"},
		{empty + "/none", filepath.Dir(file), "0"},
		{other, empty, "1 certificate is not trusted: it is signed by an unknown authority (add #insecure to accept it)"},
		{empty + "/none", empty, "1 certificate is not trusted: no CA certificates found on this system (set " +
			"SSL_CERT_FILE or add #insecure)"},
	} {
		got := runElsewhere(t, address, "SSL_CERT_FILE="+c.file, "SSL_CERT_DIR="+c.dir)
		if got != c.want {
			t.Errorf("SSL_CERT_FILE=%s SSL_CERT_DIR=%s: got %q, want %q", c.file, c.dir, got, c.want)
		}
	}
}

func TestProxyIsNotUsed(t *testing.T) {
	t.Parallel()
	l := listen(t, "tcp", "127.0.0.1:0")
	s := &http.Server{Handler: http.NotFoundHandler()}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close() })
	proxy := "http://" + loopback.Refusing(t)
	if got := runElsewhere(t, "http://"+l.Addr().String()+"/", "HTTP_PROXY="+proxy, "http_proxy="+proxy,
		"ALL_PROXY="+proxy); got != "1 status 404" {
		t.Errorf("got %q", got)
	}
}
