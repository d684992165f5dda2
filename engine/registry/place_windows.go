package registry

import "path/filepath"

// whyUnreachable says why no process is signalled: a lock does not name its holder,
// and there is no signal for it.
const whyUnreachable = "Windows has no signal that its program would handle"

// places is the one of the user.
func places(variable func(string) string) []Place {
	dir := variable("LocalAppData")
	if dir == "" {
		return nil
	}
	return []Place{{Path: filepath.Join(dir, "retry", "run"), parents: true}}
}
