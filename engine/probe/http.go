package probe

// This file is http://, https:// and http+unix:// targets: one request, and
// which answer is ready.

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"net/textproto"
	"os"
	"slices"
	"strconv"
	"strings"
)

// maxBody is how much of a body #body looks at.
const maxBody = 1 << 20

// httpCheck asks once. A redirect is an answer like any other, so it is not
// ready unless #status names it: the target is what was typed.
type httpCheck struct {
	endpoint
	tls     bool
	request *http.Request
	httpOptions
}

func (c *httpCheck) run(ctx context.Context, t *try) error {
	raw, err := c.dial(ctx, t)
	if err != nil {
		return err
	}
	// The TLS layer is not closed: that would wait up to 5 s for a peer that
	// has stopped reading.
	defer func() { _ = raw.Close() }()
	defer guard(ctx, raw)()
	conn := raw
	if c.tls {
		t.missing = "no TLS handshake"
		if conn, err = c.handshake(raw, t); err != nil {
			return err
		}
	}
	t.missing = "no answer"
	// http.Transport would refuse an answer that comes before the request has been sent.
	writeErr := c.request.Write(conn)
	answer, err := readAnswer(conn, c.request)
	if err != nil {
		return worse(err, writeErr)
	}
	return c.judge(answer, t)
}

// maxHead bounds status lines and headers together, interim answers included.
const maxHead = 64 << 10

// What a peer can do wrong.
const (
	errNotHTTP   = plain("answer is not HTTP/1")
	errLooksTLS  = plain("answer is not HTTP/1 but looks like TLS (use https://)")
	errHead      = plain("answer has a malformed header")
	errHeadSize  = plain("answer has more than 64 KiB of headers")
	errBody      = plain("answer has a malformed body")
	errTruncated = plain("closed before the end of its answer")
)

// readAnswer reads up to the end of the headers of the final answer. Interim answers
// (1xx) are skipped; 101 is none, since the request did not ask to switch.
func readAnswer(conn io.Reader, request *http.Request) (*http.Response, error) {
	head := &io.LimitedReader{R: conn, N: maxHead}
	r := bufio.NewReader(head)
	first, err := r.Peek(1)
	switch { // a peer that talks something else may never send a whole line
	case err != nil:
		return nil, err
	case first[0] == 0x15, first[0] == 0x16: // a TLS alert or handshake
		return nil, errLooksTLS
	case first[0] != 'H':
		return nil, errNotHTTP
	}
	for {
		answer, err := http.ReadResponse(r, request)
		switch {
		case err != nil && head.N <= 0:
			return nil, errHeadSize
		case err != nil:
			return nil, malformed(err, errNotHTTP)
		case answer.ProtoMajor != 1 || answer.StatusCode < 100:
			return nil, errNotHTTP
		case answer.StatusCode >= 200 || answer.StatusCode == http.StatusSwitchingProtocols:
			head.N = math.MaxInt64
			return answer, nil
		}
		if _, err := r.Peek(1); err != nil {
			return nil, err
		}
	}
}

// malformed says what an error of net/http means: otherwise, where it is neither one
// of the network nor known.
func malformed(err error, otherwise plain) error {
	switch {
	case isEnd(err):
		return errTruncated
	case errors.As(err, new(net.Error)), errors.Is(err, net.ErrClosed), errors.Is(err, os.ErrDeadlineExceeded):
		return err
	case errors.As(err, new(textproto.ProtocolError)), strings.Contains(err.Error(), "Content-Length"), strings.Contains(err.Error(), "transfer encoding"):
		return errHead
	}
	return otherwise
}

func (c *httpCheck) handshake(conn net.Conn, t *try) (net.Conn, error) {
	secure := tls.Client(conn, &tls.Config{
		RootCAs:            t.roots,
		ServerName:         strings.TrimSuffix(serverName(c.host), "."),
		NextProtos:         []string{"http/1.1"},
		InsecureSkipVerify: c.insecure, //nolint:gosec // asked for by #insecure
	})
	if err := secure.Handshake(); err != nil {
		return nil, &handshakeError{err}
	}
	return secure, nil
}

// judge decides whether the answer is the one that is waited for.
func (c *httpCheck) judge(answer *http.Response, t *try) error {
	if !c.accepts(answer.StatusCode) {
		return plain(statusNote(answer.StatusCode))
	}
	if c.body == nil {
		return nil
	}
	t.missing = "no complete answer"
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxBody+1))
	switch {
	case len(body) <= maxBody && err != nil:
		return malformed(err, errBody)
	case c.body.Match(body[:min(len(body), maxBody)]):
		return nil
	case len(body) > maxBody:
		return plain("body does not match in its first MiB")
	}
	return plain("body does not match")
}

func (c *httpCheck) accepts(status int) bool {
	if len(c.statuses) == 0 {
		return status >= 200 && status <= 299
	}
	return slices.ContainsFunc(c.statuses, func(s span) bool { return status >= s.low && status <= s.high })
}

func statusNote(status int) string {
	note := "status " + strconv.Itoa(status)
	if slices.Contains([]int{301, 302, 303, 307, 308}, status) {
		note += " (redirects are not followed)"
	}
	return note
}
