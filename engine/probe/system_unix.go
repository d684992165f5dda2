//go:build unix

package probe

import "syscall"

// errnoNote says what an error of the system means, "" if it is not known.
func errnoNote(errno syscall.Errno) string {
	return map[syscall.Errno]string{
		syscall.ECONNREFUSED:  "connection refused",
		syscall.ECONNRESET:    "connection reset",
		syscall.ECONNABORTED:  "connection reset",
		syscall.EPIPE:         "connection reset",
		syscall.EHOSTUNREACH:  "no route to host",
		syscall.EHOSTDOWN:     "no route to host",
		syscall.ENETUNREACH:   noNetwork,
		syscall.ENETDOWN:      noNetwork,
		syscall.EADDRNOTAVAIL: noLocalAddress,
		syscall.ETIMEDOUT:     "no answer",
		syscall.EACCES:        "permission denied",
		syscall.EPERM:         "permission denied",
		syscall.ENOENT:        "no such file",
		syscall.ENOTDIR:       "no such file: a part of its path is not a directory",
		syscall.EPROTOTYPE:    "not a stream socket",
		syscall.EAGAIN:        "does not accept: its queue is full",
	}[errno]
}

// shortages are the errors that say that this machine lacks something.
var shortages = []syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM}
