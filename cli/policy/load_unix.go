//go:build unix

package policy

import (
	"os"
	"syscall"

	"github.com/retrysh/retry/cli/option"
)

// ownedAlone reports whether the file belongs to root or the user, and no other
// user may write it (StrictModes of sshd_config(5)).
func ownedAlone(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && (stat.Uid == 0 || int(stat.Uid) == os.Geteuid()) && info.Mode().Perm()&0o022 == 0
}

// sharedPolicies is where a host has policies for all its users.
func sharedPolicies([]string) string { return "/etc/retry/policies" }

// ownPolicies is the folder of a user's own settings (XDG Base Directory Specification).
func ownPolicies(environ []string) string { return below(option.Variable(environ, "HOME"), ".config") }
