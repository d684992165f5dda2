package probe

// Errors in plain words. A note says the same thing in the same words on every
// try, so that notes can be compared to show a person only what is new.

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"syscall"
	"time"
)

// plain is an error that is a note already.
type plain string

func (e plain) Error() string { return string(e) }

// noteOf returns one line that says what err means.
func noteOf(err error) string {
	if words, ok := errors.AsType[plain](err); ok {
		return string(words)
	}
	if name, ok := errors.AsType[*net.DNSError](err); ok {
		return nameNote(name)
	}
	if errors.As(err, new(tls.RecordHeaderError)) {
		return "the peer does not speak TLS"
	}
	if bad, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return "certificate is not trusted: " + certificateNote(bad.Err)
	}
	errno, _ := errors.AsType[syscall.Errno](err)
	if note := errnoNote(errno); note != "" {
		return note
	}
	if errors.Is(err, io.EOF) {
		return "closed without an answer"
	}
	words := err.Error()
	if i := strings.LastIndex(words, "tls: "); i >= 0 {
		return "TLS failed: " + oneLine(words[i+len("tls: "):])
	}
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		err = inner // the ones around it add addresses
	}
	return oneLine(err.Error())
}

const unresolved = "name does not resolve"

// Notes that say nothing about the target, only about this end.
const (
	noNetwork      = "network is unreachable"
	noLocalAddress = "no local address to connect from"
)

// isOurs reports whether an error is about this machine and not about the
// target: it has no network, or none of what a connection takes.
func isOurs(err error) bool {
	errno, _ := errors.AsType[syscall.Errno](err)
	return slices.Contains(shortages, errno) || slices.Contains([]string{noNetwork, noLocalAddress}, errnoNote(errno))
}

func nameNote(err *net.DNSError) string {
	switch {
	case err.IsNotFound:
		return unresolved
	case err.IsTimeout || strings.Contains(err.Err, "connection refused"):
		return unresolved + ": no answer from the name server"
	}
	return unresolved + ": the name server failed" // SERVFAIL and its like, and servers out of reach
}

const addInsecure = " (add #insecure to accept it)"

// certificateNote says what is wrong with a certificate.
func certificateNote(err error) string {
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Reason == x509.Expired {
		if time.Now().Before(invalid.Cert.NotBefore) {
			return "it is not valid yet" + addInsecure
		}
		return "it has expired" + addInsecure
	}
	if other, ok := errors.AsType[x509.HostnameError](err); ok {
		return "it is not for " + other.Host + addInsecure
	}
	if errors.As(err, new(x509.UnknownAuthorityError)) {
		if noRoots() {
			return "no CA certificates found on this system (set SSL_CERT_FILE or add #insecure)"
		}
		return "it is signed by an unknown authority" + addInsecure
	}
	return oneLine(strings.TrimPrefix(err.Error(), "x509: ")) + addInsecure
}

// noRoots reports whether the system has no CA certificates at all, as in an
// empty image.
func noRoots() bool {
	roots, err := x509.SystemCertPool()
	return err == nil && roots.Equal(x509.NewCertPool())
}
