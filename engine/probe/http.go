package probe

// This file is http://, https:// and http+unix:// targets: one request, and
// which answer is ready.

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/textproto"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/retrysh/retry/engine/text"
)

// maxBody is how much of a body #body looks at.
const maxBody = 1 << 20

// httpCheck asks once. A redirect is an answer like any other, so it is not
// ready unless #status names it: the target is what was typed.
type httpCheck struct {
	endpoint
	tls, insecure bool
	request       *http.Request
	statuses      []string       // and ranges, such as 200-299; empty: 2xx
	body          *regexp.Regexp // nil: any
}

func (c *httpCheck) run(ctx context.Context, p *Probe) error {
	conn, err := c.dial(ctx, p)
	if err != nil {
		return err
	}
	x := &exchange{Conn: conn, stream: conn, written: make(chan error, 1)}
	defer func() { _ = x.Close() }()
	if c.tls {
		p.missing = "no TLS handshake"
		secure := tls.Client(conn, &tls.Config{
			RootCAs:            p.roots,
			ServerName:         strings.TrimSuffix(serverName(c.host), "."),
			NextProtos:         []string{"http/1.1"},
			InsecureSkipVerify: c.insecure, //nolint:gosec // asked for by #insecure
		})
		x.stream = secure
		if err = secure.HandshakeContext(ctx); isEnd(err) {
			err = plain("closed during the TLS handshake")
		}
	}
	if err != nil {
		return err
	}
	return c.ask(ctx, x, p)
}

// maxHead bounds status lines and headers together, interim answers included.
const maxHead = 64 << 10

// ask sends the request on a connection and judges the answer.
func (c *httpCheck) ask(ctx context.Context, conn net.Conn, p *Probe) error {
	p.missing = "no answer"
	transport := &http.Transport{
		DialContext:            func(context.Context, string, string) (net.Conn, error) { return conn, nil },
		MaxResponseHeaderBytes: maxHead,
	}
	answer, err := transport.RoundTrip(c.request.WithContext(ctx))
	if err != nil {
		return malformed(err, errNotHTTP)
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.ProtoMajor != 1 || answer.StatusCode < 100 {
		return errNotHTTP
	}
	return c.judge(answer, p)
}

// exchange is the connection of one request, for http.Transport: that would refuse an answer that
// comes before the request has been written, and wait for a whole line of what is not HTTP.
type exchange struct {
	net.Conn               // the TLS layer is not closed: that would wait up to 5 s for a peer that has stopped reading
	stream   io.ReadWriter // the connection, or TLS on it
	written  chan error    // gets the result of the first write
	begun    bool          // an answer has begun
}

// Write returns no error: a peer may answer and close before it has read everything.
func (x *exchange) Write(b []byte) (int, error) {
	_, err := x.stream.Write(b)
	x.allowRead(err)
	return len(b), nil
}

func (x *exchange) allowRead(err error) {
	select {
	case x.written <- err:
	default:
	}
}

func (x *exchange) Read(b []byte) (int, error) {
	if x.begun {
		return x.stream.Read(b)
	}
	writeErr := <-x.written
	n, err := x.stream.Read(b)
	switch x.begun = true; {
	case n == 0:
		return 0, cmp.Or(writeErr, err)
	case b[0] == 0x15, b[0] == 0x16: // a TLS alert or handshake
		return 0, errLooksTLS
	case b[0] != 'H':
		return 0, errNotHTTP
	}
	return n, err
}

func (x *exchange) Close() error {
	x.allowRead(net.ErrClosed)
	return x.Conn.Close()
}

// What a peer can do wrong.
const (
	errNotHTTP   = plain("answer is not HTTP/1")
	errLooksTLS  = plain("answer is not HTTP/1 but looks like TLS (use https://)")
	errHead      = plain("answer has a malformed header")
	errHeadSize  = plain("answer has more than 64 KiB of headers")
	errBody      = plain("answer has a malformed body")
	errTruncated = plain("closed before the end of its answer")
)

// malformed says what an error of net/http means: otherwise, where it is neither one
// of the network nor known.
func malformed(err error, otherwise plain) error {
	words := err.Error()
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errTruncated
	case strings.Contains(words, "headers exceeded"):
		return errHeadSize
	case errors.As(err, new(textproto.ProtocolError)), strings.Contains(words, "Content-Length"), strings.Contains(words, "transfer encoding"):
		return errHead
	case errors.As(err, new(plain)), errors.As(err, new(net.Error)), errors.Is(err, io.EOF), errors.Is(err, net.ErrClosed):
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
	case slices.Contains([]string{"301", "302", "303", "307", "308"}, status):
		return plain("status " + status + " (redirects are not followed)")
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
