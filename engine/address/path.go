package address

import (
	"path/filepath"
	"runtime"
	"strings"
)

// HasDrive reports whether a path begins with a drive of Windows and a slash, as C:\x.
func HasDrive(path string) bool {
	return len(path) > 2 && path[1] == ':' && (path[2] == '/' || path[2] == '\\') &&
		strings.Trim(path[:1], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// Local is the path of a file URL as this system writes it: on Windows, /C:/x is C:\x.
func Local(path string) string {
	if runtime.GOOS == "windows" && len(path) > 2 && path[2] == ':' {
		path = path[1:]
	}
	return filepath.FromSlash(path)
}
