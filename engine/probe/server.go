package probe

// This file is what the targets that are database servers share: the address,
// and one question with one answer. There is no login: a server that asks for one,
// or refuses this client, is ready. One that accepts no client at the moment (it
// starts, stops, loads, or has no connection left) is not.

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/retrysh/retry/engine/address"
	"github.com/retrysh/retry/engine/text"
)

// server is the address of a database server.
type server struct {
	host, port     string
	user, database string // as they were given, "" if they were not
}

// parseServer reads [user[:password]@]host[:port][/database][?options], as the
// clients of a server take it. The password is not used, nor are the options.
func parseServer(s, scheme, port string) (server, error) {
	user, authority, path, err := address.SplitUser(s)
	if err != nil {
		return server{}, err
	}
	if strings.Contains(path, "#") {
		return server{}, fmt.Errorf("%s:// takes no options behind a '#'; valid is %s://host:%s", scheme, scheme, port)
	}
	path, _, _ = strings.Cut(path, "?")
	c := server{}
	if c.host, c.port, err = address.HostPort(authority); err != nil {
		return server{}, err
	}
	if c.port == "" {
		c.port = port
	}
	name, _, _ := strings.Cut(user, ":")
	if c.user, err = serverWord(name, "user"); err != nil {
		return server{}, err
	}
	c.database, err = serverWord(strings.TrimPrefix(path, "/"), "database")
	return c, err
}

// serverWord decodes a user or a database.
func serverWord(s, what string) (string, error) {
	word, err := address.Unescape(s)
	switch {
	case err != nil:
		return "", err
	case strings.IndexByte(word, 0) >= 0:
		return "", fmt.Errorf("a %s cannot hold a NUL", what)
	}
	return word, nil
}

// converse connects, sends first, and lets judge read the answer. Where that
// was a good one, judge returns what a client says before it goes.
func (c *server) converse(ctx context.Context, t *try, first []byte, judge func(*bufio.Reader) (last []byte, err error)) error {
	conn, err := t.dial(ctx, c.host, c.port)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	defer guard(ctx, conn)()
	t.missing = "no answer"
	// A server may answer and close before it has read everything, so what
	// counts is the reading.
	_, writeErr := conn.Write(first)
	last, err := judge(bufio.NewReader(conn))
	switch {
	case err == nil:
		_, _ = conn.Write(last)
		return nil
	case writeErr != nil && !errors.As(err, new(plain)):
		return writeErr
	}
	return err
}

// cut turns an end of input in the middle of an answer into words.
func cut(err error) error {
	if isEnd(err) {
		return errTruncated
	}
	return err
}

func isEnd(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }

// takesNobody is said of a server that gives no reason.
const takesNobody = "the server takes no connections now"

// said is an answer that says why no client is accepted at the moment, in the
// server's own words, or in others where it has none.
func said(words, otherwise string) error {
	words = oneLine(words)
	if words == "" {
		words = otherwise
	}
	return plain(strings.TrimSpace(text.Cut(text.Masked(words), maxLine)))
}
