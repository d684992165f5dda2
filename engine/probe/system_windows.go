//go:build windows

package probe

import "syscall"

// errnoNote says what an error of the system means, "" if it is not known. The
// numbers from 10000 are Winsock's (Windows Sockets Error Codes).
func errnoNote(errno syscall.Errno) string {
	return map[syscall.Errno]string{
		10061:                        "connection refused",
		10053:                        "connection reset",
		10054:                        "connection reset",
		10064:                        "no route to host",
		10065:                        "no route to host",
		10050:                        noNetwork,
		10051:                        noNetwork,
		10049:                        noLocalAddress,
		10060:                        "no answer",
		10013:                        "permission denied",
		syscall.ERROR_ACCESS_DENIED:  "permission denied",
		syscall.ERROR_FILE_NOT_FOUND: "no such file",
		syscall.ERROR_PATH_NOT_FOUND: "no such file",
	}[errno]
}

// shortages are the errors that say that this machine lacks something:
// ERROR_NOT_ENOUGH_MEMORY, WSAEMFILE, WSAENOBUFS.
var shortages = []syscall.Errno{8, 10024, 10055}
