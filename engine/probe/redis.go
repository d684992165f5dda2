package probe

// This file is redis:// targets: PING and its answer (Redis's documentation,
// "Redis serialization protocol specification"). Servers that speak its protocol
// (Valkey, KeyDB, Sentinel) answer alike.

import (
	"bufio"
	"slices"
	"strings"
)

const (
	redisPing   = "*1\r\n$4\r\nPING\r\n"
	errNotRedis = plain("answer is not Redis's")
)

// readRedis judges the answer to PING; nil is ready. An error that asks for a
// password is ready: a server that has one asks for it even while it loads.
func readRedis(r *bufio.Reader) ([]byte, error) {
	first, err := r.ReadByte()
	if err != nil {
		return nil, err
	}
	if first != '+' && first != '-' {
		return nil, errNotRedis
	}
	b, err := r.ReadSlice('\n')
	line := strings.TrimRight(string(b), "\r\n")
	switch {
	case err == bufio.ErrBufferFull, err == nil && first == '+' && !strings.EqualFold(line, "PONG"):
		return nil, errNotRedis
	case err != nil:
		return nil, cut(err)
	case first == '-' && redisAcceptsNone(line):
		return nil, said(line, "")
	}
	return nil, nil
}

// redisAcceptsNone reports whether an error concerns every client, by its first
// word: it reads its data (LOADING), it is a replica that lacks them
// (MASTERDOWN), a script keeps it from answering (BUSY), or no connection is
// left.
func redisAcceptsNone(line string) bool {
	code, _, _ := strings.Cut(line, " ")
	return slices.Contains([]string{"LOADING", "MASTERDOWN", "BUSY"}, code) || strings.HasPrefix(line, "ERR max number of clients reached")
}
