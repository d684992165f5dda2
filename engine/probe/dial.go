package probe

// This file connects: tcp:// and unix:// targets, and the way to a server.

import (
	"context"
	"net"
	"net/netip"
	"time"
)

// stagger is how long an address has for itself before the next one is tried
// beside it (RFC 8305, section 5: 250 ms). Many addresses share a try, so that
// the last has its turn within it however many do not answer.
const stagger = 250 * time.Millisecond

// maxAddresses bounds how many addresses of a name one try goes through.
const maxAddresses = 64

// tcpCheck connects to a port and closes the connection again.
type tcpCheck struct{ host, port string }

func (c *tcpCheck) run(ctx context.Context, t *try) error {
	conn, err := t.dial(ctx, c.host, c.port)
	if err != nil {
		return err
	}
	_ = conn.Close()
	return nil
}

// unixCheck connects to a stream socket and closes the connection again.
type unixCheck struct{ path string }

func (c *unixCheck) run(ctx context.Context, t *try) error {
	conn, err := t.dialUnix(ctx, c.path)
	if err != nil {
		return err
	}
	_ = conn.Close()
	return nil
}

// dialUnix connects to a stream socket.
func (t *try) dialUnix(ctx context.Context, path string) (net.Conn, error) {
	t.missing = "no connection"
	var d net.Dialer
	return d.DialContext(ctx, "unix", path)
}

// dial connects to a port of a host: whichever of its addresses answers first.
func (t *try) dial(ctx context.Context, host, port string) (net.Conn, error) {
	t.missing = "name does not resolve"
	addrs, err := t.lookup(ctx, host)
	if err != nil {
		return nil, err
	}
	t.missing = "no connection"
	return race(ctx, addrs[:min(len(addrs), maxAddresses)], port)
}

// dialed is what came of one address.
type dialed struct {
	conn net.Conn
	err  error
}

// race connects to the addresses in their order, the next one as soon as the
// one before has failed or has had its time alone. The first connection wins.
func race(ctx context.Context, addrs []netip.Addr, port string) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	wait := stagger
	if end, ok := ctx.Deadline(); ok {
		wait = min(wait, time.Until(end)/time.Duration(len(addrs)+1))
	}
	next := time.NewTimer(0)
	defer next.Stop()
	results := make(chan dialed, len(addrs))
	var worst error
	for started, ended := 0, 0; ended < len(addrs); {
		select {
		case <-next.C:
			if started < len(addrs) {
				go func(addr netip.Addr) { results <- connect(ctx, addr, port) }(addrs[started])
				started++
				next.Reset(wait)
			}
		case d := <-results:
			ended++
			if d.err == nil {
				go closeRest(results, started-ended)
				return d.conn, nil
			}
			worst = telling(worst, d.err)
			next.Reset(0)
		}
	}
	return nil, worst
}

// connect connects to one address. net.Dialer sees to it that a connection to
// a free port of this machine is not answered by the connecting socket itself.
func connect(ctx context.Context, addr netip.Addr, port string) dialed {
	d := net.Dialer{KeepAlive: -1}
	conn, err := d.DialContext(ctx, "tcp", net.JoinHostPort(addr.String(), port))
	return dialed{conn, err}
}

// closeRest closes the connections that lost the race.
func closeRest(results <-chan dialed, n int) {
	for ; n > 0; n-- {
		if d := <-results; d.conn != nil {
			_ = d.conn.Close()
		}
	}
}

// telling returns the error that says more: a host without IPv6 refuses every
// IPv6 address, which is not why the target is not ready.
func telling(a, b error) error {
	if a == nil {
		return b
	}
	switch systemNote(a) {
	case noNetwork, noLocalAddress:
		return b
	}
	return a
}
