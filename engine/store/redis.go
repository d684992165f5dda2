package store

// This file is the store in Redis or Valkey: one call of a script for each
// request, by the server's clock.

import (
	"context"
	"crypto/tls"
	_ "embed"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"

	"github.com/retrysh/retry/engine/guard"
)

// script decides as engine/guard does. scriptSHA is its SHA-1, by which a server
// knows a script that it has run before.
//
//go:embed guard.lua
var script string

const scriptSHA = "1a9bdcb11d0953d907665854b900bf5c83260c1b"

// Redis is a store on a server.
type Redis struct {
	address *Address
	// Warn is given one line about what is wrong but stops nothing.
	Warn func(line string)
}

// Do answers a request in one transaction.
func (s *Redis) Do(ctx context.Context, key string, g *guard.Guards, r *guard.Request) (guard.Answer, guard.Lock,
	error) {
	state, aside := keys(key)
	// The words are one argument: a client that has not logged in may send ten at most,
	// and the error would be about that, not about the login.
	reply, err := s.run(ctx, []string{"EVALSHA", scriptSHA, "2", state, aside, requestWords(g, r)})
	if err != nil {
		return guard.Answer{}, nil, err
	}
	answer, damaged, err := answerOf(reply.text)
	if damaged {
		s.Warn(fmt.Sprintf("the record %s cannot be read; it begins anew, and was renamed to %s", state, aside))
	}
	return answer, nil, err
}

// lookScript returns the time of the server and the state at a key.
const lookScript = `
local time = redis.call('TIME')
local list = { time[1] * 1000 + math.floor(time[2] / 1000) }
for word in string.gmatch(string.sub(redis.call('GET', KEYS[1]) or '', 41), '%S+') do
	list[#list + 1] = tonumber(word) or -1
end
return list`

// Look returns what is known of a key, nil if nothing is.
func (s *Redis) Look(ctx context.Context, key string) (*guard.Snapshot, error) {
	name, _ := keys(key)
	reply, err := s.run(ctx, []string{"EVAL", lookScript, "1", name})
	list := reply.list
	switch {
	case err != nil:
		return nil, err
	case len(list) == 0:
		return nil, errReply
	case len(list) == 1:
		return nil, nil
	}
	state, err := guard.Read(list[1:])
	known := &guard.Snapshot{State: state, Now: list[0]}
	if err != nil || known.Forgotten() {
		return nil, err
	}
	for _, l := range state.Slots {
		if l.Until > list[0] {
			known.Held++
		}
	}
	return known, nil
}

// keys are where the state is, and where one that cannot be read is set aside.
// They have one hash tag, so that a cluster has them in one place; a brace in the
// key is escaped, since it would end the tag.
func keys(key string) (state, aside string) {
	state = "retry:{" + strings.NewReplacer("%", "%25", "{", "%7B", "}", "%7D").Replace(key) + "}"
	return state, state + ":damaged"
}

// maxHops is how often a cluster's redirects are followed.
const maxHops = 3

// run runs a command, on another server if a cluster says so. A redirect as the
// answer to a login is not followed: the password is for the server that the user
// has named.
func (s *Redis) run(ctx context.Context, words []string) (r reply, err error) {
	host, asking := s.address.Host, false
	for range 1 + maxHops {
		r, err = s.runAt(ctx, host, asking, words)
		says, ok := err.(replyError) //nolint:errorlint // one that is wrapped came before the command
		if !ok {
			break
		}
		host, asking, ok = says.redirect(host)
		if !ok {
			break
		}
	}
	return r, explain(ctx, err)
}

// runAt runs a command on one server, whose every step ends with ctx.
func (s *Redis) runAt(ctx context.Context, host string, asking bool, words []string) (reply, error) {
	conn, err := s.dial(ctx, host)
	if err != nil {
		return reply{}, err
	}
	defer func() { _ = conn.Close() }()
	deadline, _ := ctx.Deadline()
	_ = conn.SetDeadline(deadline)
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	c := newClient(conn)
	var ask [][]string
	if asking {
		ask = [][]string{{"ASKING"}}
	}
	r, err := c.call(append(append(s.greeting(), ask...), words))
	if says, ok := err.(replyError); ok && says.is("NOSCRIPT") { //nolint:errorlint // as in run
		r, err = c.call(append(ask, append([]string{"EVAL", script}, words[2:]...)))
	}
	return r, err
}

// greeting is what comes first on a new connection.
func (s *Redis) greeting() (words [][]string) {
	a := s.address
	if a.User != "" {
		words = append(words, []string{"AUTH", a.User, a.Password})
	} else if a.Password != "" {
		words = append(words, []string{"AUTH", a.Password})
	}
	if a.DB != 0 {
		words = append(words, []string{"SELECT", strconv.Itoa(a.DB)})
	}
	return words
}

func (s *Redis) dial(ctx context.Context, host string) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, s.address.Network, host)
	if err != nil || !s.address.TLS {
		return conn, err
	}
	name, _, _ := net.SplitHostPort(host)
	secure := tls.Client(conn, &tls.Config{ServerName: name, MinVersion: tls.VersionTLS12})
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("TLS: %w", err)
	}
	return secure, nil
}

// certificateRequired is the text of the alert of TLS 1.3 (RFC 8446, section 6.2), whose type
// crypto/tls does not export.
const certificateRequired = "tls: certificate required"

// explain says what to do about an error, in place of how it came about.
func explain(ctx context.Context, err error) error {
	var reply replyError
	var op *net.OpError
	switch {
	case errors.As(err, &reply):
		return reply.explain(err)
	case err != nil && ctx.Err() != nil, errors.Is(err, os.ErrDeadlineExceeded):
		return errTimeout
	case errors.As(err, &op) && op.Err != nil && op.Err.Error() == certificateRequired:
		return fmt.Errorf("asks for a client certificate, which is not supported: %w", op.Err)
	case errors.As(err, &op) && op.Err != nil:
		return op.Err
	}
	return err
}
