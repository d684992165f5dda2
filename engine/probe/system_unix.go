//go:build unix

package probe

// What differs between systems: the shell, how a path is written, and which
// number an error has.

import "syscall"

// localPath returns a URL's path as the system writes it.
func localPath(path string) string { return path }

// errnoNote says what an error of the system means, "" if it is not known.
func errnoNote(errno syscall.Errno) string {
	switch errno {
	case syscall.ECONNREFUSED:
		return "connection refused"
	case syscall.ECONNRESET, syscall.ECONNABORTED, syscall.EPIPE:
		return "connection reset"
	case syscall.EHOSTUNREACH, syscall.EHOSTDOWN:
		return "no route to host"
	case syscall.ENETUNREACH, syscall.ENETDOWN:
		return noNetwork
	case syscall.EADDRNOTAVAIL:
		return noLocalAddress
	case syscall.ETIMEDOUT:
		return "no answer"
	case syscall.EACCES, syscall.EPERM:
		return "permission denied"
	case syscall.ENOENT:
		return "no such file"
	case syscall.ENOTDIR:
		return "no such file: a part of its path is not a directory"
	case syscall.EPROTOTYPE:
		return "not a stream socket"
	case syscall.EAGAIN:
		return "does not accept: its queue is full"
	}
	return ""
}

// shortages are the errors that say that this machine lacks something.
var shortages = []syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM}
