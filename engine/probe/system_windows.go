//go:build windows

package probe

// What differs between systems: the shell, how a path is written, and which
// number an error has.

import (
	"path/filepath"
	"syscall"
)

// localPath returns a URL's path as the system writes it: /C:/x is C:\x.
func localPath(path string) string {
	if len(path) > 2 && path[2] == ':' {
		path = path[1:]
	}
	return filepath.FromSlash(path)
}

// errnoNote says what an error of the system means, "" if it is not known. The
// numbers from 10000 are Winsock's (Windows Sockets Error Codes).
func errnoNote(errno syscall.Errno) string {
	switch errno {
	case 10061:
		return "connection refused"
	case 10053, 10054:
		return "connection reset"
	case 10064, 10065:
		return "no route to host"
	case 10050, 10051:
		return noNetwork
	case 10049:
		return noLocalAddress
	case 10060:
		return "no answer"
	case 10013, syscall.ERROR_ACCESS_DENIED:
		return "permission denied"
	case syscall.ERROR_FILE_NOT_FOUND, syscall.ERROR_PATH_NOT_FOUND:
		return "no such file"
	}
	return ""
}

// shortages are the errors that say that this machine lacks something:
// ERROR_NOT_ENOUGH_MEMORY, WSAEMFILE, WSAENOBUFS.
var shortages = []syscall.Errno{8, 10024, 10055}
