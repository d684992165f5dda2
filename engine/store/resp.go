package store

// This file is a client of RESP2, as far as the scripts need it.

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
)

// client is one connection to a server.
type client struct {
	conn net.Conn
	in   *bufio.Reader
}

func newClient(conn net.Conn) *client {
	return &client{conn, bufio.NewReaderSize(conn, longestLine)}
}

// reply is what a server answers: a status, or a list of numbers.
type reply struct {
	text string
	list []int64
}

// call sends commands at once, and returns the last one's reply. An error of one
// before it counts, and is wrapped. What the server has sent unasked would be taken
// for a reply.
func (c *client) call(commands [][]string) (r reply, err error) {
	if c.in.Buffered() > 0 {
		return r, errReply
	}
	var out []byte
	for _, words := range commands {
		out = appendCommand(out, words...)
	}
	if _, err := c.conn.Write(out); err != nil {
		return r, err
	}
	for i, words := range commands {
		r, err = c.reply()
		if err != nil && i < len(commands)-1 {
			return r, fmt.Errorf("%s: %w", words[0], err)
		}
	}
	return r, err
}

func appendCommand(out []byte, words ...string) []byte {
	out = fmt.Appendf(out, "*%d\r\n", len(words))
	for _, w := range words {
		out = fmt.Appendf(out, "$%d\r\n%s\r\n", len(w), w)
	}
	return out
}

// longestLine bounds a line, longestList the numbers of a list: a server that is
// something else may send anything.
const longestLine, longestList = 4096, 1 << 16

// errReply says that a reply is not what the script answers.
var errReply = errors.New("answers what no Redis does")

// reply reads a reply: a status, a number, or a list of numbers. An error of the
// server is a replyError.
func (c *client) reply() (r reply, err error) {
	kind, rest, err := c.line()
	switch {
	case err != nil:
		return r, err
	case kind == '+':
		return reply{text: rest}, nil
	case kind == '-':
		return r, replyError(rest)
	}
	n, err := strconv.ParseInt(rest, 10, 64)
	if err == nil && kind == ':' {
		return reply{list: []int64{n}}, nil
	}
	if err != nil || kind != '*' || n < 0 || n > longestList {
		return r, errReply
	}
	for range n {
		kind, rest, err := c.line()
		if err != nil {
			return reply{}, err
		}
		number, err := strconv.ParseInt(rest, 10, 64)
		if err != nil || kind != ':' {
			return reply{}, errReply
		}
		r.list = append(r.list, number)
	}
	return r, nil
}

// line reads a line without its end, and takes its first byte off.
func (c *client) line() (kind byte, rest string, err error) {
	b, err := c.in.ReadSlice('\n')
	text := strings.TrimRight(string(b), "\r\n")
	switch {
	case err == io.EOF:
		return 0, "", errors.New("the connection was closed before there was an answer")
	case err == bufio.ErrBufferFull || err == nil && text == "":
		return 0, "", errReply
	case err != nil:
		return 0, "", err
	}
	return text[0], text[1:], nil
}

// replyError is an error of the server: a word in capitals, and a sentence.
type replyError string

func (e replyError) Error() string { return strconv.Quote(string(e)) }

// is reports whether the first word is one of those given.
func (e replyError) is(words ...string) bool {
	first, _, _ := strings.Cut(string(e), " ")
	return slices.Contains(words, first)
}

// redirect reads "MOVED slot host:port" and "ASK slot host:port", by which a
// cluster says where a key is (Redis cluster specification). An empty host is
// that of the server that was asked.
func (e replyError) redirect(from string) (host string, asking, is bool) {
	words := strings.Fields(string(e))
	if len(words) != 3 || !e.is("MOVED", "ASK") {
		return "", false, false
	}
	host = words[2]
	if strings.HasPrefix(host, ":") {
		name, _, _ := net.SplitHostPort(from)
		host = net.JoinHostPort(name, host[1:])
	}
	return host, e.is("ASK"), true
}

// explain says what an error of the server means to the user who gave its address.
func (e replyError) explain(err error) error {
	says := ""
	switch text := string(e); {
	case e.is("WRONGPASS"), e.is("ERR") && strings.Contains(text, "invalid password"):
		says = "refuses the user or the password"
	case e.is("NOAUTH"):
		says = "asks for a password, write redis://user:password@..."
	case e.is("NOPERM"), e.is("ERR") && strings.Contains(text, "can't run this command"): // Redis 6, inside a script
		says = "the user lacks a permission (~retry:* +eval +evalsha +get +set +time +rename +pexpire)"
	case e.is("READONLY"):
		says = "is a replica, which cannot be written to"
	case strings.HasPrefix(text, "ERR unknown command"):
		says = "runs no scripts (a Sentinel, or EVAL is disabled); name the primary"
	case e.is("LOADING", "BUSY", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN"):
		says = "is not ready"
	default:
		return fmt.Errorf("answers %w", err)
	}
	return fmt.Errorf("%s: %w", says, err)
}
