//go:build unix

package xdg

import (
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"
)

// writable asks access(2), which knows file systems that are mounted read-only.
func writable(dir string) bool { return unix.Access(dir, unix.W_OK|unix.X_OK) == nil }

func ownerOf(info fs.FileInfo) int { return int(info.Sys().(*syscall.Stat_t).Uid) }
