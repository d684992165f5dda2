package store

// This file reads the address of a store. It does not use net/url, which quotes the
// whole address in its errors, password included.

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/retrysh/retry/engine/address"
	"github.com/retrysh/retry/engine/text"
	"github.com/retrysh/retry/engine/xdg"
)

// Address says where a store is: in a directory, or on a server.
type Address struct {
	Dir           string // then everything else but Name is empty
	Network, Host string // tcp or unix, and what is dialled there
	// TLS says that the connection is encrypted; the server's certificate must
	// have the name of the host.
	TLS bool
	// User and Password are what AUTH is given; a User of "" is the default one.
	User, Password string
	DB             int    // for SELECT
	Name           string // the address for a person, with its password masked
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
func ParseAddress(s string) (a Address, err error) {
	scheme, rest, _ := strings.Cut(s, ":")
	switch scheme = strings.ToLower(scheme); scheme {
	case "file":
		err = a.file(rest)
	case "redis", "rediss", "redis+unix":
		a.Name = text.MaskedAddress(scheme + ":" + rest)
		err = a.redis(scheme, rest)
	default:
		err = errors.New(notAStore(scheme))
	}
	if err != nil {
		return Address{}, fmt.Errorf("%q %w; use %s", text.MaskedAddress(s), err, forms)
	}
	return a, nil
}

// notAStore says why a scheme is none of a store, and what to write for one that other clients
// of Redis know.
func notAStore(scheme string) string {
	switch {
	case strings.Contains(scheme, "sentinel"):
		return "is the address of a Sentinel, which is not supported: name the primary, as in redis://host:6379"
	case strings.Contains(scheme, "valkey"):
		return "names Valkey, whose addresses begin with redis:// or rediss:// here"
	case strings.Contains(scheme, "cluster"):
		return "names a cluster, which is redis:// or rediss:// with one of its nodes here"
	}
	return "is not the address of a store"
}

// UnmarshalText is ParseAddress.
func (a *Address) UnmarshalText(text []byte) (err error) {
	*a, err = ParseAddress(string(text))
	return err
}

// OfHost is the address of the default store of the host, in the directory of the user's state.
func OfHost() (Address, error) {
	dir, err := xdg.State("")
	if err != nil {
		return Address{}, fmt.Errorf("%w; give --store", err)
	}
	return Address{Dir: dir, Name: "file:" + dir}, nil
}

func (a *Address) file(dir string) error {
	path, hasHost := strings.CutPrefix(dir, "//") // file:///dir has an empty host
	switch {
	case hasHost && address.HasDrive(path):
		return errors.New("names a host; write file:" + path)
	case hasHost && !strings.HasPrefix(path, "/"):
		return errors.New("names a host, which file: does not have")
	case path == "":
		return errors.New("names no directory")
	}
	if hasHost {
		path = address.Local(path)
	}
	a.Dir, a.Name = path, "file:"+path
	return nil
}

func (a *Address) redis(scheme, rest string) (err error) {
	rest, slashes := strings.CutPrefix(rest, "//")
	if !slashes {
		return errors.New("lacks // behind the colon")
	}
	// The host begins behind the last @: a password may hold one, and a slash, too. The
	// path of a socket may hold one if nothing is before it.
	if at := strings.LastIndexByte(rest, '@'); at >= 0 && !strings.HasPrefix(rest, "/") {
		user, password, _ := strings.Cut(rest[:at], ":")
		rest = rest[at+1:]
		if password == "" {
			return errors.New("lacks a password; write user:password@, or :password@ for the default user")
		}
		if a.User, err = unescape(user); err == nil {
			a.Password, err = unescape(password)
		}
		if err != nil {
			return err
		}
	}
	if scheme == "redis+unix" {
		return a.socket(rest)
	}
	a.Network, a.TLS = "tcp", scheme == "rediss"
	return a.server(rest)
}

func unescape(s string) (string, error) {
	s, err := address.Unescape(s)
	if err != nil {
		err = fmt.Errorf("is wrong: %w", err)
	}
	return s, err
}

// server reads host[:port][/db].
func (a *Address) server(text string) error {
	if strings.Contains(text, "?") {
		return errors.New("has a query; the password stands before the host, the database behind it, and a client " +
			"certificate is not supported")
	}
	if strings.Contains(text, ",") {
		return errors.New("names several servers; name one: any node of a cluster, or the primary, since Sentinel is " +
			"not supported")
	}
	host, db, _ := strings.Cut(text, "/")
	if err := a.database(cmp.Or(db, "0")); err != nil {
		return err
	}
	name, port, err := address.HostPort(host)
	if err != nil {
		return fmt.Errorf("is wrong: %w", err)
	}
	a.Host = net.JoinHostPort(name, cmp.Or(port, "6379"))
	return nil
}

// socket reads /path[?db=N].
func (a *Address) socket(text string) (err error) {
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
	if a.Host, err = unescape(path); err == nil && (!strings.HasPrefix(path, "/") || path == "/") {
		err = errors.New("names no path of a socket")
	}
	return err
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
