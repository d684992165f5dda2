package stdio

import "golang.org/x/sys/unix"

func pipe(p []int) error { return unix.Pipe2(p, unix.O_CLOEXEC) }
