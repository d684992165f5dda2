package probe

// This file is http://, https:// and http+unix:// targets: one request, and
// which answer is ready.

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
	defer func() { _ = conn.Close() }() // not the TLS layer: that would wait up to 5 s for a peer that has stopped reading
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	var stream io.ReadWriter = conn
	if c.tls {
		p.missing = "no TLS handshake"
		secure := tls.Client(conn, &tls.Config{
			RootCAs:            p.roots,
			ServerName:         strings.TrimSuffix(serverName(c.host), "."),
			NextProtos:         []string{"http/1.1"},
			InsecureSkipVerify: c.insecure, //nolint:gosec // asked for by #insecure
		})
		stream = secure
		if err = secure.HandshakeContext(ctx); isEnd(err) {
			err = plain("closed during the TLS handshake")
		}
	}
	if err != nil {
		return err
	}
	return c.ask(stream, p)
}

// maxHead bounds status lines and headers together, interim answers included.
const maxHead = 64 << 10

// ask sends the request and judges the answer. A peer may answer and close before it has
// read everything.
func (c *httpCheck) ask(stream io.ReadWriter, p *Probe) error {
	p.missing = "no answer"
	writeErr := c.request.Write(stream)
	head := &io.LimitedReader{R: stream, N: maxHead}
	r := bufio.NewReader(head)
	first, err := r.Peek(1) // a whole line of what is not HTTP may never come
	switch {
	case err != nil:
		return cmp.Or(writeErr, err)
	case first[0] == 0x15, first[0] == 0x16: // a TLS alert or handshake
		return errLooksTLS
	case first[0] != 'H':
		return errNotHTTP
	}
	for {
		answer, err := http.ReadResponse(r, c.request)
		switch {
		case err != nil && head.N <= 0:
			return errHeadSize
		case err != nil:
			return malformed(err, errNotHTTP)
		case answer.ProtoMajor != 1, answer.StatusCode < 100:
			return errNotHTTP
		case answer.StatusCode >= 200, answer.StatusCode == http.StatusSwitchingProtocols:
			head.N = math.MaxInt64
			return c.judge(answer, p)
		}
	}
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
	case errors.As(err, new(textproto.ProtocolError)), strings.Contains(words, "Content-Length"), strings.Contains(words, "transfer encoding"):
		return errHead
	case errors.As(err, new(net.Error)):
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
