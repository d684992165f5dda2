package probe

// This file connects: dns://, tcp:// and unix:// targets, and the way to a server.

import (
	"context"
	"net"
	"runtime"
	"strings"
	"time"
)

// stagger is how long an address has for itself before the next one is tried
// beside it (RFC 8305, section 5: 250 ms). Many addresses share a try, so that
// the last has its turn within it however many do not answer.
const stagger = 250 * time.Millisecond

// maxAddresses bounds how many addresses of a name one try goes through.
const maxAddresses = 64

// endpoint is a port of a host, or a stream socket. As a check of its own it connects
// and closes the connection again.
type endpoint struct {
	host, port string
	socket     string // its path; then there is no host
}

func (e *endpoint) run(ctx context.Context, p *Probe) error {
	conn, err := e.dial(ctx, p)
	if err != nil {
		return err
	}
	_ = conn.Close()
	return nil
}

// dial connects: to whichever address of the host answers first.
func (e *endpoint) dial(ctx context.Context, p *Probe) (net.Conn, error) {
	if e.socket != "" {
		p.missing = "no connection"
		var d net.Dialer
		return d.DialContext(ctx, "unix", e.socket)
	}
	p.missing = unresolved
	addrs, err := p.lookup(ctx, e.host)
	if err != nil {
		return nil, err
	}
	p.missing = "no connection"
	return race(ctx, addrs[:min(len(addrs), maxAddresses)], e.port)
}

// dialed is what came of one address.
type dialed struct {
	conn net.Conn
	err  error
}

// race connects to the addresses in their order, the next one as soon as the
// one before has failed or has had its time alone. The first connection wins.
func race(ctx context.Context, addrs []net.IPAddr, port string) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	wait := stagger
	if end, ok := ctx.Deadline(); ok {
		wait = min(wait, time.Until(end)/time.Duration(len(addrs)+1))
	}
	next := time.NewTimer(0)
	defer next.Stop()
	results := make(chan dialed)
	var worst error
	for started, ended := 0, 0; ended < len(addrs); {
		select {
		case <-next.C:
			if started < len(addrs) {
				address := net.JoinHostPort(addrs[started].String(), port)
				go dial(ctx, address, results)
				started++
				next.Reset(wait)
			}
		case d := <-results:
			if d.err == nil {
				return d.conn, nil
			}
			// A host without IPv6 refuses every IPv6 address, which is not why the
			// target is not ready.
			if worst == nil || isOurs(worst) {
				worst = d.err
			}
			ended++
			next.Reset(0)
		case <-ctx.Done():
			if worst != nil {
				return nil, worst
			}
			return nil, ctx.Err()
		}
	}
	return nil, worst
}

// dial connects to an address, and closes the connection if ctx has ended before it is taken:
// another one has won.
func dial(ctx context.Context, address string, results chan<- dialed) {
	d := net.Dialer{KeepAlive: -1}
	conn, err := d.DialContext(ctx, "tcp", address)
	select {
	case results <- dialed{conn, err}:
	case <-ctx.Done():
		if err == nil {
			_ = conn.Close()
		}
	}
}

// serverLimit is how long one name server has for one question. The resolver's
// own 5 s (resolv.conf(5), "timeout") is longer than a whole try: with a dead
// first server, the second would never be asked.
const serverLimit = time.Second

// newResolver returns the resolver that the probes use. On Linux and its like
// it is Go's own, which needs no C library and no file: /etc/hosts and
// /etc/resolv.conf are read when they are there, again at most every 5 s, and
// answers are not kept, so a name that starts to resolve is seen by the next
// try (in /etc/hosts: within 5 s). macOS and Windows have several sources of
// names, of which only the system's resolver knows.
func newResolver() *net.Resolver {
	return &net.Resolver{
		PreferGo: runtime.GOOS != "darwin" && runtime.GOOS != "windows",
		Dial:     dialServer,
	}
}

func dialServer(ctx context.Context, network, address string) (net.Conn, error) {
	return dialFor(ctx, serverLimit, network, address)
}

// dialFor connects to a name server. The connection fails once limit is over. It is what
// Dial returns: by its type the resolver knows whether it keeps packets apart.
func dialFor(ctx context.Context, limit time.Duration, network, address string) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, network, address)
	if err == nil {
		time.AfterFunc(limit, func() { _ = conn.SetDeadline(time.Unix(1, 0)) }) // long past
	}
	return conn, err
}

// dnsCheck resolves a name as the command would: /etc/hosts, then the name
// servers, with the search domains of a short name.
type dnsCheck struct{ name string }

func (c *dnsCheck) run(ctx context.Context, p *Probe) error {
	p.missing = unresolved
	_, err := p.lookup(ctx, c.name)
	return err
}

// lookup returns the addresses of a host, never none without an error.
func (p *Probe) lookup(ctx context.Context, host string) ([]net.IPAddr, error) {
	addrs, err := p.resolver.LookupIPAddr(ctx, host)
	switch {
	case len(addrs) > 0:
		return addrs, nil
	// In an empty image there is no /etc/hosts to ask (RFC 6761, section 6.3).
	case ctx.Err() == nil && strings.EqualFold(strings.TrimSuffix(host, "."), "localhost"):
		return []net.IPAddr{{IP: net.IPv4(127, 0, 0, 1)}, {IP: net.IPv6loopback}}, nil
	}
	if err == nil {
		err = plain(unresolved)
	}
	return nil, err
}
