//go:build unix

package registry

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// whyUnreachable says why the process that holds a lock is not known.
const whyUnreachable = "its program is in another PID namespace and cannot be signalled from here"

// places are those of the user that the process runs as.
func places(variable func(string) string) []Place {
	user, root := strconv.Itoa(os.Geteuid()), ""
	if user == "0" {
		root = "/run/retry"
	}
	below := func(dir, name string) string {
		if !filepath.IsAbs(dir) {
			return ""
		}
		return filepath.Join(dir, name)
	}
	candidates := []Place{
		{Path: below(variable("XDG_RUNTIME_DIR"), "retry"), above: true},
		{Path: "/run/user/" + user + "/retry", above: true},
		{Path: root},
		{Path: below(variable("TMPDIR"), "retry-"+user)},
		{Path: "/tmp/retry-" + user},
	}
	var all []Place
	for _, p := range candidates {
		known := slices.ContainsFunc(all, func(other Place) bool { return other.Path == p.Path })
		if p.Path != "" && !known {
			all = append(all, p)
		}
	}
	return all
}
