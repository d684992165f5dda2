package store

// This file reads the address of a store. It does not use net/url, which quotes the
// whole address in its errors, password included.

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/retrysh/retry/engine/address"
	"github.com/retrysh/retry/engine/text"
)

// Address says where a store is.
type Address struct {
	// Dir is a directory; then everything else but Name is empty.
	Dir string
	// Network is tcp or unix, Host what is dialled there.
	Network, Host string
	// TLS says that the connection is encrypted; the server's certificate must
	// have the name of the host.
	TLS bool
	// User and Password are what AUTH is given; a User of "" is the default one.
	User, Password string
	// DB is the number for SELECT.
	DB int
	// Name is the address for a person, with its password masked.
	Name string
}

// forms lists the valid addresses, for messages.
const forms = "file:DIR, redis://[user:password@]host:port[/db], rediss://... or redis+unix:///path"

// ParseAddress reads the address of a store:
//
//	file:DIR                                    files in a directory
//	redis://[[user]:password@]host[:port][/db]  Redis or Valkey; port 6379, db 0
//	rediss://...                                the same by TLS
//	redis+unix://[[user]:password@]/path[?db=N] the same by a socket
//
// In user, password and path, %XX stands for a byte. No error has the password in
// it.
func ParseAddress(s string) (Address, error) {
	scheme, rest, _ := strings.Cut(s, ":")
	var a Address
	var err error
	switch scheme = strings.ToLower(scheme); scheme {
	case "file":
		a, err = fileAddress(rest)
	case "redis", "rediss", "redis+unix":
		a, err = redisAddress(scheme, rest)
	default:
		err = errors.New("is not the address of a store")
	}
	if err != nil {
		return Address{}, fmt.Errorf("%q %w; use %s", text.MaskedAddress(s), err, forms)
	}
	if a.Name == "" {
		a.Name = text.MaskedAddress(scheme + ":" + rest)
	}
	return a, nil
}

func fileAddress(dir string) (Address, error) {
	if path, is := strings.CutPrefix(dir, "//"); is { // file:///dir has an empty host
		if !strings.HasPrefix(path, "/") {
			return Address{}, errors.New("names a host, which file: does not have")
		}
		dir = path
	}
	if dir == "" {
		return Address{}, errors.New("names no directory")
	}
	return Address{Dir: dir, Name: "file:" + dir}, nil
}

func redisAddress(scheme, rest string) (Address, error) {
	a := Address{Network: "tcp", TLS: scheme == "rediss"}
	rest, slashes := strings.CutPrefix(rest, "//")
	if !slashes {
		return a, errors.New("lacks // behind the colon")
	}
	var err error
	if at := loginEnd(rest); at > 0 {
		if err = a.login(rest[:at-1]); err != nil {
			return a, err
		}
		rest = rest[at:]
	}
	if scheme == "redis+unix" {
		err = a.socket(rest)
	} else {
		err = a.server(rest)
	}
	return a, err
}

// loginEnd is where the host begins, behind the last @: a password may hold one,
// and a slash, too. The path of a socket may hold one where nothing is before it.
func loginEnd(rest string) int {
	if strings.HasPrefix(rest, "/") {
		return 0
	}
	return strings.LastIndexByte(rest, '@') + 1
}

// login reads user:password.
func (a *Address) login(text string) error {
	user, password, found := strings.Cut(text, ":")
	if !found || password == "" {
		return errors.New("lacks a password; write user:password@, or :password@ for the default user")
	}
	var err error
	if a.User, err = address.Unescape(user); err == nil {
		a.Password, err = address.Unescape(password)
	}
	return wrong(err)
}

// wrong says what is wrong with a part of the address.
func wrong(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("is wrong: %w", err)
}

// server reads host[:port][/db].
func (a *Address) server(text string) error {
	if strings.Contains(text, "?") {
		return errors.New("has a query; the password stands before the host, the database behind it")
	}
	host, db, found := strings.Cut(text, "/")
	if found && db != "" {
		if err := a.database(db); err != nil {
			return err
		}
	}
	name, port, err := address.HostPort(host)
	switch {
	case err != nil:
		return wrong(err)
	case port == "":
		port = "6379"
	}
	a.Host = net.JoinHostPort(name, port)
	return nil
}

// socket reads /path[?db=N].
func (a *Address) socket(text string) error {
	a.Network = "unix"
	path, query, found := strings.Cut(text, "?")
	if found {
		db, is := strings.CutPrefix(query, "db=")
		if !is {
			return errors.New("has options other than ?db=N")
		}
		if err := a.database(db); err != nil {
			return err
		}
	}
	var err error
	if a.Host, err = address.Unescape(path); err != nil {
		return wrong(err)
	}
	if !strings.HasPrefix(path, "/") || path == "/" {
		return errors.New("names no path of a socket")
	}
	return nil
}

// database reads the number of a database: a server may have up to 2^31 - 1.
func (a *Address) database(text string) error {
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return errors.New("has a database that is not a number")
	}
	a.DB = int(n)
	return nil
}
