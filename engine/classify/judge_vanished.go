package classify

// This file hears that a file vanished under a tool that walks a tree: what is
// missing stands below a directory that the command names, so that it was there
// when the directory was read.
//
//	$ cp -r src dst
//	cp: cannot stat 'src/page-7.html': No such file or directory

import (
	"slices"
	"strings"

	"github.com/retrysh/retry/engine/classify/command"
)

// walkers are the tools that read a directory and then each entry of it, with the
// options, if any, by which they follow symbolic links, which may lead nowhere:
// chmod(1), chown(1), cp(1), du(1), find(1), grep(1), rm(1).
var walkers = map[string]string{"chmod": "", "chown": "LH", "chgrp": "LH", "cp": "LH", "du": "LDH", "find": "LH", "grep": "R", "egrep": "R", "fgrep": "R", "rm": ""}

// vanished reports whether the line says that a file below an argument of such a
// tool does not exist.
func vanished(argv []string, line string) bool {
	name, args := command.Find(argv)
	links, ok := walkers[name]
	missing, found := strings.CutSuffix(strings.TrimSpace(line), ": No such file or directory")
	if !ok || !found || slices.ContainsFunc(args, func(arg string) bool {
		return strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--") && strings.ContainsAny(arg, links) || arg == "--dereference" || arg == "--dereference-recursive"
	}) {
		return false
	}
	path := missing[strings.LastIndexByte(missing, ' ')+1:]
	path = strings.Trim(path, `'"‘’`)
	return !slices.Contains(args, path) && slices.ContainsFunc(args, func(arg string) bool {
		dir := strings.TrimRight(arg, "/")
		return dir != "" && strings.HasPrefix(path, dir+"/")
	})
}
