//go:build unix

package proc

// This file looks whether standard input has been used up.

import "golang.org/x/sys/unix"

// InputUsedUp reports whether standard input is a file that has been read to its
// end. Of a pipe at its end nobody can tell later whether it ever held anything.
func InputUsedUp() bool {
	var st unix.Stat_t
	if unix.Fstat(0, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return false
	}
	offset, err := unix.Seek(0, 0, unix.SEEK_CUR)
	return err == nil && offset > 0 && offset >= st.Size
}
