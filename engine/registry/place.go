package registry

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/retrysh/retry/engine/lockedfile"
	"github.com/retrysh/retry/engine/xdg"
)

// Place is a directory that may hold records.
type Place struct {
	Path    string
	parents bool // the directories above are made too
	above   bool // the one above has to be there, and be the user's own
}

// Variable names the directory, in place of all others; empty, there is none.
const Variable = "RETRY_RUNTIME_DIR"

// Places are where readers look for the runs of this user. A run is registered in the
// first that can be used.
func Places(lookup func(string) (string, bool)) []Place {
	if path, ok := lookup(Variable); ok {
		if path == "" {
			return nil
		}
		if absolute, err := filepath.Abs(path); err == nil {
			path = absolute
		}
		return []Place{{Path: path, parents: true}}
	}
	var all []Place
	for _, dir := range xdg.Lookup(lookup).Runtime(os.Geteuid()) {
		all = append(all, Place{Path: dir.Path, above: dir.OfLogin, parents: runtime.GOOS == "windows"})
	}
	return all
}

// use checks that the directory is the user's alone. With create, it is made if it
// is missing, even if another run makes it at the same time.
func (p *Place) use(create bool) error {
	if p.above {
		above := filepath.Dir(p.Path)
		info, err := os.Stat(above)
		switch {
		case err != nil:
			return err
		case !info.IsDir():
			return fmt.Errorf("%q is not a directory", above)
		}
		if err := lockedfile.OwnedBy(info, os.Geteuid()); err != nil {
			return fmt.Errorf("%q %w", above, err)
		}
	}
	switch {
	case !create:
		return lockedfile.OwnDir(p.Path, os.Lstat, nil)
	case p.parents:
		return lockedfile.OwnDir(p.Path, os.Lstat, os.MkdirAll)
	}
	return lockedfile.OwnDir(p.Path, os.Lstat, os.Mkdir)
}
