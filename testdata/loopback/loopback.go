// Package loopback gives tests ports of 127.0.0.1 that no other process is given meanwhile,
// and directories for sockets.
package loopback

import (
	"runtime"
	"strconv"
	"syscall"
	"testing"
)

// Bind returns an address that refuses connections. A socket is bound to it, which does not
// listen until listen is called, and which free closes. What is started does not inherit the
// socket.
func Bind() (address string, listen, free func() error, err error) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		return "", nil, nil, err
	}
	syscall.CloseOnExec(fd)
	// A server that sets the option too, as nearly all do, may bind to the same address
	// while no socket there listens (socket(7)).
	if err := syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err != nil {
		return "", nil, nil, err
	}
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return "", nil, nil, err
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		return "", nil, nil, err
	}
	listen = func() error { return syscall.Listen(fd, 0) }
	free = func() error { return syscall.Close(fd) }
	return "127.0.0.1:" + strconv.Itoa(name.(*syscall.SockaddrInet4).Port), listen, free, nil
}

// Refusing returns an address that refuses connections as long as the test runs.
func Refusing(t testing.TB) string {
	t.Helper()
	address, _, free, err := Bind()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = free() })
	return address
}

// ForServer returns an address for a server that the test starts. On Linux it stays bound,
// so that nobody else is given it; other systems refuse a second socket at an address.
func ForServer(t testing.TB) string {
	t.Helper()
	if runtime.GOOS == "linux" {
		return Refusing(t)
	}
	address, _, free, err := Bind()
	if err != nil {
		t.Fatal(err)
	}
	if err := free(); err != nil {
		t.Fatal(err)
	}
	return address
}
