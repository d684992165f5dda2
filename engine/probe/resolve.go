package probe

// Names: dns:// targets, and the addresses of every other target.

import (
	"context"
	"net"
	"net/netip"
	"runtime"
	"strings"
	"time"
)

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

// dialServer connects to a name server. The connection fails once serverLimit is over. It is
// what Dial returns: by its type the resolver knows whether it keeps packets apart.
func dialServer(ctx context.Context, network, address string) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, network, address)
	if err == nil {
		time.AfterFunc(serverLimit, func() { _ = conn.SetDeadline(time.Unix(1, 0)) }) // long past
	}
	return conn, err
}

// dnsCheck resolves a name as the command would: /etc/hosts, then the name
// servers, with the search domains of a short name.
type dnsCheck struct{ name string }

func (c *dnsCheck) run(ctx context.Context, t *try) error {
	t.missing = unresolved
	_, err := t.lookup(ctx, c.name)
	return err
}

// lookup returns the addresses of a host, never none without an error.
func (t *try) lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{addr}, nil
	}
	addrs, err := t.resolver.LookupNetIP(ctx, "ip", host)
	if err == nil && len(addrs) > 0 {
		for i := range addrs {
			addrs[i] = addrs[i].Unmap()
		}
		return addrs, nil
	}
	// In an empty image there is no /etc/hosts to ask (RFC 6761, section 6.3).
	if ctx.Err() == nil && strings.EqualFold(strings.TrimSuffix(host, "."), "localhost") {
		return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}, nil
	}
	if err == nil {
		err = plain(unresolved)
	}
	return nil, err
}
