package probe

// This file is http://, https:// and http+unix:// targets: one request, the redirects that
// follow, and which answer is ready.

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"net/textproto"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/retrysh/retry/engine/text"
)

// maxBody is how much of a body #body looks at.
const maxBody = 1 << 20

// httpCheck asks, and follows redirects up to the answer that it judges.
type httpCheck struct {
	endpoint
	tls, insecure bool
	request       *http.Request
	statuses      []string       // and ranges, such as 200-299; empty: 2xx
	body          *regexp.Regexp // nil: any
}

// maxRedirects is how many redirects a try follows.
const maxRedirects = 10

func (c *httpCheck) run(ctx context.Context, p *Probe) error {
	request := c.request
	secure := false
	for range maxRedirects + 1 {
		next, err := c.visit(ctx, p, request)
		if next == nil {
			return err
		}
		secure = secure || request.URL.Scheme == "https"
		if c.isOwn(next.URL) && (next.URL.Scheme == "https" || !secure) {
			next.Header, next.Host = c.request.Header, c.request.Host
		}
		request = next
	}
	return plain("more than " + strconv.Itoa(maxRedirects) + " redirects")
}

// visit makes a request. It returns the one that the answer redirects to, or judges the answer.
func (c *httpCheck) visit(ctx context.Context, p *Probe, request *http.Request) (*http.Request, error) {
	to := c.endpoint
	if !c.isOwn(request.URL) {
		to = endpoint{host: request.URL.Hostname(), port: portOf(request.URL)}
	}
	conn, err := to.dial(ctx, p)
	if err != nil {
		return nil, err
	}
	// Not the TLS layer: that would wait up to 5 s for a peer that has stopped reading.
	defer func() { _ = conn.Close() }()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	var stream io.ReadWriter = conn
	if request.URL.Scheme == "https" {
		p.missing = "no TLS handshake"
		secure := tls.Client(conn, &tls.Config{
			RootCAs:            p.roots,
			ServerName:         strings.TrimSuffix(serverName(request.URL.Hostname()), "."),
			NextProtos:         []string{"http/1.1"},
			InsecureSkipVerify: c.insecure, //nolint:gosec // asked for by #insecure
		})
		if err = secure.HandshakeContext(ctx); isEnd(err) {
			err = plain("closed during the TLS handshake")
		}
		if err != nil {
			return nil, err
		}
		stream = secure
	}
	return c.ask(stream, p, request)
}

// maxHead bounds status lines and headers of an answer together, interim answers included.
const maxHead = 64 << 10

// ask sends the request on a connection. A peer may answer and close before it has read
// everything.
func (c *httpCheck) ask(stream io.ReadWriter, p *Probe, request *http.Request) (*http.Request, error) {
	p.missing = "no answer"
	writeErr := request.Write(stream)
	head := &io.LimitedReader{R: stream, N: maxHead}
	r := bufio.NewReader(head)
	if _, err := r.Peek(1); err != nil {
		if writeErr != nil {
			return nil, writeErr
		}
		return nil, err
	}
	for {
		answer, err := http.ReadResponse(r, request)
		switch {
		case err != nil && head.N <= 0:
			return nil, errHeadSize
		case err != nil:
			return nil, malformed(err, errNotHTTP)
		case answer.ProtoMajor != 1, answer.StatusCode < 100:
			return nil, errNotHTTP
		case answer.StatusCode >= 200, answer.StatusCode == http.StatusSwitchingProtocols:
			head.N = math.MaxInt64
			if next, err := c.redirect(answer); next != nil || err != nil {
				return next, err
			}
			return nil, c.judge(answer, p)
		}
	}
}

// redirect returns the request that an answer redirects to, nil if it does not or if #status
// names a redirect. It has none of the target's headers.
func (c *httpCheck) redirect(answer *http.Response) (*http.Request, error) {
	named := slices.ContainsFunc(c.statuses, func(s string) bool { return s[:3] <= "399" && s[len(s)-3:] >= "300" })
	method := answer.Request.Method
	switch answer.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther: // RFC 9110, section 15.4
		if method != http.MethodHead {
			method = http.MethodGet
		}
	case http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return nil, nil
	}
	if named || answer.Header.Get("Location") == "" {
		return nil, nil
	}
	to, err := answer.Location()
	switch {
	case err != nil:
		return nil, plain("status " + strconv.Itoa(answer.StatusCode) + " to an address that is malformed")
	case to.Scheme != "http" && to.Scheme != "https":
		return nil, plain("status " + strconv.Itoa(answer.StatusCode) + " to " + text.Quote(to.Scheme+":") +
			", which is not followed")
	case to.Hostname() == "":
		return nil, plain("status " + strconv.Itoa(answer.StatusCode) + " to an address without a host")
	}
	return &http.Request{Method: method, URL: to, Header: commonHeader(), Close: true}, nil
}

// isOwn reports whether an address is on the target's own host and port. All of a socket is.
func (c *httpCheck) isOwn(u *url.URL) bool {
	return c.socket != "" || strings.EqualFold(u.Hostname(), serverName(c.host)) && portOf(u) == c.port
}

func portOf(u *url.URL) string {
	if u.Port() == "" && u.Scheme == "https" {
		return "443"
	}
	return cmp.Or(u.Port(), "80")
}

// What a peer can do wrong.
const (
	errNotHTTP   = plain("answer is not HTTP/1")
	errHead      = plain("answer has a malformed header")
	errHeadSize  = plain("answer has more than 64 KiB of headers")
	errBody      = plain("answer has a malformed body")
	errTruncated = plain("closed before the end of its answer")
)

// malformed returns what an error of net/http means, or otherwise if it is neither one
// of the network nor known.
func malformed(err error, otherwise plain) error {
	words := err.Error()
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errTruncated
	case strings.Contains(words, "headers exceeded"):
		return errHeadSize
	case errors.As(err, new(textproto.ProtocolError)), strings.Contains(words, "Content-Length"),
		strings.Contains(words, "transfer encoding"):
		return errHead
	case errors.As(err, new(plain)), errors.As(err, new(net.Error)), errors.Is(err, io.EOF),
		errors.Is(err, net.ErrClosed):
		return err
	}
	return otherwise
}

// judge decides whether the answer is the one that is waited for.
func (c *httpCheck) judge(answer *http.Response, p *Probe) error {
	status := strconv.Itoa(answer.StatusCode)
	accepts := func(s string) bool { return status >= s[:3] && status <= s[len(s)-3:] }
	switch {
	case len(c.statuses) == 0 && status[0] == '2', slices.ContainsFunc(c.statuses, accepts):
	default:
		return plain("status " + status)
	}
	if c.body == nil {
		return nil
	}
	p.missing = "no complete answer"
	body, more, err := text.ReadUpTo(answer.Body, maxBody)
	switch {
	case err != nil:
		return malformed(err, errBody)
	case c.body.Match(body):
		return nil
	case more:
		return plain("body does not match in its first MiB")
	}
	return plain("body does not match")
}
