package probe

// This file is http://, https:// and http+unix:// targets: one request, and
// which answer is ready.

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"strconv"
	"strings"
)

// maxBody is how much of a body #body looks at.
const maxBody = 1 << 20

// httpCheck asks once. A redirect is an answer like any other, so it is not
// ready unless #status names it: the target is what was typed.
type httpCheck struct {
	host, port string
	socket     string // its path, for http+unix; then there is no host
	tls        bool
	request    string
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
	// A peer may answer and close before it has read everything, so what
	// counts is the reading.
	_, writeErr := conn.Write([]byte(c.request))
	answer := newResponse(bufio.NewReader(conn))
	if err := answer.readHead(); err != nil {
		if writeErr != nil && !errors.As(err, new(plain)) {
			return writeErr
		}
		return err
	}
	return c.judge(answer, t)
}

func (c *httpCheck) dial(ctx context.Context, t *try) (net.Conn, error) {
	if c.socket != "" {
		return t.dialUnix(ctx, c.socket)
	}
	return t.dial(ctx, c.host, c.port)
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

// judge tells whether the answer is the one that was waited for.
func (c *httpCheck) judge(answer *response, t *try) error {
	if !c.accepts(answer.status) {
		return plain(statusNote(answer.status))
	}
	if c.body == nil {
		return nil
	}
	t.missing = "no complete answer"
	body, whole, err := answer.readBody(maxBody)
	if err != nil {
		return err
	}
	if c.body.Match(body) {
		return nil
	}
	if !whole {
		return plain("body does not match in its first MiB")
	}
	return plain("body does not match")
}

func (c *httpCheck) accepts(status int) bool {
	if len(c.statuses) == 0 {
		return status >= 200 && status <= 299
	}
	for _, s := range c.statuses {
		if status >= s.low && status <= s.high {
			return true
		}
	}
	return false
}

func statusNote(status int) string {
	note := "status " + strconv.Itoa(status)
	switch status {
	case 301, 302, 303, 307, 308:
		note += " (redirects are not followed)"
	}
	return note
}
