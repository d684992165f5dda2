package registry

import "path/filepath"

// places is the one of the user.
func places(variable func(string) string) []Place {
	dir := variable("LocalAppData")
	if dir == "" {
		return nil
	}
	return []Place{{Path: filepath.Join(dir, "retry", "run"), parents: true}}
}
