package stdio

import (
	"strconv"

	"golang.org/x/sys/unix"
)

const getTermios, setTermios = unix.TCGETS, unix.TCSETS

// openPty opens both ends of a pseudo-terminal (pts(4)).
func openPty() (master, slave File, err error) {
	if master, err = unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0); err != nil {
		return nowhere, nowhere, err
	}
	n, err := unix.IoctlGetInt(master, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(master, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		slave, err = unix.Open("/dev/pts/"+strconv.Itoa(n), unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	}
	if err != nil {
		closeFile(master)
	}
	return master, slave, err
}
