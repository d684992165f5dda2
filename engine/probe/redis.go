package probe

// This file is redis:// targets: PING and its answer (Redis's documentation,
// "Redis serialization protocol specification").

import (
	"bufio"
	"context"
	"errors"
	"strings"
)

const (
	redisPing   = "*1\r\n$4\r\nPING\r\n"
	errNotRedis = plain("answer is not Redis's")
)

// redisCheck asks for a sign of life. Servers that speak its protocol (Valkey,
// KeyDB, Sentinel) answer alike.
type redisCheck struct{ server }

func parseRedis(s string) (check, error) {
	address, err := parseServer(s, "redis", "6379")
	if err != nil {
		return nil, err
	}
	return &redisCheck{address}, nil
}

func (c *redisCheck) run(ctx context.Context, t *try) error {
	return c.converse(ctx, t, []byte(redisPing), func(r *bufio.Reader) ([]byte, error) {
		return nil, readRedis(r)
	})
}

// readRedis judges the answer to PING; nil is ready. An error that asks for a
// password is ready: a server that has one asks for it even while it loads.
func readRedis(r *bufio.Reader) error {
	first, err := r.ReadByte()
	if err != nil {
		return err
	}
	if first != '+' && first != '-' {
		return errNotRedis
	}
	b, err := r.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return errNotRedis
	case err != nil:
		return cut(err)
	}
	line := strings.TrimRight(string(b), "\r\n")
	if first == '+' {
		if strings.EqualFold(line, "PONG") {
			return nil
		}
		return errNotRedis
	}
	if redisTakesNobody(line) {
		return said(line, "")
	}
	return nil
}

// redisTakesNobody reports whether an error is about everybody, by its first
// word: it reads its data (LOADING), it is a replica that lacks them
// (MASTERDOWN), a script keeps it from answering (BUSY), or no connection is
// left.
func redisTakesNobody(line string) bool {
	code, _, _ := strings.Cut(line, " ")
	switch code {
	case "LOADING", "MASTERDOWN", "BUSY":
		return true
	}
	return strings.HasPrefix(line, "ERR max number of clients reached")
}
