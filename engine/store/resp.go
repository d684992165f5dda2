package store

// This file speaks RESP2, as far as a script with integers needs it.

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
)

// client is one connection to a server.
type client struct {
	conn net.Conn
	in   *bufio.Reader
	out  []byte
}

func newClient(conn net.Conn) *client {
	return &client{conn: conn, in: bufio.NewReaderSize(conn, longestLine)}
}

// call sends commands at once, and returns the last one's reply. An error of one
// before it counts, and is wrapped. What the server has sent unasked would be taken
// for a reply.
func (c *client) call(before [][]string, words []string) ([]int64, error) {
	for _, w := range before {
		c.queue(w...)
	}
	c.queue(words...)
	if c.in.Buffered() > 0 {
		return nil, errReply
	}
	if err := c.flush(); err != nil {
		return nil, err
	}
	for _, w := range before {
		if _, err := c.reply(); err != nil {
			return nil, fmt.Errorf("%s: %w", w[0], err)
		}
	}
	return c.reply()
}

// queue adds a command to what flush sends.
func (c *client) queue(words ...string) {
	c.out = append(c.out, '*')
	c.out = strconv.AppendInt(c.out, int64(len(words)), 10)
	for _, w := range words {
		c.out = append(c.out, "\r\n$"...)
		c.out = strconv.AppendInt(c.out, int64(len(w)), 10)
		c.out = append(append(c.out, "\r\n"...), w...)
	}
	c.out = append(c.out, "\r\n"...)
}

func (c *client) flush() error {
	_, err := c.conn.Write(c.out)
	c.out = c.out[:0]
	return err
}

const (
	// longestLine bounds a line, longestList the numbers of a list and longestText
	// a text: a server that is something else may send anything.
	longestLine = 4096
	longestList = 64
	longestText = 1 << 20
)

// reply reads a reply: a status, a number, a list of numbers, or a text of decimal
// words. An error of the server is a replyError.
func (c *client) reply() ([]int64, error) {
	kind, rest, err := c.line()
	if err != nil {
		return nil, err
	}
	switch kind {
	case '+':
		return nil, nil
	case '-':
		return nil, replyError(rest)
	case ':':
		n, err := strconv.ParseInt(rest, 10, 64)
		if err != nil {
			return nil, errReply
		}
		return []int64{n}, nil
	case '*':
		return c.list(rest)
	case '$':
		return c.text(rest)
	}
	return nil, errReply
}

func (c *client) list(length string) ([]int64, error) {
	n, err := strconv.Atoi(length)
	if err != nil || n < 0 || n > longestList {
		return nil, errReply
	}
	list := make([]int64, n)
	for i := range list {
		kind, rest, err := c.line()
		if err != nil {
			return nil, err
		}
		if list[i], err = strconv.ParseInt(rest, 10, 64); err != nil || kind != ':' {
			return nil, errReply
		}
	}
	return list, nil
}

func (c *client) text(length string) ([]int64, error) {
	n, err := strconv.Atoi(length)
	if err != nil || n < 0 || n > longestText {
		return nil, errReply
	}
	text := make([]byte, n+len("\r\n"))
	if _, err := io.ReadFull(c.in, text); err != nil {
		return nil, err
	}
	var list []int64
	for word := range strings.FieldsSeq(string(text)) {
		number, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			return nil, errReply
		}
		list = append(list, number)
	}
	return list, nil
}

// line reads a line without its end, and takes its first byte off.
func (c *client) line() (kind byte, rest string, err error) {
	b, err := c.in.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return 0, "", errReply
	case errors.Is(err, io.EOF):
		return 0, "", errors.New("the connection was closed before there was an answer")
	case err != nil:
		return 0, "", err
	}
	text := strings.TrimRight(string(b), "\r\n")
	if text == "" {
		return 0, "", errReply
	}
	return text[0], text[1:], nil
}

// replyError is an error of the server: a word in capitals, and a sentence.
type replyError string

func (e replyError) Error() string { return strconv.Quote(string(e)) }

// is reports whether the first word is the one given.
func (e replyError) is(word string) bool {
	first, _, _ := strings.Cut(string(e), " ")
	return first == word
}

// redirect reads "MOVED slot host:port" and "ASK slot host:port", by which a
// cluster says where a key is (Redis cluster specification). An empty host is
// that of the server that was asked.
func (e replyError) redirect(from string) (host string, asking, is bool) {
	words := strings.Fields(string(e))
	if len(words) != 3 || !e.is("MOVED") && !e.is("ASK") {
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
	lacks := e.is("NOPERM") ||
		e.is("ERR") && strings.Contains(string(e), "can't run this command") // Redis 6, inside a script
	switch {
	case e.is("WRONGPASS"), e.is("ERR") && strings.Contains(string(e), "invalid password"):
		return fmt.Errorf("refuses the user or the password: %w", err)
	case e.is("NOAUTH"):
		return fmt.Errorf("asks for a password, write redis://user:password@...: %w", err)
	case lacks:
		return fmt.Errorf("the user lacks a permission (~retry:* +eval +evalsha +get +set +time +rename +pexpire): %w", err)
	case e.is("READONLY"):
		return fmt.Errorf("is a replica, which cannot be written to: %w", err)
	case e.is("LOADING"), e.is("BUSY"), e.is("MASTERDOWN"), e.is("CLUSTERDOWN"), e.is("TRYAGAIN"):
		return fmt.Errorf("is not ready: %w", err)
	}
	return fmt.Errorf("answers %w", err)
}
