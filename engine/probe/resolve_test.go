package probe

// Names, asked of a small name server of this test's own.

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/retrysh/retry/engine/attempt"
	"github.com/retrysh/retry/testdata/late"
	"github.com/retrysh/retry/testdata/loopback"
)

// What a name server says to a name it does not have: a response code (RFC
// 1035, section 4.1.1), or nothing, and that to every question.
const (
	codeServFail = 2
	codeNXDomain = 3
	silence      = 255
)

// nameServer answers questions for addresses over UDP on loopback.
type nameServer struct {
	conn net.PacketConn
	mu   sync.Mutex
	// zone has the addresses of names without final dot.
	zone map[string][]netip.Addr
	// code is what is answered for a name that is not in zone.
	code byte
	// asked, if it is set, gets a value for each question.
	asked chan<- struct{}
}

func newNameServer(t *testing.T, code byte) *nameServer {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	s := &nameServer{conn: conn, zone: map[string][]netip.Addr{}, code: code}
	go s.serve()
	return s
}

// notify sets the channel that gets a value for each question.
func (s *nameServer) notify(asked chan<- struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = asked
}

func (s *nameServer) set(name string, addrs ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range addrs {
		s.zone[name] = append(s.zone[name], netip.MustParseAddr(a))
	}
}

func (s *nameServer) serve() {
	for b := make([]byte, 1500); ; {
		n, from, err := s.conn.ReadFrom(b)
		if err != nil {
			return
		}
		if reply := s.reply(b[:n]); reply != nil {
			_, _ = s.conn.WriteTo(reply, from)
		}
	}
}

// reply answers a query of one question (RFC 1035, section 4).
func (s *nameServer) reply(query []byte) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked != nil {
		s.asked <- struct{}{}
	}
	if s.code == silence || len(query) < 17 {
		return nil
	}
	var labels []string
	end := 12
	for ; query[end] != 0; end += 1 + int(query[end]) {
		labels = append(labels, string(query[end+1:end+1+int(query[end])]))
	}
	end += 5
	kind := binary.BigEndian.Uint16(query[end-4:])
	addrs, known := s.zone[strings.ToLower(strings.Join(labels, "."))]

	reply := []byte{query[0], query[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}
	if !known {
		reply[3] |= s.code
	}
	reply = append(reply, query[12:end]...)
	for _, a := range addrs {
		if (kind == 1) != a.Is4() || (kind == 28) != a.Is6() {
			continue
		}
		reply[7]++
		data := a.AsSlice()
		// The name by a pointer to the question; class IN; a TTL of a day.
		reply = append(reply, 0xc0, 12, 0, byte(kind), 0, 1, 0, 1, 0x51, 0x80, 0, byte(len(data)))
		reply = append(reply, data...)
	}
	return reply
}

// resolver returns a resolver as the probes have it, but for the servers: the
// nth connection goes to the nth of servers, all later ones to the last. Only for one that
// is silent it has the limit of the probes.
func resolver(servers ...*nameServer) *net.Resolver {
	r := newResolver()
	r.PreferGo = true // the system's own cannot be pointed elsewhere
	var n atomic.Int64
	r.Dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
		i := min(int(n.Add(1)), len(servers)) - 1
		limit := patience
		if servers[i].code == silence {
			limit = serverLimit
		}
		return dialFor(ctx, limit, network, servers[i].conn.LocalAddr().String())
	}
	return r
}

func TestNameStartsToResolve(t *testing.T) {
	t.Parallel()
	s := newNameServer(t, codeNXDomain)
	p := newProbe(t, "dns://db.example.")
	p.resolver = resolver(s)
	want(t, p.Run(t.Context(), attempt.Spec{}), 1, "name does not resolve")
	s.set("db.example") // there is such a name, but it has no address
	want(t, p.Run(t.Context(), attempt.Spec{}), 1, "name does not resolve")
	s.set("db.example", "192.0.2.1")
	want(t, p.Run(t.Context(), attempt.Spec{}), 0, "")
}

func TestNameServerFails(t *testing.T) {
	t.Parallel()
	s := newNameServer(t, codeServFail)
	p := newProbe(t, "tcp://db.example.:80")
	p.resolver = resolver(s)
	want(t, p.Run(t.Context(), attempt.Spec{}), 1, "name does not resolve: the name server failed")

	// A socket that is connected elsewhere takes no questions.
	gone, err := net.DialUDP("udp", nil, s.conn.LocalAddr().(*net.UDPAddr))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = gone.Close() }()
	p.resolver = resolver(&nameServer{conn: gone})
	want(t, p.Run(t.Context(), attempt.Spec{}), 1, "name does not resolve: no answer from the name server")
}

// A dead name server costs one second, so that the next one is still asked
// within the same try. Address and IPv6 address are asked for side by side,
// hence two connections to it.
func TestDeadNameServer(t *testing.T) {
	t.Parallel()
	dead, alive := newNameServer(t, silence), newNameServer(t, codeNXDomain)
	alive.set("db.example", "192.0.2.1", "2001:db8::1")
	late.Retry(t, Limit, func(time.Duration) (slow bool) {
		p := newProbe(t, "dns://db.example.")
		p.longest = Limit
		p.resolver = resolver(dead, dead, alive)
		got := p.Run(t.Context(), attempt.Spec{})
		if !got.TimedOut {
			want(t, got, 0, "")
		}
		return got.TimedOut
	})
	p := newProbe(t, "dns://db.example.")
	p.resolver = resolver(dead)
	got := p.Run(t.Context(), attempt.Spec{})
	if got.ExitCode == 0 || !strings.HasPrefix(got.Note, "name does not resolve") || got.Duration > patience/2 {
		t.Errorf("got %+v", got)
	}
}

// Whichever address of a name connects is enough.
func TestSeveralAddresses(t *testing.T) {
	t.Parallel()
	s := newNameServer(t, codeNXDomain)
	s.set("db.example", "::1", "127.0.0.1")
	for address, ready := range map[string]bool{
		listen(t, "tcp", "127.0.0.1:0").Addr().String(): true,
		listen(t, "tcp", "[::1]:0").Addr().String():     true,
		loopback.Refusing(t):                            false,
	} {
		_, port, _ := net.SplitHostPort(address)
		p := newProbe(t, "tcp://db.example.:"+port)
		p.resolver = resolver(s)
		if ready {
			want(t, p.Run(t.Context(), attempt.Spec{}), 0, "")
		} else {
			want(t, p.Run(t.Context(), attempt.Spec{}), 1, "connection refused")
		}
	}
}

// Without /etc/hosts and name servers, localhost still is this machine.
func TestLocalhostNeedsNoServer(t *testing.T) {
	t.Parallel()
	l := listen(t, "tcp", "127.0.0.1:0")
	_, port, _ := net.SplitHostPort(l.Addr().String())
	want(t, once(t, "tcp://localhost:"+port), 0, "")
	want(t, once(t, "dns://localhost"), 0, "")
}

// The resolver frames a question by the type of the connection, and sets a
// deadline on it before it asks.
func TestDialServer(t *testing.T) {
	t.Parallel()
	l, s := listen(t, "tcp", "127.0.0.1:0"), newNameServer(t, silence)
	for network, address := range map[string]net.Addr{"tcp": l.Addr(), "udp": s.conn.LocalAddr()} {
		late.Retry(t, serverLimit, func(time.Duration) (slow bool) {
			start := time.Now()
			conn, err := dialServer(t.Context(), network, address.String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if _, packets := conn.(net.PacketConn); packets != (network == "udp") {
				t.Errorf("%s: %T", network, conn)
			}
			if err := conn.SetDeadline(start.Add(time.Hour)); err != nil {
				t.Error(err)
			}
			if slow = time.Since(start) >= serverLimit; slow { // the limit may have been set before
				return slow
			}
			if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) ||
				time.Since(start) < serverLimit {
				t.Errorf("%s: %v after %v", network, err, time.Since(start))
			}
			return slow
		})
	}
	if _, err := dialServer(t.Context(), "tcp", loopback.Refusing(t)); err == nil {
		t.Error("connected to a port without a listener")
	}
}
