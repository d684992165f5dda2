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

// redisAcceptsNone begins the errors that concern every client: the server reads its data,
// is a replica that lacks them, runs a script, or has no connection left.
var redisAcceptsNone = []string{"LOADING", "MASTERDOWN", "BUSY", "ERR max number of clients reached"}

// readRedis judges the answer to PING; nil is ready. An error that asks for a
// password is ready: a server that has one asks for it even while it loads.
func readRedis(r *bufio.Reader) ([]byte, error) {
	first, _ := r.ReadByte()
	if first != '+' && first != '-' {
		return nil, errNotRedis
	}
	b, err := r.ReadSlice('\n')
	line := strings.TrimRight(string(b), "\r\n")
	switch {
	case err == bufio.ErrBufferFull, err == nil && first == '+' && !strings.EqualFold(line, "PONG"):
		return nil, errNotRedis
	case err != nil:
		return nil, err
	case first == '-' &&
		slices.ContainsFunc(redisAcceptsNone,
			func(begin string) bool { return strings.HasPrefix(line+" ", begin+" ") }):
		return nil, said(line)
	}
	return nil, nil
}
