package probe

// This file connects: tcp:// and unix:// targets, and the way to a server.

import (
	"context"
	"net"
	"net/netip"
	"slices"
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

func (e *endpoint) run(ctx context.Context, t *try) error {
	conn, err := e.dial(ctx, t)
	if err != nil {
		return err
	}
	_ = conn.Close()
	return nil
}

// dial connects: to whichever address of the host answers first.
func (e *endpoint) dial(ctx context.Context, t *try) (net.Conn, error) {
	if e.socket != "" {
		t.missing = "no connection"
		var d net.Dialer
		return d.DialContext(ctx, "unix", e.socket)
	}
	t.missing = unresolved
	addrs, err := t.lookup(ctx, e.host)
	if err != nil {
		return nil, err
	}
	t.missing = "no connection"
	return race(ctx, addrs[:min(len(addrs), maxAddresses)], e.port)
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
				address := net.JoinHostPort(addrs[started].String(), port)
				go func() {
					d := net.Dialer{KeepAlive: -1}
					conn, err := d.DialContext(ctx, "tcp", address)
					results <- dialed{conn, err}
				}()
				started++
				next.Reset(wait)
			}
		case d := <-results:
			ended++
			if d.err == nil {
				go closeRest(results, started-ended)
				return d.conn, nil
			}
			// A host without IPv6 refuses every IPv6 address, which is not why the
			// target is not ready.
			if worst == nil || slices.Contains([]string{noNetwork, noLocalAddress}, systemNote(worst)) {
				worst = d.err
			}
			next.Reset(0)
		}
	}
	return nil, worst
}

// closeRest closes the connections that lost the race.
func closeRest(results <-chan dialed, n int) {
	for ; n > 0; n-- {
		if d := <-results; d.conn != nil {
			_ = d.conn.Close()
		}
	}
}
