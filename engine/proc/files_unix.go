//go:build unix

package proc

// This file's subject is how many files may be open.

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// What a run needs at the most, beside what its streams take: the three standard
// streams, two for the runtime's timers (epoll_create(2), eventfd(2)), and two
// for a moment (the pipe of a fork, a look into /proc).
const filesOfARun = 3 + 2 + 2

// filesPlenty is a limit below which those that are open already are counted,
// which takes a system call each.
const filesPlenty = 256

// EnoughFiles returns an error where fewer files may be open than attempts under
// cfg need and the others that the run opens: Go's runtime answers that with its
// stacks when it cannot have its own. reads is how many of the command's outputs
// are read.
func EnoughFiles(cfg Config, reads, others int) error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil || limit.Cur >= filesPlenty {
		return nil
	}
	open := 0
	for fd := 3; fd < int(limit.Cur); fd++ {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil {
			open++
		}
	}
	needed := open + filesOfARun + filesOfStreams(cfg, reads) + others
	switch {
	case needed <= int(limit.Cur):
		return nil
	case open > 0:
		return fmt.Errorf("the limit of open files is %d, at least %d are needed since %d are open already (ulimit -n)", limit.Cur, needed, open)
	}
	return fmt.Errorf("the limit of open files is %d, at least %d are needed (ulimit -n)", limit.Cur, needed)
}

// filesOfStreams is how many files the streams of an attempt take: a pipe for
// each that is read or held or replayed, one more to wake who waits for them, and
// a file for what is kept.
func filesOfStreams(cfg Config, reads int) int {
	held := 0
	for _, mode := range []OutputMode{cfg.Stdout, cfg.Stderr} {
		if mode == Hold {
			held++
		}
	}
	files, pipes := held, max(held, reads)
	switch cfg.Stdin {
	case Null:
		files++
	case Replay:
		files++
		pipes++
	}
	if pipes > 0 {
		pipes++
	}
	return files + 2*pipes
}
