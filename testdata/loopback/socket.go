package loopback

import (
	"os"
	"runtime"
)

// SocketDir makes a directory for sockets of the unix domain, which the caller removes. Its
// path is short, since that of a socket has at most 107 bytes (unix(7)), and has no blank;
// the directory for temporary files may be another matter.
func SocketDir(name string) (string, error) {
	if runtime.GOOS == "windows" {
		return os.MkdirTemp("", name)
	}
	return os.MkdirTemp("/tmp", name)
}
