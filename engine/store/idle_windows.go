package store

import "net"

// isOpen keeps no connection: there is no look at a socket without waiting.
func isOpen(net.Conn) bool { return false }
