package xdg

import "io/fs"

func writable(string) bool { return true }

func ownerOf(fs.FileInfo) int { return 0 }
