//go:build unix

package store

// This file looks whether a connection was closed on the other side, without
// waiting: a request that is sent on one that was may not be repeated, since
// nobody knows whether it was made.

import (
	"crypto/tls"
	"net"
	"syscall"
)

// isOpen reports whether nothing has come since the last reply: neither an end
// nor anything else.
func isOpen(conn net.Conn) bool {
	if secure, is := conn.(*tls.Conn); is {
		conn = secure.NetConn()
	}
	raw, err := conn.(syscall.Conn).SyscallConn()
	if err != nil {
		return false
	}
	open := false
	err = raw.Read(func(fd uintptr) bool {
		var b [1]byte
		_, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		open = err == syscall.EAGAIN || err == syscall.EINTR
		return true
	})
	return err == nil && open
}
