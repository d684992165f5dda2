package probe

// A port that swallows connections, as behind a firewall that drops packets:
// on Linux, one whose queue is full.

import (
	"errors"
	"net"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// blackHole returns a port of 127.0.0.2 that neither accepts nor refuses.
func blackHole(t *testing.T) int {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(fd) })
	address := &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 2}}
	if err := errors.Join(syscall.Bind(fd, address), syscall.Listen(fd, 0)); err != nil {
		t.Skip(err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	port := name.(*syscall.SockaddrInet4).Port
	// The queue is full as soon as one more does not connect.
	for range 10 {
		conn, err := net.DialTimeout("tcp", "127.0.0.2:"+strconv.Itoa(port), 200*time.Millisecond)
		if late, ok := errors.AsType[net.Error](err); ok && late.Timeout() {
			return port
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
	}
	t.Skip("this kernel's queues do not fill up")
	return 0
}

func TestBlackHole(t *testing.T) {
	t.Parallel()
	port := strconv.Itoa(blackHole(t))
	for _, scheme := range []string{"tcp", "http", "https"} {
		p := newProbe(t, scheme+"://127.0.0.2:"+port)
		wantLate(t, p, "no connection within %v", within)
	}
	// Every address is tried, even with hardly any time.
	l, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		t.Skip(err)
	}
	defer func() { _ = l.Close() }()
	hole := net.IPAddr{IP: net.IPv4(127, 0, 0, 2)}
	conn, err := race(t.Context(), []net.IPAddr{hole, hole, hole, {IP: net.IPv4(127, 0, 0, 1)}}, port)
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
}

func TestUnixQueueFull(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/s"
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(fd) })
	if err := errors.Join(syscall.Bind(fd, &syscall.SockaddrUnix{Name: path}), syscall.Listen(fd, 0)); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		conn, err := net.Dial("unix", path)
		if errors.Is(err, syscall.EAGAIN) {
			want(t, once(t, "unix://"+path), 1, "does not accept: its queue is full")
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
	}
	t.Error("the queue did not fill up")
}
