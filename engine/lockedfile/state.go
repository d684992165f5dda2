package lockedfile

// This file says where state that outlives a process is kept.

import (
	"os"
	"path/filepath"
)

// StatePath is name below the program's directory for the user's state:
// $XDG_STATE_HOME/retry, or ~/.local/state/retry where the variable is not an
// absolute path (XDG Base Directory Specification). It fails without a home
// directory.
func StatePath(name string) (string, error) {
	state := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(state) {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		state = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(state, "retry", name), nil
}
