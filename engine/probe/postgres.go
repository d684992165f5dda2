package probe

// This file is postgres:// targets: a client's start-up message and the first
// message of the answer (PostgreSQL's documentation, "Message Flow" and
// "Message Formats"). What counts as ready is what pg_isready takes for it,
// but for a server that has no connection left.

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"io"
	"strings"
)

// Bounds on the first message of the answer: libpq takes anything else for
// something that is not PostgreSQL (fe-connect.c).
const (
	minPostgresMessage = 8
	maxPostgresRequest = 2000  // what to log in with
	maxPostgresError   = 30000 // an error
	maxPostgresWords   = 1000  // an error without a length
)

const errNotPostgres = plain("answer is not PostgreSQL's")

// postgresStartup returns the start-up message. If no database is named, the server takes
// the one named as the user. Nearly every server has the role postgres: another one would
// be named in its log as one that does not exist.
func postgresStartup(user, database string) []byte {
	user = cmp.Or(user, "postgres")
	b := binary.BigEndian.AppendUint32(make([]byte, 4), 3<<16) // the protocol: 3.0
	b = append(b, "user\x00"+user+"\x00"...)
	if database != "" {
		b = append(b, "database\x00"+database+"\x00"...)
	}
	b = append(b, 0)
	binary.BigEndian.PutUint32(b, uint32(len(b)))
	return b
}

// readPostgres judges the answer to a start-up message; a nil error is ready. What
// it returns is Terminate: otherwise the server's log has a connection that was lost.
func readPostgres(r *bufio.Reader) ([]byte, error) {
	kind, _ := r.ReadByte()
	if kind != 'R' && kind != 'E' {
		return nil, errNotPostgres
	}
	head, err := r.Peek(4)
	if err != nil {
		return nil, err
	}
	size := binary.BigEndian.Uint32(head)
	switch {
	case kind == 'E' && (size < minPostgresMessage || size > maxPostgresError):
		return nil, oldPostgresError(r)
	case size < minPostgresMessage || kind == 'R' && size > maxPostgresRequest:
		return nil, errNotPostgres
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(r, body); err != nil {
		return nil, err
	}
	if kind == 'E' {
		err = judgePostgresError(string(body[4:]))
	}
	return []byte("X\x00\x00\x00\x04"), err
}

// judgePostgresError accepts an error that concerns this client only, which a login
// could avoid. For every client are (PostgreSQL's documentation, "PostgreSQL Error
// Codes") cannot_connect_now while it starts, stops or recovers, its two shutdowns,
// and the class of resources that it lacks, connections among them.
func judgePostgresError(fields string) error {
	code, words := "", ""
	for len(fields) > 1 && fields[0] != 0 {
		value, rest, ok := strings.Cut(fields[1:], "\x00")
		if !ok {
			return errNotPostgres
		}
		switch fields[0] {
		case 'C':
			code = value
		case 'M':
			words = value
		}
		fields = rest
	}
	switch {
	case code == "":
		return errNotPostgres
	case code == "57P03", code == "57P01", code == "57P02", strings.HasPrefix(code, "53"):
		return said(words)
	}
	return nil
}

// oldPostgresError reads an error without a length, which a server sends that
// cannot even start a process for the connection (postmaster.c): a line.
func oldPostgresError(r *bufio.Reader) error {
	b, err := bufio.NewReader(io.LimitReader(r, maxPostgresWords)).ReadString('\n')
	if err != nil && err != io.EOF {
		return err
	}
	if words := oneLine(b); strings.Contains(words, " ") {
		return said(words)
	}
	return errNotPostgres
}
