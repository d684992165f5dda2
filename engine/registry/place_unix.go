//go:build unix

package registry

import (
	"os"
	"path/filepath"
	"strconv"
)

// whyUnreachable says why the process that holds a lock is not known.
const whyUnreachable = "its program is in another PID namespace and cannot be signalled from here"

// places are those of the user that the process runs as.
func places(variable func(string) string) []Place {
	uid := os.Geteuid()
	user := strconv.Itoa(uid)
	var all []Place
	add := func(p Place) {
		for _, known := range all {
			if known.Path == p.Path {
				return
			}
		}
		all = append(all, p)
	}
	if dir := variable("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		add(Place{Path: filepath.Join(dir, "retry"), above: true})
	}
	add(Place{Path: "/run/user/" + user + "/retry", above: true})
	if uid == 0 {
		add(Place{Path: "/run/retry"})
	}
	if dir := variable("TMPDIR"); filepath.IsAbs(dir) {
		add(Place{Path: filepath.Join(dir, "retry-"+user)})
	}
	add(Place{Path: "/tmp/retry-" + user})
	return all
}
