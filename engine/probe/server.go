package probe

// This file is what the targets that are database servers share: the address,
// and one question with one answer. There is no login: a server that asks for one,
// or refuses this client, is ready. One that accepts no client at the moment (it
// starts, stops, loads, or has no connection left) is not.

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/retrysh/retry/engine/address"
	"github.com/retrysh/retry/engine/text"
)

// serverCheck asks a database server one question.
type serverCheck struct {
	endpoint
	first []byte // what a client says first
	// judge reads an answer, of which there is a byte; a nil error is ready. Then last is
	// what a client says before it goes.
	judge func(*bufio.Reader) (last []byte, err error)
}

// parseServer reads [user[:password]@]host[:port][/database][?options], as the
// clients of a server take it. The password is not used, nor are the options.
func parseServer(s, scheme string) (check, error) {
	c := &serverCheck{}
	port := "5432"
	switch scheme {
	case "redis":
		port = "6379"
		c.first = []byte(redisPing)
		c.judge = readRedis
	case "mysql":
		port, c.judge = "3306", readMySQL
	}
	user, authority, path, err := address.SplitUser(s)
	if err != nil {
		return nil, err
	}
	if strings.Contains(path, "#") {
		return nil, fmt.Errorf("%s:// takes no options behind a '#'; valid is %s://host:%s", scheme, scheme, port)
	}
	path, _, _ = strings.Cut(strings.TrimPrefix(path, "/"), "?")
	if c.host, c.port, err = address.HostPort(authority); err != nil {
		return nil, err
	}
	c.port = cmp.Or(c.port, port)
	user, _, _ = strings.Cut(user, ":")
	if user, err = unescape(user, "user"); err != nil {
		return nil, err
	}
	database, err := unescape(path, "database")
	if err != nil {
		return nil, err
	}
	if c.judge == nil {
		c.first, c.judge = postgresStartup(user, database), readPostgres
	}
	return c, nil
}

// unescape decodes a part of an address that is what.
func unescape(s, what string) (string, error) {
	word, err := address.Unescape(s)
	if err == nil && strings.IndexByte(word, 0) >= 0 {
		err = fmt.Errorf("a %s cannot hold a NUL", what)
	}
	return word, err
}

// run connects, sends first, and has the answer judged.
func (c *serverCheck) run(ctx context.Context, p *Probe) error {
	conn, err := c.dial(ctx, p)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	p.missing = "no answer"
	_, writeErr := conn.Write(c.first)
	answer := bufio.NewReader(conn)
	var last []byte
	if _, err = answer.Peek(1); err == nil {
		if last, err = c.judge(answer); isEnd(err) {
			err = errTruncated
		}
	}
	switch {
	case err == nil:
		_, _ = conn.Write(last)
	case writeErr != nil && !errors.As(err, new(plain)): // a peer may answer and close before it has read
		return writeErr
	}
	return err
}

func isEnd(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }

// said is an answer that says why no client is accepted at the moment, in the
// server's own words, or in others if it has none.
func said(words string) error {
	words = cmp.Or(oneLine(words), "the server takes no connections now")
	return plain(strings.TrimSpace(text.Cut(text.Masked(words), maxLine)))
}
