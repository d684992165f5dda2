package probe

// This file is mysql:// targets: the greeting that a server sends first
// (MySQL's documentation, "Connection Phase Packets"). MariaDB's is the same.

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"slices"
)

const (
	maxMySQL    = 1 << 16 // bytes of a greeting
	errNotMySQL = plain("answer is not MySQL's")
	// mysqlUser is the name of no account, so that no account is locked for logins that
	// fail.
	mysqlUser = "retry"
)

// readMySQL judges the first packet; a nil error is ready. What it returns is
// the answer of a client without a password: a server counts the connections
// that end without one and, after max_connect_errors of them, blocks the host.
func readMySQL(r *bufio.Reader) ([]byte, error) {
	head, err := r.Peek(4)
	if err != nil {
		return nil, err
	}
	size := int(head[0]) | int(head[1])<<8 | int(head[2])<<16
	if size == 0 || size >= maxMySQL {
		return nil, errNotMySQL
	}
	// Refused by its first byte, a peer that talks something else is not waited
	// for until it has sent that much: a greeting begins with the protocol's
	// version, an error with 0xff.
	if first, err := r.Peek(5); err == nil && first[4] != 10 && first[4] != 9 && first[4] != 0xff {
		return nil, errNotMySQL
	}
	body := make([]byte, 4+size)
	if _, err := io.ReadFull(r, body); err != nil {
		return nil, err
	}
	body = body[4:]
	end := bytes.IndexByte(body, 0)
	switch {
	case body[0] == 0xff:
		return nil, judgeMySQLError(body[1:])
	case end < 2:
		return nil, errNotMySQL
	}
	return mysqlAnswer(mysqlPlugin(body[end+1:])), nil
}

// mysqlAcceptsNone are the errors that concern every client (MySQL's documentation,
// "Error Message Reference"): no memory (1037, 1038), no connection (1040), no
// resources (1041), a shutdown (1053), no thread (1135), or a router's server that is
// down (2003).
var mysqlAcceptsNone = []uint16{1037, 1038, 1040, 1041, 1053, 1135, 2003}

// judgeMySQLError accepts an error that concerns this client only.
func judgeMySQLError(b []byte) error {
	if len(b) < 2 {
		return errNotMySQL
	}
	code, words := binary.LittleEndian.Uint16(b), b[2:]
	if len(words) >= 6 && words[0] == '#' { // an SQL state
		words = words[6:]
	}
	if slices.Contains(mysqlAcceptsNone, code) {
		return said(string(words))
	}
	return nil
}

// mysqlPlugin returns how the server would have a client log in, from what
// stands behind the version in a greeting of protocol 10: thread, 8 bytes of
// salt, filler, capabilities, character set, status, capabilities, the length
// of the salt, 10 reserved bytes, the rest of the salt, the plugin.
func mysqlPlugin(b []byte) string {
	const salt = 4 + 8 + 1 + 2 + 1 + 2 + 2
	if len(b) > salt {
		start := salt + 1 + 10 + max(13, int(b[salt])-8)
		name, _, ok := bytes.Cut(b[min(start, len(b)):], []byte{0})
		if ok && len(name) > 0 && len(name) <= 64 {
			return string(name)
		}
	}
	return "mysql_native_password" // which every server knows by name
}

// mysqlAnswer returns the answer to a greeting of a client without a password.
func mysqlAnswer(plugin string) []byte {
	const protocol41, secureConnection, pluginAuth = 0x200, 0x8000, 0x80000
	b := binary.LittleEndian.AppendUint32(make([]byte, 4), protocol41|secureConnection|pluginAuth)
	b = binary.LittleEndian.AppendUint32(b, 1<<24) // the largest packet
	b = append(b, 33)                              // utf8_general_ci, which all versions know
	b = append(b, make([]byte, 23)...)
	b = append(b, mysqlUser+"\x00\x00"...)
	b = append(b, plugin+"\x00"...)
	size := len(b) - 4
	b[0], b[1], b[2] = byte(size), byte(size>>8), byte(size>>16)
	b[3] = 1 // the number of the packet
	return b
}
