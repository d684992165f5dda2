package stdio

// This file applies the modes that a program which reads keys sets on its output to the
// user's terminal: ncurses sets them on standard output and reads standard input, less(1)
// and more(1) use standard error for both.

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// keys is the user's terminal while a command has set its modes.
type keys struct {
	before *unix.Termios // of the user's terminal, if they are set
	over   wakeable      // ends the passing of keys
	ended  chan struct{} // closed then; nil if none are passed
}

// watchModes makes changes of a pseudo-terminal's modes visible to its reader
// (ioctl_tty(2), TIOCPKT). The flag EXTPROC enables this and has no other effect here.
func watchModes(master File, modes *unix.Termios) {
	if unix.IoctlSetPointerInt(int(master), unix.TIOCPKT, 1) == nil {
		modes.Lflag |= unix.EXTPROC
	}
}

// read reads once. The first byte of a terminal's packet says whether it holds data.
func (p *Pump) read(b []byte) (int, error) {
	if !p.terminal {
		return p.src.Read(b)
	}
	var kind [1]byte
	for {
		n, err := readResult(unix.Readv(int(p.src), [][]byte{kind[:], b}))
		switch {
		case err != nil:
			return 0, err
		case kind[0] == unix.TIOCPKT_DATA && n > 1:
			return n - 1, nil
		case kind[0]&tiocpktIoctl != 0:
			p.modesChanged()
		}
	}
}

// tiocpktIoctl is TIOCPKT_IOCTL of asm-generic/ioctls.h.
const tiocpktIoctl = 64

// modesChanged gives the user's terminal the modes of a program that reads keys, or its
// own again.
func (p *Pump) modesChanged() {
	now, err := unix.IoctlGetTermios(int(p.src), getTermios)
	if err != nil || now.Lflag&unix.ICANON != 0 {
		p.modesBack()
		return
	}
	k := &p.keys
	user := int(p.dst)
	if k.before == nil {
		before, err := unix.IoctlGetTermios(user, getTermios)
		if group, errGroup := unix.IoctlGetInt(user, unix.TIOCGPGRP); err != nil || errGroup != nil ||
			group != unix.Getpgrp() {
			return // a background job that sets modes is stopped (SIGTTOU)
		}
		k.before = before
	}
	modes := *k.before
	modes.Iflag = now.Iflag
	modes.Lflag = now.Lflag &^ unix.EXTPROC
	modes.Cc = now.Cc
	_ = unix.IoctlSetTermios(user, setTermios, &modes)
	if k.ended == nil {
		k.start(p.dst, p.src)
	}
}

// modesBack undoes that.
func (p *Pump) modesBack() {
	k := &p.keys
	if k.before == nil {
		return
	}
	if k.ended != nil {
		k.over.call()
		<-k.ended
		k.over.close()
		k.ended = nil
	}
	_ = unix.IoctlSetTermios(int(p.dst), setTermios, k.before)
	k.before = nil
}

// takenIn is for how long the first key is left to a reader of standard input. If it is
// still there then, the command reads keys from its output.
const takenIn = 300 * time.Millisecond

// start passes keys on, unless another process reads them. It opens the terminal again: a
// description that is shared with the shell must not be non-blocking.
func (k *keys) start(user, master File) {
	own, err := open(fmt.Sprintf("/proc/self/fd/%d", user), unix.O_RDONLY|unix.O_NONBLOCK)
	if err != nil {
		return
	}
	if k.over.open() != nil {
		closeFile(own)
		return
	}
	ended := make(chan struct{})
	k.ended = ended
	go func() {
		defer close(ended)
		defer closeFile(own)
		typed := make([]byte, 256)
		over := pollFd(k.over.read, unix.POLLIN)
		for first := true; ; first = false {
			if fds := poll(-1, pollFd(own, unix.POLLIN), over); fds[1].Revents != 0 {
				return
			}
			if first && (poll(int(takenIn/time.Millisecond), over)[0].Revents != 0 || pending(own) == 0) {
				return
			}
			n, err := own.Read(typed)
			if err != nil && err != errAgain {
				return
			}
			_, _ = master.Write(typed[:n])
		}
	}()
}
